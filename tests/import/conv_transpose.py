import torch
import torch.nn as nn

batch_size = 16
in_channels = 4
out_channels = 6
size = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ConvTranspose1d(in_channels, out_channels, 3, stride=2, dilation=2, bias=False)
        self.b = nn.ConvTranspose2d(in_channels, out_channels, (3, 4), stride=(2, 3), padding=1,
                                    output_padding=1, groups=2)
        self.c = nn.ConvTranspose3d(in_channels, out_channels, (2, 3, 3), stride=2, padding=(0, 1, 1),
                                    output_padding=(0, 1, 0))

    def forward(self, x):
        y = x.unsqueeze(-1).expand(-1, -1, -1, -1, 3)
        return self.a(x[:, :, 0]), self.b(x), self.c(y)


def get_inputs():
    return [torch.randn(batch_size, in_channels, size, size)]


def get_init_inputs():
    return []
