import torch
import torch.nn as nn

batch_size = 32
dim = 48


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(dim, dim, bias=False)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.layer(x))
        y += x
        y *= 2.0
        y[:, 0] = 1.0 if False else y[:, 1]
        y[:, 1::3] = 2 * y[:, 2::3]
        y[::2, 5] = 0
        return y.add_(1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
