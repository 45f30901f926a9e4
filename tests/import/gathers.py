import torch
import torch.nn as nn

batch_size = 8
vocabulary = 40
dim = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim)
        self.register_buffer("order", torch.randperm(dim))
        self.table = nn.Parameter(torch.randn(vocabulary, dim))

    def forward(self, tokens):
        x = self.embedding(tokens)
        return x[..., self.order] + self.table[tokens], torch.index_select(x, 2, self.order)


def get_inputs():
    return [torch.randint(0, vocabulary, (batch_size, 6))]


def get_init_inputs():
    return []
