import torch
import torch.nn as nn

batch_size = 16
dim = 50


class Model(nn.Module):
    def forward(self, x, z):
        return (torch.softmax(x, dim=1), torch.log_softmax(x, dim=0), torch.softmax(z, dim=1),
                torch.logsumexp(z, dim=(2, 3)), torch.logsumexp(z, dim=1, keepdim=True),
                torch.softmax(z, dim=2), torch.log_softmax(z, dim=1))


def get_inputs():
    return [torch.randn(batch_size, dim), torch.randn(batch_size, 5, 4, 6)]


def get_init_inputs():
    return []
