"""KernelBench tasks on CPU (own text, v0 shapes, f32, weights as inputs), level 2."""
import torch
import torch.nn.functional as F

from .modes import batch_norm


def conv2(i, **k):
    return F.conv2d(i.X, i.F, i.b, **k)


def conv3(i, **k):
    return F.conv3d(i.X, i.F, i.b, **k)


def up2(i, *k):
    return F.conv_transpose2d(i.X, i.F, i.b, *k)


def up3(i, *k):
    return F.conv_transpose3d(i.X, i.F, i.b, *k)


def linear(i):
    return F.linear(i.X, i.W, i.b)


def group_norm(i, x, groups):
    return F.group_norm(x, groups, i.G, i.B)


def maps(v, x):
    """A vector as channels beside x[N,K,...]."""
    return v.view(-1, *[1] * (x.dim() - 2))


def residuals(i):
    z = up3(i, 2, 1, 1)
    return (z + maps(i.B, z) + z) * z + z


def add_scale_sigmoid(i):
    z = conv2(i)
    return group_norm(i, torch.sigmoid((z + maps(i.A, z)) * maps(i.S, z)), 8)


def clamped_logsumexp_mish(i):
    l = torch.logsumexp(torch.clamp(4 * linear(i), -10, 10), 1, keepdim=True)
    return l * F.mish(l)


def logsumexp_swish_max(i):
    l = torch.logsumexp(up3(i, 2, 1), 1, keepdim=True)
    s = l * torch.sigmoid(l + 3) / 6
    return torch.clamp(s - i.B.view(-1, 1, 1, 1), -1, 1).amax(1, keepdim=True)


def mean_gelu_residual(i):
    a = (linear(i) - i.S).mean(1, keepdim=True)
    return F.gelu(torch.logsumexp(a, 1, keepdim=True)) + i.X


def multiply_instance_norm(i):
    z = conv3(i)
    s = maps(i.S, z)
    return (torch.clamp(F.instance_norm(z * s), -1, 1) * s).amax(1)


def group_norm_residual(i):
    z = conv2(i)
    r = z + F.hardswish(torch.tanh(group_norm(i, z, 8)))
    return torch.logsumexp(r, 1, keepdim=True)


def add_hardswish(i):
    z = up3(i, 2, 1, 1) + i.A
    return z * F.hardswish(z)


def sums_of_one(i):
    s = linear(i).sum(1, keepdim=True).amax(1, keepdim=True).mean(1, keepdim=True)
    return torch.logsumexp(torch.logsumexp(s, 1, keepdim=True), 1, keepdim=True)


def max_minus_mean(i):
    a = linear(i).amax(1, keepdim=True)
    return F.gelu(a - a.mean(1, keepdim=True))


def batch_norm_minus_mean(i):
    z = batch_norm(i, up3(i, 2, 1))
    return z - z.mean((2, 3, 4), keepdim=True)


BY_NUMBER = {
    "001_conv2d_relu_bias": lambda i: F.relu(conv2(i)) + i.B.view(-1, 1, 1),
    "002_conv_transpose2d_bias_clamp_scale_clamp_divide": lambda i:
        torch.clamp(2 * torch.clamp(up2(i, 2, 1, 1) + i.B.view(-1, 1, 1), 0, 1), 0, 1) / 2,
    "003_conv_transpose3d_sum_layer_norm_avg_pool_gelu": lambda i: F.gelu(F.avg_pool3d(
        F.layer_norm(up3(i, 2, 1, 1) + i.s, i.G.shape, i.G, i.B), 2)),
    "004_conv2d_mish_mish": lambda i: F.mish(F.mish(conv2(i))),
    "005_conv_transpose2d_subtract_tanh":
        lambda i: torch.tanh(up2(i, 2, 1, 1) - i.B.view(-1, 1, 1)),
    "006_conv3d_softmax_max_pool_max_pool":
        lambda i: F.max_pool3d(F.max_pool3d(torch.softmax(conv3(i), 1), 2), 2),
    "007_conv3d_relu_leaky_relu_gelu_sigmoid_bias": lambda i:
        torch.sigmoid(F.gelu(F.leaky_relu(F.relu(conv3(i)), 0.01))) + i.B.view(-1, 1, 1, 1),
    "008_conv3d_divide_max_pool_mean_bias_sum": lambda i: (F.adaptive_avg_pool3d(
        F.max_pool3d(conv3(i) / 2, 2), 1) + i.B.view(-1, 1, 1, 1)).sum(1),
    "009_linear_subtract_multiply_relu": lambda i: F.relu((linear(i) - 2) * 1.5),
    "010_conv_transpose2d_max_pool_hardtanh_mean_tanh": lambda i: torch.tanh(
        F.hardtanh(F.max_pool2d(up2(i, 2, 1), 2)).mean((2, 3), keepdim=True)),
    "011_conv_transpose2d_batch_norm_tanh_max_pool_group_norm": lambda i: F.group_norm(
        F.max_pool2d(torch.tanh(batch_norm(i, up2(i, 2, 1))), 2), 4, i.P, i.Q),
    "012_linear_multiply_leaky_relu": lambda i: F.leaky_relu(2 * linear(i), 0.1),
    "013_conv_transpose3d_mean_add_softmax_tanh_scale": lambda i: 2 * torch.tanh(
        torch.softmax(up3(i, 2, 1).mean(1, keepdim=True) + i.B, 1)),
    "014_matmul_divide_sum_scale": lambda i: 1.5 * (i.X @ i.W.T / 2).sum(1, keepdim=True),
    "015_conv_transpose3d_batch_norm_subtract_mean": batch_norm_minus_mean,
    "016_conv_transpose2d_mish_add_hardtanh_scale":
        lambda i: 2 * F.hardtanh(F.mish(up2(i, 2, 1, 1)) + 0.5),
    "017_conv2d_instance_norm_divide": lambda i: F.instance_norm(conv2(i)) / 2,
    "018_linear_sum_max_mean_logsumexp_logsumexp": sums_of_one,
    "019_conv_transpose2d_gelu_group_norm": lambda i: group_norm(i, F.gelu(up2(i, 2)), 8),
    "020_conv_transpose3d_sum_residual_multiply_residual": residuals,
    "021_conv2d_add_scale_sigmoid_group_norm": add_scale_sigmoid,
    "022_linear_scale_residual_clamp_logsumexp_mish": clamped_logsumexp_mish,
    "023_conv3d_group_norm_mean": lambda i: group_norm(i, conv3(i), 8).mean((1, 2, 3, 4)),
    "024_conv3d_min_softmax": lambda i: torch.softmax(conv3(i).amin(2), 1),
    "025_conv2d_min_tanh_tanh": lambda i: torch.tanh(torch.tanh(conv2(i).amin(1, keepdim=True))),
    "026_conv_transpose3d_add_hardswish": add_hardswish,
    "027_conv3d_hardswish_relu_softmax_mean":
        lambda i: torch.softmax(F.relu(F.hardswish(conv3(i))), 1).mean((2, 3, 4)),
    "028_linear_instance_norm_residual_multiply": lambda i:
        (F.instance_norm(linear(i)[:, None, None])[:, 0, 0] + i.A) * i.A,
    "029_linear_mish_mish": lambda i: F.mish(F.mish(linear(i))),
    "030_linear_group_norm_hardtanh": lambda i: F.hardtanh(group_norm(i, linear(i), 8), -2, 2),
    "031_conv2d_min_add_multiply":
        lambda i: (torch.clamp(conv2(i), max=0.5) + i.B.view(-1, 1, 1)) * 2,
    "032_conv2d_scale_min": lambda i: (2 * conv2(i)).amin(1, keepdim=True),
    "033_linear_scale_batch_norm": lambda i: batch_norm(i, linear(i) * i.S, "UVGB"),
    "034_conv_transpose3d_layer_norm_gelu_scale":
        lambda i: F.gelu(F.layer_norm(up3(i, 2, 1), i.G.shape, i.G, i.B)),
    "035_conv2d_subtract_hardswish_max_pool_mish":
        lambda i: F.mish(F.max_pool2d(F.hardswish(conv2(i) - 0.5), 2)),
    "036_conv_transpose2d_min_sum_gelu_add": lambda i: F.gelu(
        up2(i, 2, 1, 1).amin(1, keepdim=True).sum(2, keepdim=True)) + i.B.view(-1, 1, 1),
    "037_linear_swish_sum_group_norm": lambda i: group_norm(i, F.silu(linear(i)) + i.A, 32),
    "038_conv_transpose3d_avg_pool_clamp_softmax_multiply": lambda i: 2 * torch.softmax(
        torch.clamp(F.avg_pool3d(up3(i, 2, 1, 1), 2), 0, 1), 1),
    "039_linear_scale_batch_norm_again": lambda i: batch_norm(i, linear(i) * i.S, "UVGB"),
    "040_linear_scale_residual": lambda i: 1.5 * linear(i),
    "041_linear_batch_norm_gelu_group_norm_mean_relu": lambda i: F.relu(F.group_norm(
        F.gelu(batch_norm(i, linear(i), "UVGB")), 8, i.P, i.Q).mean(1, keepdim=True)),
    "042_conv_transpose2d_mean_bias_logsumexp_sum_multiply": lambda i: 10 * torch.logsumexp(
        up2(i).mean((2, 3)) + i.B, 1, keepdim=True),
    "043_conv3d_max_pool_logsumexp_relu": lambda i: F.relu(
        torch.logsumexp(F.max_pool3d(conv3(i, padding=1), 2, 2), 1, keepdim=True)),
    "044_conv_transpose2d_multiply_mean_mean":
        lambda i: (0.5 * up2(i, 2, 1, 1)).mean((2, 3), keepdim=True).mean((2, 3), keepdim=True),
    "045_linear_sigmoid_sum_logsumexp":
        lambda i: torch.logsumexp(torch.sigmoid(linear(i)).sum(1), 0),
    "046_conv2d_subtract_tanh_subtract_avg_pool":
        lambda i: F.avg_pool2d(torch.tanh(conv2(i) - 0.5) - 0.2, 2),
    "047_conv3d_mish_tanh": lambda i: torch.tanh(F.mish(conv3(i))),
    "048_conv3d_scale_tanh_multiply_sigmoid": lambda i: torch.sigmoid(
        torch.tanh(conv3(i) * i.S.view(-1, 1, 1, 1)) * i.B.view(-1, 1, 1, 1)),
    "049_conv_transpose3d_softmax_sigmoid":
        lambda i: torch.sigmoid(torch.softmax(up3(i, 2, 1, 1), 1)),
    "050_conv_transpose3d_scale_avg_pool_bias_scale":
        lambda i: (F.avg_pool3d(up3(i, 2, 1) * i.s, 2) + i.B.view(-1, 1, 1, 1)) * i.t,
    "051_linear_subtract_mean_logsumexp_gelu_residual": mean_gelu_residual,
    "052_conv2d_mish_batch_norm": lambda i: batch_norm(i, F.mish(conv2(i))),
    "053_linear_scale_hardtanh_gelu": lambda i: F.gelu(F.hardtanh(0.5 * linear(i), -2, 2)),
    "054_conv2d_multiply_leaky_relu_gelu":
        lambda i: F.gelu(F.leaky_relu(conv2(i) * i.S.view(-1, 1, 1))),
    "055_linear_max_pool_sum_scale":
        lambda i: 0.5 * F.max_pool1d(linear(i)[:, None], 2)[:, 0].sum(1),
    "056_linear_sigmoid_sum": lambda i: torch.sigmoid(linear(i)).sum(1, keepdim=True),
    "057_conv2d_relu_hardswish": lambda i: F.hardswish(F.relu(conv2(i))),
    "058_conv_transpose3d_logsumexp_hardswish_subtract_clamp_max": logsumexp_swish_max,
    "059_linear_swish_scale": lambda i: 2 * F.silu(linear(i)),
    "060_conv_transpose3d_swish_group_norm_hardswish":
        lambda i: F.hardswish(group_norm(i, F.silu(up3(i, 2, 1)), 4)),
    "061_conv_transpose3d_relu_group_norm":
        lambda i: group_norm(i, F.relu(F.conv_transpose3d(i.X, i.F)), 8),
    "062_linear_group_norm_leaky_relu_sum":
        lambda i: 2 * F.leaky_relu(group_norm(i, linear(i), 8)),
    "063_linear_relu_divide": lambda i: F.relu(linear(i)) / 2,
    "064_linear_logsumexp_leaky_relu_twice_gelu_twice": lambda i: F.gelu(F.gelu(
        F.leaky_relu(F.leaky_relu(torch.logsumexp(linear(i), 1, keepdim=True))))),
    "065_conv2d_avg_pool_sigmoid_sum":
        lambda i: torch.sigmoid(F.avg_pool2d(conv2(i), 2)).sum((1, 2, 3)),
    "066_linear_dropout_mean_softmax":
        lambda i: torch.softmax(linear(i).mean(1, keepdim=True), 1),
    "067_conv2d_gelu_mean": lambda i: F.gelu(conv2(i)).mean((2, 3)),
    "068_linear_min_subtract": lambda i: torch.minimum(linear(i), i.s) - i.s,
    "069_conv2d_hardswish_relu": lambda i: F.relu(F.hardswish(conv2(i))),
    "070_linear_sigmoid_scale_residual": lambda i: 2 * torch.sigmoid(linear(i)) + linear(i),
    "071_conv2d_divide_leaky_relu": lambda i: F.leaky_relu(conv2(i) / 2),
    "072_conv_transpose3d_batch_norm_avg_pool_avg_pool":
        lambda i: F.avg_pool3d(F.avg_pool3d(batch_norm(i, up3(i, 2, 1)), 2), 2),
    "073_conv2d_batch_norm_scale": lambda i: 2 * batch_norm(i, conv2(i)),
    "074_conv_transpose3d_leaky_relu_multiply_leaky_relu_max_pool": lambda i: F.max_pool3d(
        F.leaky_relu(F.leaky_relu(up3(i, 2, 1, 1), 0.2) * i.S.view(-1, 1, 1, 1), 0.2), 2),
    "075_linear_group_norm_min_bias": lambda i:
        group_norm(i, linear(i), 8).amin(1, keepdim=True) + i.A.view(1, -1, 1, 1),
    "076_linear_add_relu": lambda i: F.relu(i.X @ i.W.T + i.b),
    "077_conv_transpose3d_scale_batch_norm_mean":
        lambda i: F.adaptive_avg_pool3d(batch_norm(i, 2 * up3(i)), 1),
    "078_conv_transpose3d_max_pool_max_pool_sum": lambda i: F.max_pool3d(
        F.max_pool3d(up3(i, 2, 1), 2), 3).sum(1, keepdim=True),
    "079_conv3d_multiply_instance_norm_clamp_multiply_max": multiply_instance_norm,
    "080_linear_max_subtract_mean_gelu": max_minus_mean,
    "081_linear_swish_divide_clamp_tanh_clamp":
        lambda i: torch.tanh(torch.clamp(F.silu(linear(i)) / 2, -1, 1)),
    "082_conv2d_tanh_scale_bias_max_pool":
        lambda i: F.max_pool2d(2 * torch.tanh(conv2(i)) + i.B.view(-1, 1, 1), 2),
    "083_conv3d_group_norm_min_clamp_dropout":
        lambda i: torch.clamp(torch.clamp(group_norm(i, conv3(i), 8), max=0), 0, 1),
    "084_linear_batch_norm_scale_softmax":
        lambda i: torch.softmax(i.s * batch_norm(i, linear(i), "UVGB"), 1),
    "085_conv2d_group_norm_scale_max_pool_clamp": lambda i: torch.clamp(
        F.max_pool2d(group_norm(i, conv2(i), 8) * i.S.view(-1, 1, 1), 2), 0, 1),
    "086_linear_divide_gelu": lambda i: F.gelu(linear(i) / 10),
    "087_conv2d_subtract_subtract_mish": lambda i: F.mish(conv2(i) - 0.5 - 0.2),
    "088_linear_group_norm_swish_multiply_swish":
        lambda i: F.silu(F.silu(group_norm(i, linear(i), 16)) * i.S),
    "089_conv_transpose3d_max_pool_softmax_subtract_swish_max": lambda i: F.silu(torch.softmax(
        F.max_pool3d(up3(i, 2, 1, 1), 2), 1) - i.S.view(-1, 1, 1, 1)).amax(1),
    "090_conv3d_leaky_relu_sum_clamp_gelu": lambda i: F.gelu(
        torch.clamp(F.leaky_relu(conv3(i), 0.2) + i.B.view(-1, 1, 1, 1), -1, 1)),
    "091_conv_transpose2d_softmax_bias_scale_sigmoid": lambda i: torch.sigmoid(
        2 * (torch.softmax(up2(i, 2, 1, 1), 1) + i.B.view(-1, 1, 1))),
    "092_conv2d_group_norm_tanh_hardswish_residual_logsumexp": group_norm_residual,
    "093_conv_transpose2d_add_min_gelu_multiply":
        lambda i: 2 * F.gelu(torch.clamp(up2(i, 2) + 0.5, max=0)),
    "094_linear_bias_hardtanh_mish_group_norm":
        lambda i: group_norm(i, F.mish(F.hardtanh(linear(i) + i.A)), 32),
    "095_linear_add_swish_tanh_gelu_hardtanh":
        lambda i: F.hardtanh(F.gelu(torch.tanh(F.silu(linear(i) + i.A)))),
    "096_conv_transpose3d_multiply_max_pool_mean_clamp": lambda i: torch.clamp(
        F.adaptive_avg_pool3d(F.max_pool3d(0.5 * up3(i, 2, 1), 2), 1), 0, 1),
    "097_linear_batch_norm_bias_divide_swish":
        lambda i: F.silu(batch_norm(i, linear(i), "UVGB") + i.s),
    "098_linear_avg_pool_gelu_scale_max":
        lambda i: (2 * F.gelu(F.avg_pool1d(linear(i)[:, None], 4)[:, 0])).amax(1),
    "099_linear_gelu_softmax": lambda i: torch.softmax(F.gelu(linear(i)), 1),
    "100_conv_transpose3d_clamp_divide": lambda i: torch.clamp(up3(i, 2, 1), min=-1) / 2,
}
MODELS = {f"kernelbench/2/{name}": model for name, model in BY_NUMBER.items()}
