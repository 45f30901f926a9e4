import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 16
dim = 100


class Model(nn.Module):
    def forward(self, x):
        y = F.relu(x) + F.leaky_relu(x, 0.2) + torch.sigmoid(x) + torch.tanh(x) + x * torch.sigmoid(x)
        y = y + F.gelu(x) + F.gelu(x, approximate="tanh") + F.selu(x) + F.elu(x, 0.7) + F.hardsigmoid(x)
        y = y + F.softplus(x) + F.softsign(x) + F.hardtanh(x) + F.mish(x) + F.hardswish(x) + F.silu(x)
        return y + F.relu6(x) + F.celu(x, 1.5) + F.logsigmoid(x) + F.tanhshrink(x) + F.softshrink(x)


def get_inputs():
    return [3 * torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
