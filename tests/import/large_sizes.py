# Gigabytes of inputs and of weights, of which only the shapes are needed; sizes in products and lists.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        sizes = [features] + hidden
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x, sign, margin):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return torch.mean(torch.clamp(margin - x * sign[:, None], min=0))


batch_size = 65536
input_shape = (8192 * 2,)
hidden_sizes = [32768] * 2 + [16384]


def get_inputs():
    return [torch.rand(batch_size, *input_shape), torch.randint(0, 2, (batch_size,)) * 2.0 - 1, 1.5]


def get_init_inputs():
    return [input_shape[0], hidden_sizes]
