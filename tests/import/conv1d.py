import torch
import torch.nn as nn

batch_size = 16
in_channels = 12
out_channels = 24
length = 64


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv1d(in_channels, out_channels, 3, stride=2, dilation=3, bias=False)
        self.same = nn.Conv1d(in_channels, out_channels, 5, padding="same", groups=4)

    def forward(self, x):
        return self.conv(x), self.same(x)


def get_inputs():
    return [torch.randn(batch_size, in_channels, length)]


def get_init_inputs():
    return [in_channels, out_channels]
