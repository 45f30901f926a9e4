import torch
import torch.nn as nn

batch_size = 4
in_channels = 12
size = 10


class Model(nn.Module):
    def __init__(self, in_channels):
        super().__init__()
        self.a = nn.Conv2d(in_channels, 4, 1)
        self.b = nn.Sequential(nn.Conv2d(in_channels, 3, 1), nn.Conv2d(3, 6, 3, padding=1))
        self.c = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(in_channels, 5, 1))

    def forward(self, x):
        return torch.cat([self.a(x), self.b(x), self.c(x)], 1)


def get_inputs():
    return [torch.randn(batch_size, in_channels, size, size)]


def get_init_inputs():
    return [in_channels]
