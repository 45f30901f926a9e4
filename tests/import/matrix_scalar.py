import torch
import torch.nn as nn

M = 48
N = 20


class Model(nn.Module):
    def forward(self, A, s):
        return A * s


def get_inputs():
    return [torch.randn(M, N), 3.14]


def get_init_inputs():
    return []
