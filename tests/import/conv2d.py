import torch
import torch.nn as nn

batch_size = 16
in_channels = 12
out_channels = 24
height = 20
width = 30


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=(2, 1), padding=(1, 2))
        self.depthwise = nn.Conv2d(out_channels, out_channels, 3, groups=out_channels, bias=False)
        self.pointwise = nn.Conv2d(out_channels, 5, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(self.conv(x)))


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, (3, 5)]
