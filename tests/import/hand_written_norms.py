import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 16
features = 24
dim1 = 12


class Model(nn.Module):
    def forward(self, x):
        rms = torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)
        y = x / rms + x / torch.norm(x, p="fro")
        y = y + x / torch.sum(torch.abs(x), dim=1, keepdim=True) + x / torch.norm(x, p=2, dim=1, keepdim=True)
        return y + F.normalize(x, dim=1) + F.normalize(x, p=1, dim=2)


def get_inputs():
    return [torch.randn(batch_size, features, dim1)]


def get_init_inputs():
    return []
