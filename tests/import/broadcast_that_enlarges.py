import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 16
in_channels = 8
size = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(1, 1, 1, 1))
        self.wide = nn.Parameter(torch.randn(1, 5, 1, 1))

    def forward(self, x):
        x = torch.min(x, dim=1, keepdim=True)[0]
        x = torch.sum(x, dim=2, keepdim=True)
        return F.gelu(x) + self.bias + self.wide


def get_inputs():
    return [torch.randn(batch_size, in_channels, size, size)]


def get_init_inputs():
    return []
