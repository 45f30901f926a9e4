import torch
import torch.nn as nn

batch_size = 16
dim1 = 12
dim2 = 10


class Model(nn.Module):
    def forward(self, x):
        return (torch.sum(x, dim=1, keepdim=True), torch.mean(x, dim=2), torch.max(x, dim=1)[0],
                torch.min(x, dim=2)[0], torch.prod(x * 0.5 + 1, dim=1), torch.argmax(x, dim=1),
                torch.argmin(x, dim=2), x.var(1), x.std(), x.amax((1, 2)), x.mean(),
                torch.max(x, dim=2)[1], x.sum())


def get_inputs():
    return [torch.randn(batch_size, dim1, dim2)]


def get_init_inputs():
    return []
