import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
size = 12


class Model(nn.Module):
    def forward(self, x):
        return (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(17, 19), mode="bilinear"),
                F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
                F.interpolate(x, scale_factor=1.5, mode="bilinear"))


def get_inputs():
    return [torch.randn(batch_size, 3, size, size)]


def get_init_inputs():
    return []
