import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
channels = 6
height = 24
width = 20


class Model(nn.Module):
    def forward(self, x):
        y = F.max_pool2d(x, 3, 2, 1)
        z = F.max_pool2d(x, (2, 3), stride=(1, 2), dilation=2, ceil_mode=True)
        a = F.avg_pool2d(x, 3, 2, 1) + y
        b = F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
        c = F.avg_pool2d(x, (3, 2), ceil_mode=True)
        return (a + b, z, c, F.adaptive_avg_pool2d(x, (1, 1)), F.adaptive_avg_pool2d(x, (5, 3)),
                F.max_pool1d(x[:, :, 0], 4, 2, 2, 3 - 1), F.avg_pool1d(x[:, :, 1], 4, 2, 1))


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return []
