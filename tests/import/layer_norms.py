import torch
import torch.nn as nn

batch_size = 16
dim1 = 12
dim2 = 10


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.LayerNorm(dim2)
        self.two = nn.LayerNorm((dim1, dim2))
        self.three = nn.LayerNorm((6, dim1, dim2))
        self.bare = nn.LayerNorm(dim2, elementwise_affine=False, eps=1e-6)
        self.rms = nn.RMSNorm(dim2)

    def forward(self, x):
        return self.rms(self.last(x)) + self.two(x) + self.three(x) + self.bare(x)


def get_inputs():
    return [torch.randn(batch_size, 6, dim1, dim2)]


def get_init_inputs():
    return []
