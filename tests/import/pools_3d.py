import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
channels = 3
size = 12


class Model(nn.Module):
    def forward(self, x):
        y = F.max_pool3d(x, 3, 2, 1) + F.avg_pool3d(x, 3, 2, 1)
        return y, F.adaptive_avg_pool3d(x, 1), F.max_pool3d(x, (2, 1, 3), dilation=(1, 2, 1))


def get_inputs():
    return [torch.randn(batch_size, channels, size, size, size)]


def get_init_inputs():
    return []
