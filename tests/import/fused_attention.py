import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
seq_len = 20
heads = 3


class Model(nn.Module):
    def forward(self, q, k, v, mask):
        return (F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True),
                F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
                F.scaled_dot_product_attention(q, k, v, scale=0.3),
                F.scaled_dot_product_attention(q, k[:, :1], v[:, :1], is_causal=True, enable_gqa=True))


def get_inputs():
    return [torch.randn(batch_size, heads, seq_len, 8) for _ in range(3)] + [torch.randn(seq_len, seq_len)]


def get_init_inputs():
    return []
