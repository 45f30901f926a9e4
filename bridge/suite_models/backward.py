"""Backward passes: PyTorch's autograd differentiates the forward pass."""
import torch
import torch.nn.functional as F


def gradients(forward, dy, *inputs):
    with torch.enable_grad():
        inputs = [x.clone().requires_grad_() for x in inputs]
        found = torch.autograd.grad(forward(*inputs), inputs, dy)
    return found if len(found) > 1 else found[0]


def conv(**options):
    def model(i):
        b = torch.zeros(len(i.F))
        groups = i.X.shape[1] // i.F.shape[1]
        return gradients(lambda x, f, b: F.conv2d(x, f, b, groups=groups, **options), i.D, i.X, i.F, b)
    return model


def rotated(x, a, b):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * torch.cat((a, a), -1) + turned * torch.cat((b, b), -1)


def attention(causal):
    def forward(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return lambda i: gradients(forward, i.E, i.Q, i.K, i.V)


def linear(x, w, b):
    return F.linear(x, w, b)


def with_shift(i):
    return torch.zeros_like(i.G)


BY_NUMBER = {
    "001_relu": lambda i: gradients(F.relu, i.D, i.X),
    "002_gelu": lambda i: gradients(F.gelu, i.D, i.X),
    "003_silu": lambda i: gradients(F.silu, i.D, i.X),
    "004_softmax": lambda i: i.P * (i.D - (i.D * i.P).sum(-1, keepdim=True)),
    "005_log_softmax": lambda i: gradients(lambda x: torch.log_softmax(x, -1), i.D, i.X),
    "006_layer_norm": lambda i: gradients(
        lambda x, g, b: F.layer_norm(x, g.shape, g, b), i.D, i.X, i.G, with_shift(i)),
    "007_rms_norm": lambda i: gradients(lambda x, g: F.rms_norm(x, g.shape, g, 1e-5), i.D, i.X, i.G),
    "008_batch_norm": lambda i: gradients(
        lambda x, g, b: F.batch_norm(x, None, None, g, b, True), i.D, i.X, i.G, with_shift(i)),
    "009_group_norm": lambda i: gradients(
        lambda x, g, b: F.group_norm(x, 8, g, b), i.D, i.X, i.G, with_shift(i)),
    "010_linear": lambda i: gradients(linear, i.D, i.X, i.W, torch.zeros(len(i.W))),
    "011_matmul": lambda i: gradients(torch.matmul, i.D, i.A, i.B),
    "012_linear_relu": lambda i: gradients(lambda *a: F.relu(linear(*a)), i.D, i.X, i.W, i.b),
    "013_conv2d": conv(padding=1),
    "014_conv2d_strided": conv(stride=2, padding=1),
    "015_depthwise_conv2d": conv(padding=1),
    "016_max_pool2d": lambda i: gradients(lambda x: F.max_pool2d(x, 2), i.D, i.X),
    "017_avg_pool2d": lambda i: gradients(lambda x: F.avg_pool2d(x, 2), i.D, torch.zeros(
        *i.D.shape[:2], 2 * i.D.shape[2], 2 * i.D.shape[3])),
    "018_embedding": lambda i: gradients(lambda w: F.embedding(i.T, w), i.E, torch.zeros(11, i.E.shape[1])),
    "019_cross_entropy": lambda i: gradients(lambda x: F.cross_entropy(x, i.T), i.D, i.X),
    "020_mse_loss": lambda i: gradients(lambda x: F.mse_loss(x, i.T), i.D, i.X),
    "021_attention": attention(False),
    "022_causal_attention": attention(True),
    "023_swiglu": lambda i: gradients(lambda a, b: F.silu(a) * b, i.D, i.A, i.B),
    "024_rotary": lambda i: gradients(lambda x: rotated(x, i.A, i.B), i.E, i.E),
    "025_cumsum": lambda i: gradients(lambda x: x.cumsum(-1), i.D, i.D),
}
MODELS = {f"backward/{name}": model for name, model in BY_NUMBER.items()}
