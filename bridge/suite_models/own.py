"""The suites fused, attention, odd and low-precision."""
import math

import torch
import torch.nn.functional as F

from .kernelbench_3 import attention as self_attention
from .kernelbench_3 import triangle

sdpa = F.scaled_dot_product_attention


def bn(i, x, place=""):
    return F.batch_norm(x, i["M" + place], i["V" + place], i["G" + place], i["B" + place])


def norm(x, g, b):
    return F.layer_norm(x, g.shape, g, b)


# ---- fused ----

def turned(x):
    """Rotary embedding of x[...,S,D], halves."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * 10000.0**(-torch.arange(half) / half)
    a, b = torch.cos(angle), torch.sin(angle)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * a - second * b, second * a + first * b), -1)


def qkv_rotary(i):
    q, k, v = (p.unflatten(-1, (8, -1)).transpose(1, 2) for p in F.linear(i.X, i.W).chunk(3, -1))
    return turned(q), turned(k), v


def geglu(i):
    value, gate = F.linear(i.X, i.W, i.b).chunk(2, -1)
    return value * F.gelu(gate)


def squeeze_excitation(i):
    e = F.relu(F.linear(i.X.mean((2, 3)), i.W1, i.b1))
    return i.X * torch.sigmoid(F.linear(e, i.W2, i.b2))[..., None, None]


def separable(i):
    a = F.relu6(bn(i, F.conv2d(i.X, i.F1, None, 1, 1, groups=i.X.shape[1]), "1"))
    return bn(i, F.conv2d(a, i.F2), "2")


def diffusion_block(i):
    a = F.conv2d(F.silu(F.group_norm(i.X, 32, i.G1, i.B1)), i.F1, i.b1, padding=1)
    h = a + F.linear(F.silu(i.E), i.W, i.b)[..., None, None]
    z = F.conv2d(F.silu(F.group_norm(h, 32, i.G2, i.B2)), i.F2, i.b2, padding=1)
    return z + F.conv2d(i.X, i.F3, i.b3)


def modulate(i):
    shift, scale = F.linear(F.silu(i.E), i.W, i.b)[:, None].chunk(2, -1)
    return F.layer_norm(i.X, i.X.shape[-1:], eps=1e-6) * (1 + scale) + shift


def cross_attention(i):
    def heads(x):
        return x.unflatten(-1, (8, -1)).transpose(1, 2)
    q = heads(F.linear(norm(i.X, i.G, i.H), i.Wq))
    o = sdpa(q, heads(F.linear(i.P, i.Wk)), heads(F.linear(i.P, i.Wv)))
    return i.X + F.linear(o.transpose(1, 2).flatten(2), i.Wo, i.bo)


def guided_step(i):
    p = i.U + i.g * (i.E - i.U)
    z = (i.X - torch.sqrt(1 - i.a) * p) / torch.sqrt(i.a)
    return torch.sqrt(i.c) * torch.clamp(z, -3, 3) + torch.sqrt(1 - i.c) * p


def experts(i):
    a = torch.softmax(F.linear(i.X, i.G), -1)
    return (a[..., None] * F.silu(torch.einsum("md,efd->mef", i.X, i.W))).sum(1)


FUSED = {
    "001_linear_gelu": lambda i: F.gelu(F.linear(i.X, i.W, i.b)),
    "002_swiglu_feed_forward":
        lambda i: F.linear(F.silu(F.linear(i.X, i.W1)) * F.linear(i.X, i.W3), i.W2),
    "003_geglu_projection": geglu,
    "004_add_layer_norm": lambda i: (i.X + i.Z, norm(i.X + i.Z, i.G, i.B)),
    "005_add_rms_norm": lambda i: (i.X + i.Z, F.rms_norm(i.X + i.Z, i.G.shape, i.G, 1e-5)),
    "006_qkv_rotary": qkv_rotary,
    "007_norm_feed_forward_residual": lambda i: i.X + F.linear(
        F.gelu(F.linear(norm(i.X, i.G, i.B), i.W1, i.b1)), i.W2, i.b2),
    "008_norm_attention_residual": lambda i: i.X + self_attention(
        norm(i.X, i.G, i.B1), i.W, i.b, i.P, i.p, 8, triangle(i.X)),
    "009_logits_cross_entropy": lambda i: F.cross_entropy(F.linear(i.X, i.W), i.T),
    "010_embedding_layer_norm": lambda i: norm(F.embedding(i.T, i.W) + i.P, i.G, i.H),
    "011_conv_batch_norm_relu": lambda i: F.relu(bn(i, F.conv2d(i.X, i.F, padding=1))),
    "012_conv_batch_norm_add_relu": lambda i: F.relu(bn(i, F.conv2d(i.X, i.F, padding=1)) + i.Z),
    "013_depthwise_separable_relu6": separable,
    "014_squeeze_excitation": squeeze_excitation,
    "015_conv_relu_max_pool": lambda i: F.max_pool2d(F.relu(F.conv2d(i.X, i.F, i.b, padding=1)), 2),
    "016_group_norm_silu_conv":
        lambda i: F.conv2d(F.silu(F.group_norm(i.X, 32, i.G, i.B)), i.F, i.b, padding=1),
    "017_diffusion_residual_block": diffusion_block,
    "018_upsample_conv": lambda i: F.conv2d(F.interpolate(i.X, scale_factor=2), i.F, i.b, padding=1),
    "019_adaptive_norm_modulate": modulate,
    "020_cross_attention_residual": cross_attention,
    "021_guided_step": guided_step,
    "022_expert_gate": experts,
}


# ---- attention ----

def weighed(i, change):
    """Attention whose scores `change` may alter, by places of queries and keys."""
    scores = i.Q @ i.K.mT / math.sqrt(i.Q.shape[-1])
    q, k = torch.arange(i.Q.shape[-2])[:, None], torch.arange(i.K.shape[-2])
    return torch.softmax(change(scores, q, k), -1) @ i.V


def windowed(width):
    return lambda i: weighed(i, lambda s, q, k: s.masked_fill((k > q) | (q - k >= width), -math.inf))


def alibi(i):
    heads = i.Q.shape[1]
    slopes = 2.0**(-8 * (torch.arange(heads) + 1) / heads)
    return weighed(i, lambda s, q, k: (s - slopes[:, None, None] * (q - k)).masked_fill(k > q, -math.inf))


def linear_attention(i):
    q, k = F.elu(i.Q) + 1, F.elu(i.K) + 1
    return q @ (k.mT @ i.V) / (q @ k.sum(-2, keepdim=True).mT)


ATTENTION = {
    "001_full": lambda i: sdpa(i.Q, i.K, i.V),
    "002_causal": lambda i: sdpa(i.Q, i.K, i.V, is_causal=True),
    "003_causal_long": lambda i: sdpa(i.Q, i.K, i.V, is_causal=True),
    "004_sliding_window": windowed(256),
    "005_sliding_window_narrow": windowed(32),
    "006_grouped_heads": lambda i: sdpa(i.Q, i.K, i.V, is_causal=True, enable_gqa=True),
    "007_multi_query": lambda i: sdpa(i.Q, i.K, i.V, enable_gqa=True),
    "008_bias": lambda i: sdpa(i.Q, i.K, i.V, attn_mask=i.A),
    "009_mask": lambda i: sdpa(i.Q, i.K, i.V, attn_mask=i.M | torch.eye(len(i.M), dtype=torch.bool)),
    "010_alibi": alibi,
    "011_relative_bias":
        lambda i: weighed(i, lambda s, q, k: s + i.R[:, q - k + i.Q.shape[-2] - 1]),
    "012_soft_cap": lambda i: weighed(
        i, lambda s, q, k: (50 * torch.tanh(s / 50)).masked_fill(k > q, -math.inf)),
    "013_decode": lambda i: sdpa(i.Q, i.K, i.V),
    "014_cross": lambda i: sdpa(i.Q, i.K, i.V),
    "015_rotary_causal": lambda i: sdpa(turned(i.Q), turned(i.K), i.V, is_causal=True),
    "016_linear": linear_attention,
}


# ---- odd ----

ODD = {
    "001_matmul_prime": lambda i: i.A @ i.B,
    "002_matmul_row": lambda i: i.A @ i.B,
    "003_matmul_column": lambda i: i.A @ i.B.T,
    "004_outer_product": lambda i: i.A @ i.B,
    "005_dot_long": lambda i: torch.dot(i.X, i.Z),
    "006_softmax_long_row": lambda i: torch.softmax(i.X, -1),
    "007_softmax_flat": lambda i: torch.softmax(i.X, -1),
    "008_softmax_one": lambda i: torch.softmax(i.X, -1),
    "009_layer_norm_prime": lambda i: norm(i.X, i.G, i.B),
    "010_layer_norm_flat": lambda i: norm(i.X, i.G, i.B),
    "011_sum_rows_tall": lambda i: i.X.sum(0),
    "012_sum_all_long": lambda i: i.X.sum(),
    "013_transpose_prime": lambda i: i.X.T,
    "014_conv2d_one_channel": lambda i: F.conv2d(i.X, i.F, padding=2),
    "015_conv2d_one_pixel": lambda i: F.conv2d(i.X, i.F),
    "016_conv1d_long": lambda i: F.conv1d(i.X, i.F, padding=15),
    "017_cumsum_long": lambda i: i.X.cumsum(-1),
    "018_cumsum_flat": lambda i: i.X.cumsum(-1),
    "019_argmax_long": lambda i: i.X.argmax(),
    "020_attention_prime": lambda i: sdpa(i.Q, i.K, i.V, is_causal=True),
    "021_batched_tiny": lambda i: i.A @ i.B,
}


# ---- low precision: results are not rounded here, as hone's values are not ----

def requantized(i):
    z = (i.X @ i.W.T + i.b).double()
    return torch.clamp(torch.round(z * i.s), -128, 127).long()


def quantized_rows(i):
    s = i.X.abs().amax(1) / 127
    return torch.clamp(torch.round(i.X / s[:, None]), -128, 127).long(), s


LOW_PRECISION = {
    "001_matmul_f16": lambda i: i.A @ i.B,
    "002_matmul_bf16": lambda i: i.A @ i.B,
    "003_matmul_bf16_to_f32": lambda i: i.A @ i.B,
    "004_matmul_i8": lambda i: i.A @ i.B,
    "005_matvec_f16": lambda i: i.A @ i.X,
    "006_linear_i8_weights": lambda i: i.s * (i.X @ i.W.T.double()),
    "007_linear_i8_requantize": requantized,
    "008_quantize_rows": quantized_rows,
    "009_softmax_f16": lambda i: torch.softmax(i.X, -1),
    "010_layer_norm_bf16": lambda i: norm(i.X, i.G, i.B),
    "011_rms_norm_f16": lambda i: F.rms_norm(i.X, i.G.shape, i.G, 1e-5),
    "012_gelu_bf16": lambda i: F.gelu(i.X),
    "013_conv2d_f16": lambda i: F.conv2d(i.X, i.F, padding=1),
    "014_conv2d_i8": lambda i: F.conv2d(i.X.double(), i.F.double(), padding=1).long(),
    "015_causal_attention_f16": lambda i: sdpa(i.Q, i.K, i.V, is_causal=True),
    "016_embedding_bf16": lambda i: F.embedding(i.T, i.W),
    "017_residual_add_f16": lambda i: i.X + i.Z,
}

MODELS = {f"{suite}/{name}": model
          for suite, models in (("fused", FUSED), ("attention", ATTENTION), ("odd", ODD),
                                ("low-precision", LOW_PRECISION))
          for name, model in models.items()}
