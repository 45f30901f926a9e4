import torch
import torch.nn as nn

batch_size = 16
in_channels = 3
out_channels = 8
size = 14


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, (3, 2, 1), stride=(1, 2, 1), padding=1)
        self.bias = nn.Parameter(torch.randn(out_channels, 1, 1, 1))

    def forward(self, x):
        return torch.mean(torch.relu(self.conv(x)) + self.bias, dim=(2, 3, 4), keepdim=True)


def get_inputs():
    return [torch.randn(batch_size, in_channels, size, size, size)]


def get_init_inputs():
    return [in_channels, out_channels]
