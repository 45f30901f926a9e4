import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, repeat

batch_size = 3
seq_length = 24
n_heads = 4
d_head = 6
block_len = 8


class Model(nn.Module):
    """Sums of segments, block after block, as in a layer of Mamba-2."""

    def __init__(self, n_heads, block_len):
        super().__init__()
        self.block_len = block_len
        self.decay = nn.Parameter(torch.rand(n_heads, block_len))

    def forward(self, x):
        blocks = rearrange(x, "b (c l) h p -> b h c l p", l=self.block_len)
        heads = repeat(self.decay, "h l -> h l p", p=x.shape[-1])
        sums = torch.cumsum(blocks * F.softplus(heads)[None, :, None], dim=3)
        return rearrange(sums, "b h c l p -> b (c l) (h p)")


def get_inputs():
    return [torch.randn(batch_size, seq_length, n_heads, d_head)]


def get_init_inputs():
    return [n_heads, block_len]
