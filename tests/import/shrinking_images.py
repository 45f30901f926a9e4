# Images that become 32 times smaller, in named sizes: in the small case they keep more than a pixel.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=2, padding=1) for a, b in ((3, 8), (8, 8), (8, 16), (16, 16)))
        self.last = nn.Conv2d(16, 16, 3, stride=2, padding=1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return torch.relu(x[:, :, ::2, ::2] + self.last(x))


batch_size = 8
height, width = 256, 192


def get_inputs():
    return [torch.randn(batch_size, 3, height, width)]
