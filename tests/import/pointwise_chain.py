import torch
import torch.nn as nn

batch_size = 16
dim = 100


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(dim))
        self.limit = torch.tensor(0.5)

    def forward(self, x, y):
        z = (x - y) * self.scale / (torch.abs(x) + 1.5)
        z = torch.clamp(z, -2, 2) ** 3 - torch.clamp(z, min=0.1) + torch.min(x, self.limit)
        z = torch.exp(-z * z) + torch.log(torch.abs(y) + 1) + torch.sqrt(torch.abs(z)) + 1 - x
        return torch.where(x > y, z, 0.0) + torch.pow(torch.abs(x), 1.7) + torch.maximum(x, y)


def get_inputs():
    return [torch.randn(batch_size, dim), torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
