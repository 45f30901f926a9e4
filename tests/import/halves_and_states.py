import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 16
length = 24
vocabulary = 96
dim = 32


class Model(nn.Module):
    """Halves of a dimension beside whole ones, subscripts seen otherwise, a state that is replaced."""

    def __init__(self):
        super().__init__()
        self.state = torch.randn(batch_size, dim)
        self.register_buffer("rates", 1 / 100 ** (torch.arange(0, dim, 2) / dim))

    def forward(self, x, scores, chosen, state):
        self.state.copy_(state)
        angles = torch.outer(torch.arange(length), self.rates)
        cosine, sine = angles.cos(), angles.sin()
        one, other = x[..., :dim // 2], x[..., dim // 2:]
        turned = torch.cat([one * cosine - other * sine, one * sine + other * cosine], dim=-1)
        self.state = torch.tanh(turned.sum(1) + self.state)
        logs = F.log_softmax(scores, dim=-1)
        return self.state, torch.gather(logs, 2, chosen.unsqueeze(-1)).squeeze(-1)


def get_inputs():
    return [torch.randn(batch_size, length, dim), torch.randn(batch_size, length, vocabulary),
            torch.randint(0, vocabulary, (batch_size, length)), torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
