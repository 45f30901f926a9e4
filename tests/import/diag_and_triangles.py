import torch
import torch.nn as nn

N = 32


class Model(nn.Module):
    def forward(self, d, A, B):
        return torch.diag(d) @ A, torch.tril(A @ B), torch.triu(B)


def get_inputs():
    return [torch.randn(N), torch.tril(torch.randn(N, N)), torch.triu(torch.randn(N, N))]


def get_init_inputs():
    return []
