import torch
import torch.nn as nn

batch_size = 16
input_size = 100
output_size = 10


class Model(nn.Module):
    def __init__(self, input_size, hidden, output_size):
        super().__init__()
        layers = []
        for width in hidden:
            layers += [nn.Linear(input_size, width), nn.ReLU()]
            input_size = width
        self.network = nn.Sequential(*layers, nn.Linear(input_size, output_size))

    def forward(self, x):
        return self.network(x)


def get_inputs():
    return [torch.randn(batch_size, input_size)]


def get_init_inputs():
    return [input_size, [50, 40], output_size]
