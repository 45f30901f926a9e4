import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
channels = 12
size = 10


class Model(nn.Module):
    def forward(self, x):
        n, c, h, w = x.shape
        y = x.view(n, 3, c // 3, h, w).permute(0, 2, 1, 4, 3).reshape(n, c, w, h)
        z = torch.roll(y, shifts=(2, -3), dims=(2, 3))
        a, b = z.chunk(2, dim=1)
        s = torch.stack((a, b), dim=2).flatten(1)
        return (s, F.pad(x, (1, 2, 0, 3)), x.unfold(2, 4, 2), x[:, 1:-1:2, ..., -1], x.squeeze().transpose(1, 3),
                x.repeat(1, 2, 1, 1), F.pixel_shuffle(x[:, :8], 2), x.split([5, 7], 1)[1], y.mT.contiguous())


def get_inputs():
    return [torch.randn(batch_size, channels, size, size)]


def get_init_inputs():
    return []
