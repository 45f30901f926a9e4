import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
dim = 24


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(dim, dim)
        self.prelu = nn.PReLU(dim)
        self.cell = nn.GRUCell(dim, dim)

    def forward(self, x):
        a, b = self.w1(x).chunk(2, dim=-1)
        return self.prelu(self.w2(F.silu(a) * b)) + F.glu(self.w1(x)), torch.addmm(self.w2.bias, x, self.w2.weight)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
