import torch
import torch.nn as nn

batch_size = 16
rows = 12
dim = 20


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x, y):
        pairs = torch.einsum("... i k d, ... j k d -> ... i j d", x, y)
        mixed = torch.einsum("...d,de", pairs, self.weight)
        return mixed + torch.einsum("...d,...d->...", pairs, y[0, :, 0])[..., None]


def get_inputs():
    return [torch.randn(batch_size, 6, rows, dim), torch.randn(1, 6, rows, dim)]


def get_init_inputs():
    return []
