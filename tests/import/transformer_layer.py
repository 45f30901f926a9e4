import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 3
seq_len = 12
d_model = 16


class Model(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, 4)
        self.norm = nn.LayerNorm(d_model)
        self.up = nn.Linear(d_model, 4 * d_model)
        self.down = nn.Linear(4 * d_model, d_model)
        self.cls = nn.Parameter(torch.randn(1, 1, d_model))

    def forward(self, x):
        x = torch.cat((self.cls.expand(-1, x.shape[1], -1), x), dim=0)
        h, _ = self.attn(x, x, x)
        x = self.norm(x + h)
        return (x + self.down(F.gelu(self.up(x))))[0]


def get_inputs():
    return [torch.randn(seq_len, batch_size, d_model)]


def get_init_inputs():
    return [d_model]
