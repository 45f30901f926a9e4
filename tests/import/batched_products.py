import torch
import torch.nn as nn

batch_size = 16
n = 12


class Model(nn.Module):
    def forward(self, a, b, v):
        c = torch.bmm(a, b)
        d = torch.matmul(c, b[0])
        return torch.einsum("bij,bkj,k->bi", d, a, v), torch.matmul(d, v)


def get_inputs():
    return [torch.randn(batch_size, n, n), torch.randn(batch_size, n, n), torch.randn(n)]


def get_init_inputs():
    return []
