import torch
import torch.nn as nn

batch_size = 3
length = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.A = nn.Parameter(torch.randn(batch_size, length, 2))

    def segsum(self, x):
        T = x.size(-1)
        total = torch.cumsum(x, dim=-1)
        segments = total[..., :, None] - total[..., None, :]
        mask = torch.tril(torch.ones(T, T, dtype=bool), diagonal=0)
        return segments.masked_fill(~mask, -torch.inf)

    def forward(self, x, b, c):
        decay = torch.exp(self.segsum(self.A.permute(0, 2, 1)))
        return torch.einsum("blhn,bshn,bhls,bshp->blhp", c, b, decay, x)


def get_inputs():
    return [torch.randn(batch_size, length, 2, n) for n in (4, 5, 5)]


def get_init_inputs():
    return []
