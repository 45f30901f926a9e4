#!/usr/bin/env python3
"""Expected values for the operator library, computed by PyTorch and NumPy.

    python3 bridge/expected.py [NAME ...]     needs torch 2.13 and numpy; writes tests/expected/

Each row of the tables below is one test: a small task in the tensor language, how its inputs are
drawn, and a function that computes the same in double precision without our language: PyTorch's
functions, its autograd for backward passes, plain loops where PyTorch has no such function. Inputs
are drawn in their own dtype (f32 values, say) and widened afterwards, so they are exact. The stream
of a test is named by SEED and the test's name: adding a row changes no other.
"""
import re
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

SEED = 1
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "expected"
TESTS = {}


# ---- inputs: (dtype, shape, clause of the `in` statement, how to draw) ----

NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8,
         "u8": np.uint8, "bool": np.bool_}


def normal(*shape, scale=1.0, dtype="f32"):
    return dtype, shape, "", lambda rng: scale * rng.standard_normal(shape)


def uniform(low, high, *shape, dtype="f32"):
    # a step away from the ends, which are not all f32 numbers
    return dtype, shape, f" from {low} to {high}", lambda rng: rng.uniform(
        low + 1e-3 * (high - low), high - 1e-3 * (high - low), shape)


def integers(low, high, *shape, dtype="i32", clause=True):
    return (dtype, shape, f" from {low} to {high}" if clause else "",
            lambda rng: rng.integers(low, high + 1, shape))


def signs(*shape, dtype="f32"):
    return dtype, shape, " among -1, 1", lambda rng: 2 * rng.integers(0, 2, shape) - 1


def booleans(*shape):
    return "bool", shape, "", lambda rng: rng.integers(0, 2, shape)


def causal_mask(rows, columns):  # some keys for every query, the first one always
    def draw(rng):
        mask = rng.integers(0, 2, (rows, columns))
        mask[:, 0] = 1
        return mask
    return "bool", (rows, columns), "", draw


def probabilities(*shape):
    def draw(rng):
        x = np.exp(rng.standard_normal(shape))
        return x / x.sum(-1, keepdims=True)
    return "f32", shape, " as softmax", draw


def triangle(form, n):
    cut = np.tril if form == "lower" else np.triu
    return "f32", (n, n), f" as {form}", lambda rng: cut(rng.standard_normal((n, n)))


def targets(classes, ignored, *shape):  # class numbers and some -100
    def draw(rng):
        t = rng.integers(0, classes, shape)
        t[ignored] = -100
        return t
    return "i32", shape, f" from -100 to {classes - 1}", draw


def points():  # where activations bend, and between
    def draw(rng):
        return np.concatenate([[-6, -3, -1, -0.5, 0, 0.5, 1, 3, 6], 2 * rng.standard_normal(28)])
    return "f32", (37,), "", draw


def far_points():  # also beyond the threshold of softplus
    def draw(rng):
        return np.concatenate([[-25, -20, 19.5, 20, 20.5, 30], 5 * rng.standard_normal(15)])
    return "f32", (21,), "", draw


# ---- tests ----

def op(name, statements, expect, **inputs):
    """A task made of `in` statements and the given ones; its outputs are all tensors they define."""
    lines = [f"op test_{name}"]
    for n, (dtype, shape, clause, _) in inputs.items():
        lines.append(f"in {n}: {dtype}[{','.join(map(str, shape))}]{clause}")
    outs = []
    for statement in statements.split("\n"):
        lines.append(statement.strip())
        left = re.sub(r"\[.*?\]", "", statement.split("=")[0])
        outs += [result.split(":")[0].strip() for result in left.split(",")]
    lines.append("out " + ", ".join(outs))
    program(name, "\n".join(lines) + "\n", expect, **inputs)


def program(name, text, expect, **inputs):
    """A task written out; `out` gives the names of what expect returns."""
    assert name not in TESTS, name
    TESTS[name] = text, expect, inputs


def double(array):
    if array.dtype.kind == "f":
        return torch.from_numpy(np.atleast_1d(array).astype(np.float64).reshape(array.shape))
    if array.dtype.kind == "b":
        return torch.from_numpy(array.copy())
    return torch.from_numpy(array.astype(np.int64))


def grads(function, dy, *xs):
    xs = [x.clone().requires_grad_() for x in xs]
    return torch.autograd.grad(function(*xs), xs, dy)


def arrays(result):
    if not isinstance(result, (tuple, list)):
        result = (result,)
    out = []
    for r in result:
        r = r.detach().numpy() if isinstance(r, torch.Tensor) else np.asarray(r)
        out.append(np.array(r, np.float64 if r.dtype.kind == "f" else np.int32, order="C", copy=True))
    return out


def write(name):
    text, expect, inputs = TESTS[name]
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    values = []
    for n, (dtype, shape, _, draw) in inputs.items():
        value = np.asarray(draw(rng)).astype(NUMPY[dtype]).reshape(shape)
        np.save(folder / f"{n}.npy", value)
        values.append(double(value))
    results = arrays(expect(*values))
    outs = re.findall(r"\w+", re.findall(r"^out (.*)$", text, re.M)[-1])
    assert len(outs) == len(results), name
    for n, result in zip(outs, results):
        assert np.isfinite(result).all(), f"{name}: {n} is not finite"
        np.save(folder / f"out_{n}.npy", result)
    (folder / "task.op").write_text(text)


# ---- activations ----

for name, function in {
    "relu": F.relu, "relu6": F.relu6, "selu": F.selu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "quick_gelu": lambda x: x / (1 + torch.exp(-1.702 * x)),
    "silu": F.silu, "mish": F.mish, "softsign": F.softsign, "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish, "hardtanh": F.hardtanh, "logsigmoid": F.logsigmoid,
    "tanhshrink": F.tanhshrink, "square": torch.square,
}.items():
    op(name, f"Y = {name}(X)", function, X=points())
for name, arguments, function in (
    ("leaky_relu", "0.1", lambda x: F.leaky_relu(x, 0.1)), ("elu", "0.7", lambda x: F.elu(x, 0.7)),
    ("celu", "1.5", lambda x: F.celu(x, 1.5)), ("threshold", "0.25, 7.0", lambda x: F.threshold(x, 0.25, 7.0)),
    ("hardshrink", "0.75", lambda x: F.hardshrink(x, 0.75)), ("softshrink", "0.75", lambda x: F.softshrink(x, 0.75)),
):
    op(name, f"Y = {name}(X, {arguments})", function, X=points())
op("softplus", "Y = softplus(X)", F.softplus, X=far_points())
op("swiglu", "Y = swiglu(A, B)", lambda a, b: F.silu(a) * b, A=normal(5, 7), B=normal(5, 7))
op("geglu", "Y = geglu(A, B)", lambda a, b: F.gelu(a) * b, A=normal(5, 7), B=normal(5, 7))
op("logaddexp", "Y = logaddexp(A, B)", torch.logaddexp, A=normal(5, 7, scale=3),
   B=normal(5, 7, scale=3))
op("lerp", "Y = lerp(A, B, 0.3)", lambda a, b: torch.lerp(a, b, 0.3), A=normal(5, 7),
   B=normal(5, 7))
op("prelu", "Y = prelu(X, A)", F.prelu, X=normal(2, 3, 5), A=normal(3))
op("prelu_2d", "Y = prelu(X, A)", F.prelu, X=normal(4, 3), A=normal(3))
op("glu", "Y = glu(X)", lambda x: F.glu(x, -1), X=normal(3, 5, 8))
# a def inside a stage, its argument a reduction; nested defs; a scalar beside a tensor
op("def_in_stage", "Y[m,n] = silu(sum[k](A[m,k]*B[n,k]) + 1)", lambda a, b: F.silu(a @ b.mT + 1),
   A=normal(3, 5), B=normal(4, 5))
op("def_nested", "Y = relu6(gelu(2*X) + s)", lambda x, s: F.relu6(F.gelu(2 * x) + s), X=points(),
   s=normal())

# ---- softmax ----

op("softmax", "Y = softmax(X)", lambda x: torch.softmax(x, -1), X=normal(3, 37, scale=3))
op("softmax_rank1", "Y = softmax(X)", lambda x: torch.softmax(x, -1), X=normal(19))
op("softmax_rank4", "Y = softmax(X)", lambda x: torch.softmax(x, -1), X=normal(2, 3, 2, 5))
op("softmax_f64", "Y = softmax(X)", lambda x: torch.softmax(x, -1), X=normal(3, 9, dtype="f64"))
op("softmax1", "Y = softmax1(X)", lambda x: torch.softmax(x, 1), X=normal(2, 5, 3, 4))
op("softmin", "Y = softmin(X)", lambda x: F.softmin(x, -1), X=normal(3, 11))
op("log_softmax", "Y = log_softmax(X)", lambda x: torch.log_softmax(x, -1),
   X=normal(3, 37, scale=3))
op("log_softmax1", "Y = log_softmax1(X)", lambda x: torch.log_softmax(x, 1), X=normal(2, 5, 3))
op("logsumexp", "Y = logsumexp(X)", lambda x: torch.logsumexp(x, -1), X=normal(3, 2, 37, scale=3))
op("logsumexp1", "Y = logsumexp1(X)", lambda x: torch.logsumexp(x, 1), X=normal(2, 5, 3))

# ---- norms ----

op("layer_norm", "Y = layer_norm(X, G, B)", lambda x, g, b: F.layer_norm(x, (13,), g, b),
   X=normal(2, 5, 13), G=normal(13), B=normal(13))
op("layer_norm_eps", "Y = layer_norm(X, G, B, eps=0.01)",
   lambda x, g, b: F.layer_norm(x, (13,), g, b, 0.01), X=normal(5, 13), G=normal(13), B=normal(13))
op("layer_norm_plain", "Y = layer_norm(X)", lambda x: F.layer_norm(x, (13,)), X=normal(5, 13))
op("layer_norm_all", "Y = layer_norm_all(X, G, B)",
   lambda x, g, b: F.layer_norm(x, (3, 4, 5), g, b), X=normal(2, 3, 4, 5), G=normal(3, 4, 5),
   B=normal(3, 4, 5))
op("rms_norm", "Y = rms_norm(X, G)", lambda x, g: F.rms_norm(x, (13,), g, 1e-5), X=normal(2, 5, 13),
   G=normal(13))
op("rms_norm_plain", "Y = rms_norm(X, eps=1e-6)", lambda x: F.rms_norm(x, (13,), None, 1e-6),
   X=normal(5, 13))
op("rms_norm1", "Y = rms_norm1(X)",
   lambda x: x / torch.sqrt(torch.mean(x**2, 1, keepdim=True) + 1e-5), X=normal(2, 5, 3, 4))
op("batch_norm", "Y = batch_norm(X, G, B)",
   lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True), X=normal(4, 3, 5, 2),
   G=normal(3), B=normal(3))
op("batch_norm_2d", "Y = batch_norm(X, G, B)",
   lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True), X=normal(7, 3), G=normal(3),
   B=normal(3))
op("batch_norm_plain", "Y = batch_norm(X)", lambda x: F.batch_norm(x, None, None, training=True),
   X=normal(4, 3, 5))
op("batch_norm_eval", "Y = batch_norm(X, M, V, G, B)",
   lambda x, m, v, g, b: F.batch_norm(x, m, v, g, b), X=normal(2, 3, 5, 4), M=normal(3),
   V=uniform(0.5, 1.5, 3), G=normal(3), B=normal(3))


def batch_norm_train(x, m, v, g, b):
    m, v = m.clone(), v.clone()
    return F.batch_norm(x, m, v, g, b, training=True, momentum=0.2), m, v


op("batch_norm_train", "Y, RM, RV = batch_norm_train(X, M, V, G, B, momentum=0.2)",
   batch_norm_train, X=normal(4, 3, 5), M=normal(3), V=uniform(0.5, 1.5, 3), G=normal(3),
   B=normal(3))
op("instance_norm", "Y = instance_norm(X, G, B)",
   lambda x, g, b: F.instance_norm(x, weight=g, bias=b), X=normal(2, 3, 5, 4), G=normal(3),
   B=normal(3))
op("instance_norm_plain", "Y = instance_norm(X)", F.instance_norm, X=normal(2, 3, 7))
op("group_norm", "Y = group_norm(X, G, B, groups=3)", lambda x, g, b: F.group_norm(x, 3, g, b),
   X=normal(2, 6, 5, 4), G=normal(6), B=normal(6))
op("group_norm_one", "Y = group_norm(X, G, B)", lambda x, g, b: F.group_norm(x, 1, g, b),
   X=normal(2, 5, 3), G=normal(5), B=normal(5))
op("local_response_norm", "Y = local_response_norm(X, width=3, alpha=0.1, beta=0.6, bias=2.0)",
   lambda x: F.local_response_norm(x, 3, 0.1, 0.6, 2.0), X=normal(2, 7, 3, 2))
op("local_response_norm_even", "Y = local_response_norm(X, width=4, alpha=0.5)",
   lambda x: F.local_response_norm(x, 4, 0.5), X=normal(2, 7, 3))
op("l1_norm", "Y = l1_norm(X)", lambda x: x / x.abs().sum(1, keepdim=True), X=normal(3, 17))
op("l1_norm_4d", "Y = l1_norm(X)", lambda x: F.normalize(x, 1, 1), X=normal(2, 5, 3, 2))
op("l1_norm_mean", "Y = l1_norm_mean(X)", lambda x: x / x.abs().mean(1, keepdim=True),
   X=normal(3, 17))
op("l2_norm", "Y = l2_norm(X)", lambda x: x / torch.linalg.vector_norm(x, 2, 1, keepdim=True),
   X=normal(3, 5, 4))
op("frobenius_norm", "Y = frobenius_norm(X)", lambda x: x / torch.linalg.vector_norm(x),
   X=normal(2, 3, 4))
op("normalize", "Y = normalize(X)", lambda x: F.normalize(x, dim=-1), X=normal(3, 2, 9))
op("normalize_eps", "Y = normalize(X, eps=5.0)", lambda x: F.normalize(x, dim=-1, eps=5.0),
   X=normal(9, 17))

# ---- matmul ----

op("matmul", "Y = matmul(A, B)", torch.matmul, A=normal(5, 7), B=normal(7, 3))
op("matmul_batched", "Y = matmul(A, B)", torch.matmul, A=normal(2, 3, 5, 7), B=normal(2, 3, 7, 4))
op("matmul_tn", "Y = matmul_tn(A, B)", lambda a, b: a.mT @ b, A=normal(7, 5), B=normal(7, 3))
op("matmul_nt", "Y = matmul_nt(A, B)", lambda a, b: a @ b.mT, A=normal(2, 5, 7), B=normal(2, 3, 7))
op("matmul_tt", "Y = matmul_tt(A, B)", lambda a, b: a.mT @ b.mT, A=normal(7, 5), B=normal(3, 7))
op("matmul_shared", "Y = matmul_shared(A, B)", torch.matmul, A=normal(2, 3, 5, 7), B=normal(7, 4))
op("bmm", "Y = bmm(A, B)", torch.bmm, A=normal(3, 5, 7), B=normal(3, 7, 2))
op("matmul_int", "Y = matmul_int(A, B)", lambda a, b: a @ b,
   A=integers(-128, 127, 5, 37, dtype="i8", clause=False),
   B=integers(-128, 127, 37, 3, dtype="i8", clause=False))
op("gemm", "Y = gemm(A, B, C, alpha=0.5, beta=-1.25)",
   lambda a, b, c: torch.addmm(c, a, b, alpha=0.5, beta=-1.25), A=normal(5, 7), B=normal(7, 3),
   C=normal(5, 3))
op("matvec", "Y = matvec(A, X)", torch.mv, A=normal(5, 7), X=normal(7))
op("matvec_batched", "Y = matvec(A, X)", lambda a, x: torch.einsum("bij,bj->bi", a, x),
   A=normal(2, 5, 7), X=normal(2, 7))
op("vecmat", "Y = vecmat(X, A)", lambda x, a: x @ a, X=normal(7), A=normal(7, 5))
op("dot", "Y = dot(X, Z)", torch.linalg.vecdot, X=normal(3, 17), Z=normal(3, 17))
op("outer", "Y = outer(X, Z)", torch.outer, X=normal(5), Z=normal(7))
op("linear", "Y = linear(X, W, b)", F.linear, X=normal(2, 3, 7), W=normal(5, 7), b=normal(5))
op("linear_vector", "Y = linear(X, W, b)", F.linear, X=normal(7), W=normal(5, 7), b=normal(5))
op("linear_plain", "Y = linear(X, W)", F.linear, X=normal(4, 7), W=normal(5, 7))
op("bilinear", "Y = bilinear(X, Z, W, b)", F.bilinear, X=normal(2, 3), Z=normal(2, 4),
   W=normal(5, 3, 4), b=normal(5))
op("tril_matmul", "Y = tril_matmul(A, B)", lambda a, b: torch.tril(a @ b), A=triangle("lower", 9),
   B=triangle("lower", 9))
op("triu_matmul", "Y = triu_matmul(A, B)", lambda a, b: torch.triu(a @ b), A=triangle("upper", 9),
   B=triangle("upper", 9))
op("trmm_lower", "Y = trmm(A, B)", lambda a, b: torch.tril(a) @ b, A=normal(7, 7), B=normal(7, 4))
op("diag_matmul", "Y = diag_matmul(D, B)", lambda d, b: torch.diag(d) @ b, D=normal(5),
   B=normal(5, 7))
op("matmul_diag", "Y = matmul_diag(A, D)", lambda a, d: a @ torch.diag(d), A=normal(5, 7),
   D=normal(7))
op("syrk", "Y = syrk(A)", lambda a: a @ a.mT, A=normal(2, 5, 7))

# ---- convolutions ----

op("conv1d", "Y = conv1d(X, F)", F.conv1d, X=normal(2, 3, 11), F=normal(4, 3, 3))
op("conv1d_all", "Y = conv1d(X, F, b, stride=2, pad=3, dilation=2, groups=2)",
   lambda x, f, b: F.conv1d(x, f, b, 2, 3, 2, 2), X=normal(2, 4, 13), F=normal(6, 2, 3),
   b=normal(6))
op("conv2d", "Y = conv2d(X, F)", F.conv2d, X=normal(2, 3, 6, 7), F=normal(4, 3, 3, 2))
op("conv2d_same", "Y = conv2d(X, F, pad=1)", lambda x, f: F.conv2d(x, f, padding=1),
   X=normal(2, 3, 5, 4), F=normal(4, 3, 3, 3))
op("conv2d_all", "Y = conv2d(X, F, stride=2, pad=2, dilation=2, groups=2)",
   lambda x, f: F.conv2d(x, f, None, 2, 2, 2, 2), X=normal(2, 4, 9, 8), F=normal(6, 2, 3, 3))
op("conv2d_bias", "Y = conv2d(X, F, b, stride=3, pad=1)", lambda x, f, b: F.conv2d(x, f, b, 3, 1),
   X=normal(2, 3, 8, 7), F=normal(4, 3, 3, 3), b=normal(4))
op("conv2d_unequal",
   "Y = conv2d(X, F, b, stride_h=2, stride_w=3, pad_h=0, pad_w=2, dilation_h=1, dilation_w=2, groups=3)",
   lambda x, f, b: F.conv2d(x, f, b, (2, 3), (0, 2), (1, 2), 3), X=normal(1, 6, 9, 10),
   F=normal(3, 2, 2, 3), b=normal(3))
op("conv2d_half", "Y = conv2d(X, F, stride=2, pad=1, pad_w=0)",
   lambda x, f: F.conv2d(x, f, None, 2, (1, 0)), X=normal(1, 2, 7, 7), F=normal(3, 2, 3, 3))
op("conv3d", "Y = conv3d(X, F)", F.conv3d, X=normal(1, 2, 4, 5, 4), F=normal(3, 2, 2, 3, 2))
op("conv3d_all", "Y = conv3d(X, F, b, stride=2, pad=1, dilation=2, groups=2)",
   lambda x, f, b: F.conv3d(x, f, b, 2, 1, 2, 2), X=normal(1, 4, 6, 7, 5), F=normal(4, 2, 3, 2, 3),
   b=normal(4))
op("conv3d_unequal", "Y = conv3d(X, F, stride_d=2, pad_h=1, dilation_w=2)",
   lambda x, f: F.conv3d(x, f, None, (2, 1, 1), (0, 1, 0), (1, 1, 2)), X=normal(1, 2, 5, 4, 6),
   F=normal(3, 2, 2, 3, 2))
op("depthwise_conv1d", "Y = depthwise_conv1d(X, F, stride=2, pad=2, dilation=2)",
   lambda x, f: F.conv1d(x, f, None, 2, 2, 2, 4), X=normal(2, 4, 11), F=normal(4, 1, 3))
op("causal_conv1d", "Y = causal_conv1d(X, F, b)",
   lambda x, f, b: F.conv1d(F.pad(x, (3, 0)), f, b, groups=5), X=normal(2, 5, 9), F=normal(5, 1, 4),
   b=normal(5))
op("depthwise_conv2d", "Y = depthwise_conv2d(X, F, stride=2, pad=1)",
   lambda x, f: F.conv2d(x, f, None, 2, 1, 1, 4), X=normal(2, 4, 6, 7), F=normal(4, 1, 3, 3))
op("depthwise_conv2d_bias", "Y = depthwise_conv2d(X, F, b, pad_h=2, pad_w=0, dilation_h=2)",
   lambda x, f, b: F.conv2d(x, f, b, 1, (2, 0), (2, 1), 3), X=normal(2, 3, 6, 5),
   F=normal(3, 1, 3, 2), b=normal(3))
op("pointwise_conv2d", "Y = pointwise_conv2d(X, F)", F.conv2d, X=normal(2, 5, 3, 4),
   F=normal(3, 5, 1, 1))
op("pointwise_conv2d_bias", "Y = pointwise_conv2d(X, F, b)", F.conv2d, X=normal(2, 5, 3, 4),
   F=normal(3, 5, 1, 1), b=normal(3))
op("separable_conv2d", "Y = separable_conv2d(X, F, P, stride=2, pad=1)",
   lambda x, f, p: F.conv2d(F.conv2d(x, f, None, 2, 1, 1, 3), p), X=normal(2, 3, 7, 6),
   F=normal(3, 1, 3, 3), P=normal(4, 3, 1, 1))

op("conv_transpose1d", "Y = conv_transpose1d(X, F, stride=2)",
   lambda x, f: F.conv_transpose1d(x, f, stride=2), X=normal(2, 3, 5), F=normal(3, 4, 3))
op("conv_transpose1d_all",
   "Y = conv_transpose1d(X, F, b, stride=3, pad=2, output_pad=1, dilation=2, groups=2)",
   lambda x, f, b: F.conv_transpose1d(x, f, b, 3, 2, 1, 2, 2), X=normal(2, 4, 6), F=normal(4, 3, 3),
   b=normal(6))
op("conv_transpose2d", "Y = conv_transpose2d(X, F)", F.conv_transpose2d, X=normal(1, 3, 4, 5),
   F=normal(3, 2, 3, 2))
op("conv_transpose2d_all",
   "Y = conv_transpose2d(X, F, stride=2, pad=1, output_pad=1, dilation=2, groups=2)",
   lambda x, f: F.conv_transpose2d(x, f, None, 2, 1, 1, 2, 2), X=normal(2, 4, 4, 3),
   F=normal(4, 3, 3, 3))
op("conv_transpose2d_unequal",
   "Y = conv_transpose2d(X, F, b, stride_h=3, stride_w=2, pad_h=1, pad_w=0, output_pad_h=2, output_pad_w=0)",
   lambda x, f, b: F.conv_transpose2d(x, f, b, (3, 2), (1, 0), (2, 0)), X=normal(1, 3, 3, 4),
   F=normal(3, 2, 3, 5), b=normal(2))
op("conv_transpose3d", "Y = conv_transpose3d(X, F, stride=2, pad=1)",
   lambda x, f: F.conv_transpose3d(x, f, None, 2, 1), X=normal(1, 2, 3, 2, 3),
   F=normal(2, 3, 3, 3, 2))
op("conv_transpose3d_all",
   "Y = conv_transpose3d(X, F, b, stride_d=2, stride_h=3, stride_w=1, pad_d=1, pad_h=0, pad_w=2, "
   "output_pad_d=1, output_pad_h=2, dilation_d=2, dilation_w=2, groups=2)",
   lambda x, f, b: F.conv_transpose3d(x, f, b, (2, 3, 1), (1, 0, 2), (1, 2, 0), 2, (2, 1, 2)),
   X=normal(1, 4, 3, 2, 5), F=normal(4, 2, 3, 2, 3), b=normal(4))

# ---- pools ----

op("max_pool1d", "Y = max_pool1d(X, k=3, stride=2, pad=1)", lambda x: F.max_pool1d(x, 3, 2, 1),
   X=normal(2, 3, 10))
op("max_pool1d_default", "Y = max_pool1d(X)", lambda x: F.max_pool1d(x, 2), X=normal(2, 3, 9))
op("max_pool1d_ceil", "Y = max_pool1d(X, k=3, stride=2, dilation=2, ceil_mode=1)",
   lambda x: F.max_pool1d(x, 3, 2, 0, 2, True), X=normal(1, 2, 12))
op("max_pool2d", "Y = max_pool2d(X, k=3, stride=2, pad=1)", lambda x: F.max_pool2d(x, 3, 2, 1),
   X=normal(2, 2, 8, 7))
op("max_pool2d_default", "Y = max_pool2d(X)", lambda x: F.max_pool2d(x, 2), X=normal(1, 2, 5, 6))
op("max_pool2d_ceil", "Y = max_pool2d(X, k=3, stride=2, pad=1, dilation=2, ceil_mode=1)",
   lambda x: F.max_pool2d(x, 3, 2, 1, 2, True), X=normal(1, 2, 9, 8))
op("max_pool2d_ceil_cut", "Y = max_pool2d(X, k=2, stride=3, pad=1, ceil_mode=1)",
   lambda x: F.max_pool2d(x, 2, 3, 1, 1, True), X=normal(1, 2, 8, 7))
op("max_pool2d_unequal", "Y = max_pool2d(X, kh=2, kw=3, stride_h=1, pad_w=1)",
   lambda x: F.max_pool2d(x, (2, 3), (1, 3), (0, 1)), X=normal(1, 2, 5, 9))
op("max_pool2d_with_indices",
   "Y, I = max_pool2d_with_indices(X, k=3, stride=2, pad=1, ceil_mode=1)",
   lambda x: F.max_pool2d(x, 3, 2, 1, 1, True, return_indices=True), X=normal(1, 2, 8, 7))
op("max_pool3d", "Y = max_pool3d(X, k=3, stride=2, pad=1)", lambda x: F.max_pool3d(x, 3, 2, 1),
   X=normal(1, 2, 5, 6, 7))
op("max_pool3d_ceil", "Y = max_pool3d(X, kd=2, kh=3, kw=2, stride=2, dilation=2, ceil_mode=1)",
   lambda x: F.max_pool3d(x, (2, 3, 2), 2, 0, 2, True), X=normal(1, 1, 6, 7, 6))
op("avg_pool1d", "Y = avg_pool1d(X, k=3, stride=2, pad=1)", lambda x: F.avg_pool1d(x, 3, 2, 1),
   X=normal(2, 3, 10))
op("avg_pool1d_valid", "Y = avg_pool1d_valid(X, k=3, stride=2, pad=1, ceil_mode=1)",
   lambda x: F.avg_pool1d(x, 3, 2, 1, True, False), X=normal(2, 3, 10))
op("avg_pool1d_ceil", "Y = avg_pool1d_ceil(X, k=3, stride=2, pad=1)",
   lambda x: F.avg_pool1d(x, 3, 2, 1, True), X=normal(2, 3, 10))
op("avg_pool2d", "Y = avg_pool2d(X, k=3, stride=2, pad=1)", lambda x: F.avg_pool2d(x, 3, 2, 1),
   X=normal(2, 2, 8, 7))
op("avg_pool2d_default", "Y = avg_pool2d(X, kh=3, kw=2)", lambda x: F.avg_pool2d(x, (3, 2)),
   X=normal(1, 2, 7, 6))
op("avg_pool2d_valid", "Y = avg_pool2d_valid(X, k=3, stride=2, pad=1)",
   lambda x: F.avg_pool2d(x, 3, 2, 1, False, False), X=normal(1, 2, 8, 7))
op("avg_pool2d_valid_ceil", "Y = avg_pool2d_valid(X, kh=3, kw=2, stride=2, pad=1, ceil_mode=1)",
   lambda x: F.avg_pool2d(x, (3, 2), 2, 1, True, False), X=normal(1, 2, 8, 8))
op("avg_pool2d_ceil", "Y = avg_pool2d_ceil(X, k=3, stride=2, pad=1)",
   lambda x: F.avg_pool2d(x, 3, 2, 1, True), X=normal(1, 2, 8, 7))
op("avg_pool3d", "Y = avg_pool3d(X, k=3, stride=2, pad=1)", lambda x: F.avg_pool3d(x, 3, 2, 1),
   X=normal(1, 2, 5, 6, 7))
op("avg_pool3d_valid", "Y = avg_pool3d_valid(X, k=2, kw=3, stride=2, pad=1, ceil_mode=1)",
   lambda x: F.avg_pool3d(x, (2, 2, 3), 2, 1, True, False), X=normal(1, 2, 5, 4, 6))
op("adaptive_avg_pool1d", "Y = adaptive_avg_pool1d(X, OL=4)", lambda x: F.adaptive_avg_pool1d(x, 4),
   X=normal(2, 3, 11))
op("adaptive_avg_pool2d", "Y = adaptive_avg_pool2d(X, OH=3, OW=4)",
   lambda x: F.adaptive_avg_pool2d(x, (3, 4)), X=normal(2, 2, 7, 5))
op("adaptive_avg_pool2d_one", "Y = adaptive_avg_pool2d(X)", lambda x: F.adaptive_avg_pool2d(x, 1),
   X=normal(2, 2, 3, 5))
op("adaptive_avg_pool3d", "Y = adaptive_avg_pool3d(X, OD=2, OH=3, OW=2)",
   lambda x: F.adaptive_avg_pool3d(x, (2, 3, 2)), X=normal(1, 2, 5, 4, 3))
op("adaptive_max_pool2d", "Y = adaptive_max_pool2d(X, OH=3)", lambda x: F.adaptive_max_pool2d(x, 3),
   X=normal(2, 2, 7, 5))
op("global_avg_pool", "Y = global_avg_pool(X)", lambda x: x.flatten(2).mean(-1),
   X=normal(2, 3, 5, 4))
op("global_max_pool", "Y = global_max_pool(X)", lambda x: x.flatten(2).amax(-1),
   X=normal(2, 3, 5, 2, 2))

# ---- reductions ----

for name, function in {"sum": torch.sum, "mean": torch.mean, "prod": torch.prod, "max": torch.amax, "min": torch.amin,
                       "argmax": torch.argmax, "argmin": torch.argmin}.items():
    for suffix, dim in {"_last": -1, "_first": 0, "1": 1}.items():
        op(name + suffix, f"Y = {name}{suffix}(X)", lambda x, f=function, d=dim: f(x, d),
           X=normal(3, 5, 4))
    if not name.startswith("arg"):
        op(name + "_all", f"Y = {name}_all(X)", lambda x, f=function: f(x), X=normal(3, 2, 4))
op("argmax_ties", "Y = argmax_last(X)", lambda x: np.argmax(x.numpy(), -1),
   X=integers(-2, 2, 9, 13, dtype="f32", clause=False))
op("argmin_ties", "Y = argmin_last(X)", lambda x: np.argmin(x.numpy(), -1),
   X=integers(-2, 2, 9, 13, dtype="f32", clause=False))
op("sum_rank1", "Y = sum_last(X)", torch.sum, X=normal(1001))
for suffix, dim in {"_last": -1, "_first": 0, "1": 1}.items():
    op("var" + suffix, f"Y = var{suffix}(X)", lambda x, d=dim: torch.var(x, d), X=normal(3, 5, 4))
op("var_biased", "Y = var_last(X, correction=0)", lambda x: torch.var(x, -1, correction=0),
   X=normal(3, 7))
op("var_all", "Y = var_all(X)", torch.var, X=normal(3, 2, 4))
op("std_last", "Y = std_last(X)", lambda x: torch.std(x, -1), X=normal(3, 5, 4))
op("std_all", "Y = std_all(X, correction=0)", lambda x: torch.std(x, correction=0),
   X=normal(3, 2, 4))
op("norm_last", "Y = norm_last(X)", lambda x: torch.linalg.vector_norm(x, 2, -1), X=normal(3, 5, 4))
op("norm_all", "Y = norm_all(X)", torch.linalg.vector_norm, X=normal(3, 2, 4))
op("count_nonzero", "Y = count_nonzero(X)", torch.count_nonzero,
   X=integers(-2, 2, 5, 7, dtype="f32", clause=False))

# ---- scans ----


def loop(step, first):  # along the last dimension
    def run(*xs):
        out = []
        for t in range(xs[0].shape[-1]):
            out.append(step(out[-1], *(x[..., t] for x in xs)) if t else first(*(x[..., t] for x in xs)))
        return torch.stack(out, -1)
    return run


op("cumsum", "Y = cumsum(X)", lambda x: torch.cumsum(x, -1), X=normal(3, 2, 19))
op("cumsum_first", "Y = cumsum_first(X)", lambda x: torch.cumsum(x, 0), X=normal(19, 3))
op("cumsum1", "Y = cumsum1(X)", lambda x: torch.cumsum(x, 1), X=normal(2, 9, 3))
op("cumsum_i32", "Y = cumsum(X)", lambda x: torch.cumsum(x, -1), X=integers(-9, 9, 3, 7))
op("cumsum_exclusive", "Y = cumsum_exclusive(X)", lambda x: torch.cumsum(x, -1) - x,
   X=integers(-9, 9, 3, 19, dtype="f32"))
op("cumsum_reverse", "Y = cumsum_reverse(X)", lambda x: x.flip(-1).cumsum(-1).flip(-1),
   X=normal(3, 19))
op("cumsum_masked", "Y = cumsum_masked(X, M)", lambda x, m: torch.cumsum(x * m, -1),
   X=normal(3, 19), M=booleans(3, 19))
op("cumprod", "Y = cumprod(X)", lambda x: torch.cumprod(x, -1), X=normal(3, 2, 11))
op("cumprod1", "Y = cumprod1(X)", lambda x: torch.cumprod(x, 1), X=normal(2, 9, 3))
op("cumprod_exclusive", "Y = cumprod_exclusive(X)",
   lambda x: torch.cat((torch.ones(3, 1, dtype=torch.float64), torch.cumprod(x, -1)[:, :-1]), -1),
   X=normal(3, 11))
op("cumprod_reverse", "Y = cumprod_reverse(X)", lambda x: x.flip(-1).cumprod(-1).flip(-1),
   X=normal(3, 11))
op("cumprod_masked", "Y = cumprod_masked(X, M)",
   lambda x, m: torch.cumprod(torch.where(m, x, 1.0), -1), X=normal(3, 11), M=booleans(3, 11))
op("cummax", "Y = cummax(X)", lambda x: torch.cummax(x, -1).values, X=normal(3, 19))
op("cummin", "Y = cummin(X)", lambda x: torch.cummin(x, -1).values, X=normal(3, 19))
op("logcumsumexp", "Y = logcumsumexp(X)", lambda x: torch.logcumsumexp(x, -1),
   X=normal(3, 19, scale=3))
op("linear_scan", "Y = linear_scan(A, X)", loop(lambda y, a, x: a * y + x, lambda a, x: x),
   A=normal(3, 19), X=normal(3, 19))
op("moving_average", "Y = moving_average(X, a=0.3)",
   loop(lambda y, x: 0.3 * x + 0.7 * y, lambda x: x), X=normal(3, 19))


def state_space(x, a, k, q, s):
    out = []
    for t in range(x.shape[1]):
        s = torch.exp(a[:, t, :, None, None]) * s + torch.einsum("bhn,bhp->bhpn", k[:, t], x[:, t])
        out.append(torch.einsum("bhn,bhpn->bhp", q[:, t], s))
    return torch.stack(out, 1), s


op("state_space", "Y, SN = state_space(X, A, K, Q, S0)", state_space, X=normal(2, 6, 2, 3),
   A=uniform(-2, 0, 2, 6, 2), K=normal(2, 6, 2, 4), Q=normal(2, 6, 2, 4), S0=normal(2, 2, 3, 4))

# ---- shapes ----

op("concat0", "Y = concat0(X, Z)", lambda *x: torch.cat(x, 0), X=normal(2, 3), Z=normal(5, 3))
op("concat0_3", "Y = concat0(X, Z, P)", lambda *x: torch.cat(x, 0), X=normal(2, 3), Z=normal(5, 3),
   P=normal(1, 3))
op("concat1", "Y = concat1(X, Z)", lambda *x: torch.cat(x, 1), X=normal(2, 3, 4), Z=normal(2, 5, 4))
op("concat1_3", "Y = concat1(X, Z, P)", lambda *x: torch.cat(x, 1), X=normal(2, 3, 2, 2),
   Z=normal(2, 1, 2, 2), P=normal(2, 2, 2, 2))
op("concat1_4", "Y = concat1(X, Z, P, Q)", lambda *x: torch.cat(x, 1), X=normal(2, 3, 2),
   Z=normal(2, 1, 2), P=normal(2, 2, 2), Q=normal(2, 4, 2))
op("concat_last", "Y = concat_last(X, Z)", lambda *x: torch.cat(x, -1), X=normal(2, 3, 4),
   Z=normal(2, 3, 2))
op("concat_last_3", "Y = concat_last(X, Z, P)", lambda *x: torch.cat(x, -1), X=normal(3, 4),
   Z=normal(3, 2), P=normal(3, 5))
op("stack0", "Y = stack0(X, Z)", lambda *x: torch.stack(x, 0), X=normal(2, 3), Z=normal(2, 3))
op("slice_last", "Y = slice_last(X, begin=2, count=3)", lambda x: x[..., 2:5], X=normal(2, 3, 7))
op("slice_last_rest", "Y = slice_last(X, begin=2)", lambda x: x[..., 2:], X=normal(3, 7))
op("slice1", "Y = slice1(X, begin=1, count=2)", lambda x: x[:, 1:3], X=normal(2, 5, 3))
op("transpose", "Y = transpose(X)", lambda x: x.mT, X=normal(2, 3, 5))
op("transpose01", "Y = transpose01(X)", lambda x: x.transpose(0, 1), X=normal(2, 3, 4))
op("transpose12", "Y = transpose12(X)", lambda x: x.transpose(1, 2), X=normal(2, 3, 4, 5))
op("nchw_to_nhwc", "Y = nchw_to_nhwc(X)", lambda x: x.permute(0, 2, 3, 1), X=normal(2, 3, 4, 5))
op("nhwc_to_nchw", "Y = nhwc_to_nchw(X)", lambda x: x.permute(0, 3, 1, 2), X=normal(2, 3, 4, 5))
op("flatten", "Y = flatten(X)", lambda x: x.flatten(1), X=normal(2, 3, 4, 5))
op("split_heads", "Y = split_heads(X, heads=3)", lambda x: x.view(2, 5, 3, 4).transpose(1, 2),
   X=normal(2, 5, 12))
op("merge_heads", "Y = merge_heads(X)", lambda x: x.transpose(1, 2).reshape(2, 5, 12),
   X=normal(2, 3, 5, 4))
op("channel_shuffle", "Y = channel_shuffle(X, groups=3)",
   lambda x: x.reshape(2, 3, 4, 2, 3).transpose(1, 2).reshape(2, 12, 2, 3), X=normal(2, 12, 2, 3))
op("pixel_shuffle", "Y = pixel_shuffle(X, factor=3)", lambda x: F.pixel_shuffle(x, 3),
   X=normal(1, 18, 2, 3))
op("pixel_unshuffle", "Y = pixel_unshuffle(X)", lambda x: F.pixel_unshuffle(x, 2),
   X=normal(1, 3, 4, 6))
op("roll", "Y = roll(X, shift=3)", lambda x: torch.roll(x, 3, -1), X=normal(2, 7))
op("roll_back", "Y = roll(X, shift=-9)", lambda x: torch.roll(x, -9, -1), X=normal(2, 7))
op("roll12", "Y = roll12(X, shift_h=-1, shift_w=2)", lambda x: torch.roll(x, (-1, 2), (1, 2)),
   X=normal(2, 4, 5, 3))
op("flip", "Y = flip(X)", lambda x: torch.flip(x, (-1,)), X=normal(2, 3, 7))
op("flip_first", "Y = flip_first(X)", lambda x: torch.flip(x, (0,)), X=normal(4, 3))
op("pad", "Y = pad(X, left=2, right=3, value=1.5)", lambda x: F.pad(x, (2, 3), value=1.5),
   X=normal(2, 3, 4))
op("pad_negative", "Y = pad(X, left=-1, right=2)", lambda x: F.pad(x, (-1, 2)), X=normal(2, 5))
op("pad2d", "Y = pad2d(X, left=1, right=0, top=2, bottom=3)", lambda x: F.pad(x, (1, 0, 2, 3)),
   X=normal(2, 3, 4))
op("pad2d_replicate", "Y = pad2d_replicate(X, left=1, right=4, top=2)",
   lambda x: F.pad(x, (1, 4, 2, 1), mode="replicate"), X=normal(1, 2, 3, 4))
op("pad2d_reflect", "Y = pad2d_reflect(X, left=1, right=3, top=2, bottom=0)",
   lambda x: F.pad(x, (1, 3, 2, 0), mode="reflect"), X=normal(1, 2, 3, 4))
op("tril", "Y = tril(X, diagonal=-1)", lambda x: torch.tril(x, -1), X=normal(2, 4, 5))
op("triu", "Y = triu(X, diagonal=1)", lambda x: torch.triu(x, 1), X=normal(5, 4))
op("diagonal", "Y = diagonal(X)", torch.diag, X=normal(5, 5))
op("where", "Y = where(M, X, Z)", torch.where, M=booleans(3, 5), X=normal(3, 5), Z=normal(3, 5))
op("masked_fill", "Y = masked_fill(X, M, value=-3.5)", lambda x, m: x.masked_fill(m, -3.5),
   X=normal(3, 5), M=booleans(3, 5))
op("repeat_interleave", "Y = repeat_interleave(X, repeats=3)", lambda x: x.repeat_interleave(3, -1),
   X=normal(2, 5))
op("tile", "Y = tile(X, repeats=3)", lambda x: x.repeat(1, 3), X=normal(2, 5))
op("unfold", "Y = unfold(X, kh=3, kw=2, stride=2, pad=1, dilation=2)",
   lambda x: F.unfold(x, (3, 2), 2, 1, 2), X=normal(2, 3, 7, 6))

op("upsample_nearest1d", "Y = upsample_nearest1d(X, factor=3)",
   lambda x: F.interpolate(x, scale_factor=3), X=normal(2, 3, 5))
op("upsample_nearest2d", "Y = upsample_nearest2d(X)", lambda x: F.interpolate(x, scale_factor=2),
   X=normal(2, 2, 3, 5))
op("resize_nearest2d", "Y = resize_nearest2d(X, OH=4, OW=9)", lambda x: F.interpolate(x, (4, 9)),
   X=normal(1, 2, 7, 5))
op("resize_bilinear2d", "Y = resize_bilinear2d(X, OH=4, OW=9)",
   lambda x: F.interpolate(x, (4, 9), mode="bilinear"), X=normal(1, 2, 7, 5))
op("resize_bilinear2d_twice", "Y = resize_bilinear2d(X)",
   lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), X=normal(1, 2, 3, 4))
op("resize_bilinear2d_corners", "Y = resize_bilinear2d_corners(X, OH=4, OW=9)",
   lambda x: F.interpolate(x, (4, 9), mode="bilinear", align_corners=True), X=normal(1, 2, 7, 5))
op("resize_bilinear2d_corners_one", "Y = resize_bilinear2d_corners(X, OH=1, OW=3)",
   lambda x: F.interpolate(x, (1, 3), mode="bilinear", align_corners=True), X=normal(1, 2, 4, 5))

# ---- losses ----

pair = dict(X=normal(5, 7), T=normal(5, 7))
op("mse_loss", "Y = mse_loss(X, T)", F.mse_loss, **pair)
op("l1_loss", "Y = l1_loss(X, T)", F.l1_loss, **pair)
op("smooth_l1_loss", "Y = smooth_l1_loss(X, T, beta=0.5)",
   lambda x, t: F.smooth_l1_loss(x, t, beta=0.5), **pair)
op("huber_loss", "Y = huber_loss(X, T, delta=1.5)", lambda x, t: F.huber_loss(x, t, delta=1.5),
   **pair)
op("cross_entropy", "Y = cross_entropy(X, T)", F.cross_entropy, X=normal(6, 11, scale=3),
   T=integers(0, 10, 6))
op("cross_entropy_ignore", "Y = cross_entropy_ignore(X, T)", F.cross_entropy, X=normal(9, 11),
   T=targets(11, [1, 4, 5], 9))
op("cross_entropy_smooth", "Y = cross_entropy_smooth(X, T, smoothing=0.2)",
   lambda x, t: F.cross_entropy(x, t, label_smoothing=0.2), X=normal(6, 11), T=integers(0, 10, 6))
op("cross_entropy_soft", "Y = cross_entropy_soft(X, P)", F.cross_entropy, X=normal(6, 11),
   P=probabilities(6, 11))
op("nll_loss", "Y = nll_loss(X, T)", F.nll_loss, X=normal(6, 11), T=integers(0, 10, 6))
op("kl_div", "Y = kl_div(X, T)", lambda x, t: F.kl_div(x, t, reduction="batchmean"),
   X=normal(6, 11), T=probabilities(6, 11))
op("kl_div_mean", "Y = kl_div_mean(X, T)", F.kl_div, X=normal(6, 11), T=probabilities(6, 11))
op("hinge_loss", "Y = hinge_loss(X, T)", lambda x, t: torch.clamp(1 - x * t, min=0).mean(),
   X=normal(5, 7), T=signs(5, 7))
op("hinge_embedding_loss", "Y = hinge_embedding_loss(X, T, margin=0.5)",
   lambda x, t: F.hinge_embedding_loss(x, t, margin=0.5), X=normal(5, 7), T=signs(5, 7))
op("soft_margin_loss", "Y = soft_margin_loss(X, T)", F.soft_margin_loss, X=normal(5, 7),
   T=signs(5, 7))
op("margin_ranking_loss", "Y = margin_ranking_loss(X, Z, T, margin=0.25)",
   lambda x, z, t: F.margin_ranking_loss(x, z, t, margin=0.25), X=normal(17), Z=normal(17),
   T=signs(17))
op("pairwise_distance", "Y = pairwise_distance(X, Z)", F.pairwise_distance, X=normal(5, 7),
   Z=normal(5, 7))
triplet = dict(A=normal(9, 4), P=normal(9, 4), N=normal(9, 4))
op("triplet_margin_loss", "Y = triplet_margin_loss(A, P, N)", F.triplet_margin_loss, **triplet)
op("triplet_margin_loss_swap", "Y = triplet_margin_loss_swap(A, P, N, margin=0.5)",
   lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.5, swap=True), **triplet)
op("cosine_similarity", "Y = cosine_similarity(X, Z)", lambda x, z: F.cosine_similarity(x, z, -1),
   X=normal(2, 5, 7), Z=normal(2, 5, 7))
op("cosine_embedding_loss", "Y = cosine_embedding_loss(X, Z, T, margin=0.2)",
   lambda x, z, t: F.cosine_embedding_loss(x, z, t, 0.2), X=normal(9, 4), Z=normal(9, 4),
   T=signs(9, dtype="i32"))
op("bce_loss", "Y = bce_loss(X, T)", F.binary_cross_entropy, X=uniform(0, 1, 5, 7),
   T=uniform(0, 1, 5, 7))
op("bce_with_logits_loss", "Y = bce_with_logits_loss(X, T)", F.binary_cross_entropy_with_logits,
   X=normal(5, 7, scale=3), T=uniform(0, 1, 5, 7))
op("poisson_nll_loss", "Y = poisson_nll_loss(X, T)", F.poisson_nll_loss, X=normal(5, 7),
   T=uniform(0, 5, 5, 7))
op("gaussian_nll_loss", "Y = gaussian_nll_loss(X, T, V)", F.gaussian_nll_loss, X=normal(5, 7),
   T=normal(5, 7), V=uniform(0.1, 2, 5, 7))

# ---- attention ----

sdpa = F.scaled_dot_product_attention
qkv = dict(Q=normal(2, 3, 5, 8), K=normal(2, 3, 7, 8), V=normal(2, 3, 7, 6))
op("attention", "O = attention(Q, K, V)", sdpa, **qkv)
op("attention_rank2", "O = attention(Q, K, V, sc=0.5)", lambda q, k, v: sdpa(q, k, v, scale=0.5),
   Q=normal(5, 4), K=normal(6, 4), V=normal(6, 3))
op("attention_mask", "O = attention(Q, K, V, M)", sdpa, **qkv, M=causal_mask(5, 7))
op("attention_bias", "O = attention_bias(Q, K, V, B)", sdpa, **qkv, B=normal(5, 7))
op("causal_attention", "O = causal_attention(Q, K, V)",
   lambda q, k, v: sdpa(q, k, v, is_causal=True), Q=normal(2, 9, 8), K=normal(2, 9, 8),
   V=normal(2, 9, 8))
op("causal_attention_cache", "O = causal_attention(Q, K, V, offset=4)",
   lambda q, k, v: sdpa(q, k, v, attn_mask=torch.ones(3, 7).tril(4).bool()), Q=normal(2, 3, 8),
   K=normal(2, 7, 8), V=normal(2, 7, 8))
band = torch.ones(11, 11).tril().bool() & ~torch.ones(11, 11).tril(-4).bool()
op("window_attention", "O = window_attention(Q, K, V, window=4)",
   lambda q, k, v: sdpa(q, k, v, attn_mask=band), Q=normal(2, 11, 8), K=normal(2, 11, 8),
   V=normal(2, 11, 5))
heads = dict(Q=normal(2, 6, 5, 4), K=normal(2, 2, 5, 4), V=normal(2, 2, 5, 3))
op("grouped_attention", "O = grouped_attention(Q, K, V)",
   lambda q, k, v: sdpa(q, k, v, enable_gqa=True), **heads)
op("grouped_attention_causal", "O = grouped_attention(Q, K, V, causal=1)",
   lambda q, k, v: sdpa(q, k, v, is_causal=True, enable_gqa=True), **heads)


def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    weights = q @ k.mT
    return weights / weights.sum(-1, keepdim=True) @ v


op("linear_attention", "O = linear_attention(Q, K, V)", linear_attention, **qkv)


def multi_head(heads, causal):
    def run(x, w, b, p, o):
        mask = torch.ones(x.shape[1], x.shape[1]).triu(1).bool() if causal else None
        y = x.transpose(0, 1)
        return F.multi_head_attention_forward(y, y, y, x.shape[2], heads, w, b, None, None, False, 0.0, p, o,
                                              need_weights=False, attn_mask=mask)[0].transpose(0, 1)
    return run


mha = dict(X=normal(2, 5, 6), W=normal(18, 6, scale=0.4), b=normal(18), P=normal(6, 6, scale=0.4), p=normal(6))
op("multi_head_attention", "Y = multi_head_attention(X, W, b, P, p, heads=2)", multi_head(2, False),
   **mha)
op("multi_head_attention_causal", "Y = multi_head_attention(X, W, b, P, p, heads=3, causal=1)",
   multi_head(3, True), **mha)


def turn(first, second, angle):  # pairs as complex numbers
    z = torch.complex(first, second) * torch.complex(torch.cos(angle), torch.sin(angle))
    return z.real, z.imag


def rotary(x, c=None, s=None, base=10000.0):
    n = x.shape[-1] // 2
    if c is not None:
        a, b = x[..., :n], x[..., n:]
        return torch.cat((a * c - b * s, b * c + a * s), -1)
    angle = torch.arange(x.shape[-2]).double()[:, None] / base ** (torch.arange(n).double() / n)
    return torch.cat(turn(x[..., :n], x[..., n:], angle), -1)


def rotary_interleaved(x, c, s):
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.complex(c, s)
    return torch.view_as_real(z).flatten(-2)


op("rotary", "Y = rotary(X, A, B)", rotary, X=normal(2, 3, 5, 8), A=uniform(-1, 1, 5, 4),
   B=uniform(-1, 1, 5, 4))
op("rotary_angles", "Y = rotary(X)", rotary, X=normal(2, 5, 6))
op("rotary_angles_base", "Y = rotary(X, base=500.0)", lambda x: rotary(x, base=500.0),
   X=normal(4, 10))
op("rotary_interleaved", "Y = rotary_interleaved(X, A, B)", rotary_interleaved,
   X=normal(2, 5, 8), A=uniform(-1, 1, 5, 4), B=uniform(-1, 1, 5, 4))

# ---- embeddings ----

op("embedding", "Y = embedding(T, W)", F.embedding, T=integers(0, 10, 2, 5), W=normal(11, 3))
op("embedding_no_domain", "Y = embedding(T, W)", F.embedding, T=integers(0, 10, 5, clause=False),
   W=normal(11, 3))
op("embedding_position", "Y = embedding_position(T, W, P)", lambda t, w, p: F.embedding(t, w) + p,
   T=integers(0, 10, 2, 5), W=normal(11, 3), P=normal(5, 3))
op("embedding_bag", "Y = embedding_bag(T, W)", lambda t, w: F.embedding_bag(t, w, mode="sum"),
   T=integers(0, 10, 4, 5), W=normal(11, 3))
op("embedding_bag_mean", "Y = embedding_bag_mean(T, W)",
   lambda t, w: F.embedding_bag(t, w, mode="mean"), T=integers(0, 10, 4, 5), W=normal(11, 3))
op("index_select", "Y = index_select(X, T)", lambda x, t: torch.index_select(x, 0, t),
   X=normal(5, 2, 3), T=integers(0, 4, 7))
op("gather_last", "Y = gather_last(X, T)", lambda x, t: torch.gather(x, -1, t), X=normal(2, 3, 7),
   T=integers(0, 6, 2, 3, 4))
op("one_hot", "Y = one_hot(T, classes=5)", lambda t: F.one_hot(t, 5), T=integers(0, 4, 3, 4))
op("index_add", "Y = index_add(X, T, count=5)",
   lambda x, t: torch.zeros(5, 2, 3, dtype=torch.float64).index_add(0, t, x), X=normal(9, 2, 3),
   T=integers(0, 4, 9))
op("bincount", "Y = bincount(T, count=6)", lambda t: torch.bincount(t, minlength=6),
   T=integers(0, 5, 37))


def add_positions(x):
    s, d = x.shape[-2:]
    table = np.zeros((s, d))
    for p in range(s):
        for j in range(d):
            angle = p / 10000.0 ** (2 * (j // 2) / d)
            table[p, j] = np.cos(angle) if j % 2 else np.sin(angle)
    return x + torch.from_numpy(table)


op("add_positions", "Y = add_positions(X)", add_positions, X=normal(2, 5, 6))
op("add_positions_odd", "Y = add_positions(X)", add_positions, X=normal(4, 7))

# ---- recurrent layers ----


def recurrent(kind, reverse=False, **options):
    def run(x, w, u, b, d, *state):
        net = kind(x.shape[2], u.shape[1], **options).double()
        net.load_state_dict(dict(weight_ih_l0=w, weight_hh_l0=u, bias_ih_l0=b, bias_hh_l0=d))
        state = [s[None] for s in state]
        y, last = net(x.flip(0) if reverse else x, tuple(state) if len(state) > 1 else state[0])
        last = last if isinstance(last, tuple) else (last,)
        return (y.flip(0) if reverse else y, *(s[0] for s in last))
    return run


def cell(kind):
    def run(x, w, u, b, d, *state):
        net = kind(x.shape[1], u.shape[1]).double()
        net.load_state_dict(dict(weight_ih=w, weight_hh=u, bias_ih=b, bias_hh=d))
        return net(x, state if len(state) > 1 else state[0])
    return run


def weights(gates, time=True):
    first = dict(X=normal(4, 2, 5) if time else normal(2, 5))
    return dict(first, W=normal(gates * 3, 5, scale=0.5), U=normal(gates * 3, 3, scale=0.5),
                b=normal(gates * 3, scale=0.5), d=normal(gates * 3, scale=0.5), H0=normal(2, 3))


op("rnn", "Y, HN = rnn(X, W, U, b, d, H0)", recurrent(torch.nn.RNN), **weights(1))
op("rnn_reverse", "Y, HN = rnn(X, W, U, b, d, H0, reverse=1)", recurrent(torch.nn.RNN, True),
   **weights(1))
op("rnn_relu", "Y, HN = rnn_relu(X, W, U, b, d, H0)", recurrent(torch.nn.RNN, nonlinearity="relu"),
   **weights(1))
op("lstm", "Y, HN, CN = lstm(X, W, U, b, d, H0, C0)", recurrent(torch.nn.LSTM), **weights(4),
   C0=normal(2, 3))
op("lstm_reverse", "Y, HN, CN = lstm(X, W, U, b, d, H0, C0, reverse=1)",
   recurrent(torch.nn.LSTM, True), **weights(4), C0=normal(2, 3))
op("gru", "Y, HN = gru(X, W, U, b, d, H0)", recurrent(torch.nn.GRU), **weights(3))
op("gru_reverse", "Y, HN = gru(X, W, U, b, d, H0, reverse=1)", recurrent(torch.nn.GRU, True),
   **weights(3))
op("rnn_cell", "Y = rnn_cell(X, W, U, b, d, H0)", cell(torch.nn.RNNCell), **weights(1, False))
op("lstm_cell", "Y, C = lstm_cell(X, W, U, b, d, H0, C0)", cell(torch.nn.LSTMCell),
   **weights(4, False), C0=normal(2, 3))
op("gru_cell", "Y = gru_cell(X, W, U, b, d, H0)", cell(torch.nn.GRUCell), **weights(3, False))

# ---- backward passes ----

for name, function in {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "softplus": F.softplus, "hardswish": F.hardswish}.items():
    op(name + "_backward", f"dX = {name}_backward(dY, X)",
       lambda dy, x, f=function: grads(f, dy, x), dY=normal(5, 7), X=normal(5, 7, scale=2))
op("leaky_relu_backward", "dX = leaky_relu_backward(dY, X, 0.1)",
   lambda dy, x: grads(lambda v: F.leaky_relu(v, 0.1), dy, x), dY=normal(5, 7), X=normal(5, 7))
op("elu_backward", "dX = elu_backward(dY, X, 0.7)",
   lambda dy, x: grads(lambda v: F.elu(v, 0.7), dy, x), dY=normal(5, 7), X=normal(5, 7))
op("sigmoid_backward", "dX = sigmoid_backward(dY, Y)",
   lambda dy, y: grads(torch.sigmoid, dy, torch.logit(y)), dY=normal(5, 7),
   Y=uniform(0.01, 0.99, 5, 7))
op("tanh_backward", "dX = tanh_backward(dY, Y)",
   lambda dy, y: grads(torch.tanh, dy, torch.atanh(y)), dY=normal(5, 7),
   Y=uniform(-0.99, 0.99, 5, 7))
op("softmax_backward", "X1 = softmax(X)\ndX = softmax_backward(dY, X1)",
   lambda dy, x: (torch.softmax(x, -1), *grads(lambda v: torch.softmax(v, -1), dy, x)),
   dY=normal(3, 11), X=normal(3, 11))
op("log_softmax_backward", "X1 = log_softmax(X)\ndX = log_softmax_backward(dY, X1)",
   lambda dy, x: (torch.log_softmax(x, -1), *grads(lambda v: torch.log_softmax(v, -1), dy, x)),
   dY=normal(3, 11), X=normal(3, 11))
op("layer_norm_backward", "dX, dG, dB = layer_norm_backward(dY, X, G)",
   lambda dy, x, g: grads(lambda v, w, b: F.layer_norm(v, (13,), w, b), dy, x, g, torch.zeros_like(g)),
   dY=normal(2, 3, 13), X=normal(2, 3, 13), G=normal(13))
op("rms_norm_backward", "dX, dG = rms_norm_backward(dY, X, G)",
   lambda dy, x, g: grads(lambda v, w: F.rms_norm(v, (13,), w, 1e-5), dy, x, g),
   dY=normal(2, 3, 13), X=normal(2, 3, 13), G=normal(13))
op("batch_norm_backward", "dX, dG, dB = batch_norm_backward(dY, X, G)",
   lambda dy, x, g: grads(lambda v, w, b: F.batch_norm(v, None, None, w, b, training=True), dy, x, g, torch.zeros_like(g)),
   dY=normal(4, 3, 5, 2), X=normal(4, 3, 5, 2), G=normal(3))
op("linear_backward", "dX, dW, db = linear_backward(dY, X, W)",
   lambda dy, x, w: grads(F.linear, dy, x, w, torch.zeros(5, dtype=torch.float64)),
   dY=normal(2, 3, 5), X=normal(2, 3, 7), W=normal(5, 7))
op("matmul_backward", "dA, dB = matmul_backward(dY, A, B)",
   lambda dy, a, b: grads(torch.matmul, dy, a, b), dY=normal(2, 5, 3), A=normal(2, 5, 7),
   B=normal(2, 7, 3))


def conv2d_grads(*options):
    def run(dy, x, f):
        bias = torch.zeros(f.shape[0], dtype=torch.float64)
        return grads(lambda v, w, b: F.conv2d(v, w, b, *options), dy, x, f, bias)
    return run


op("conv2d_backward", "dX, dF, db = conv2d_backward(dY, X, F, pad=1)", conv2d_grads(1, 1),
   dY=normal(2, 4, 5, 6), X=normal(2, 3, 5, 6), F=normal(4, 3, 3, 3))
op("conv2d_backward_all",
   "dX, dF, db = conv2d_backward(dY, X, F, stride=2, pad=2, dilation=2, groups=2)",
   conv2d_grads(2, 2, 2, 2), dY=normal(2, 6, 4, 5), X=normal(2, 4, 8, 9), F=normal(6, 2, 3, 3))
op("conv2d_backward_unequal",
   "dX, dF, db = conv2d_backward(dY, X, F, stride_h=3, stride_w=2, pad_h=1, dilation_w=2)",
   conv2d_grads((3, 2), (1, 0), (1, 2)), dY=normal(1, 3, 3, 3), X=normal(1, 2, 8, 7),
   F=normal(3, 2, 3, 2))
op("max_pool2d_backward", "dX = max_pool2d_backward(dY, X, k=3, stride=2, pad=1)",
   lambda dy, x: grads(lambda v: F.max_pool2d(v, 3, 2, 1), dy, x), dY=normal(1, 2, 4, 4),
   X=normal(1, 2, 8, 7))
op("max_pool2d_backward_ties", "dX = max_pool2d_backward(dY, X)",
   lambda dy, x: grads(lambda v: F.max_pool2d(v, 2), dy, x), dY=normal(1, 2, 3, 3),
   X=integers(0, 1, 1, 2, 6, 7, dtype="f32", clause=False))
op("avg_pool2d_backward", "dX = avg_pool2d_backward(dY, k=3, stride=2, pad=1, H=8, W=7)",
   lambda dy: grads(lambda v: F.avg_pool2d(v, 3, 2, 1), dy, torch.zeros(1, 2, 8, 7, dtype=torch.float64)),
   dY=normal(1, 2, 4, 4))
op("embedding_backward", "dW = embedding_backward(dY, T, count=6)",
   lambda dy, t: grads(lambda w: F.embedding(t, w), dy, torch.zeros(6, 3, dtype=torch.float64)),
   dY=normal(9, 3), T=integers(0, 5, 9))
op("cross_entropy_backward", "dX = cross_entropy_backward(dY, X, T)",
   lambda dy, x, t: grads(lambda v: F.cross_entropy(v, t), dy, x), dY=normal(), X=normal(6, 11),
   T=integers(0, 10, 6))
op("mse_loss_backward", "dX = mse_loss_backward(dY, X, T)",
   lambda dy, x, t: grads(lambda v: F.mse_loss(v, t), dy, x), dY=normal(), X=normal(5, 7),
   T=normal(5, 7))
gradient = dict(dO=normal(2, 5, 6), Q=normal(2, 5, 8), K=normal(2, 7, 8), V=normal(2, 7, 6))
op("attention_backward", "dQ, dK, dV = attention_backward(dO, Q, K, V)",
   lambda dy, *x: grads(sdpa, dy, *x), **gradient)
op("attention_backward_causal", "dQ, dK, dV = attention_backward(dO, Q, K, V, causal=1)",
   lambda dy, *x: grads(lambda q, k, v: sdpa(q, k, v, is_causal=True), dy, *x), **gradient)
op("swiglu_backward", "dA, dB = swiglu_backward(dY, A, B)",
   lambda dy, a, b: grads(lambda v, w: F.silu(v) * w, dy, a, b), dY=normal(5, 7), A=normal(5, 7),
   B=normal(5, 7))

# ---- whole programs: basic forms of the language, without the library ----

program("softmax_program", """\
const R=5,N=37
in X: f32[R,N]
M[r] = max[j](X[r,j])
E[r,j] = exp(X[r,j]-M[r])
Y[r,j] = E[r,j] / sum[k](E[r,k])
out Y
""", lambda x: torch.softmax(x, -1), X=normal(5, 37))

program("layernorm_program", """\
const R=4,N=40
param eps=1e-5
in X: f32[R,N]  in G,B: f32[N]
U[r] = sum[j](X[r,j]) / N
V[r] = sum[j]((X[r,j]-U[r])*(X[r,j]-U[r])) / N
Y[r,j] = (X[r,j]-U[r])*rsqrt(V[r]+eps)*G[j] + B[j]
out Y
""", lambda x, g, b: F.layer_norm(x, (40,), g, b), X=normal(4, 40), G=normal(40), B=normal(40))

program("gemm_bias_gelu_program", """\
const M=6,N=9,K=17
in A: f32[M,K]  in W: f32[N,K]  in b: f32[N]
def gelu(x) = 0.5*x*(1+erf(x*0.7071067811865476))
Y[m,n] = gelu(sum[k](A[m,k]*W[n,k]) + b[n])
out Y
""", lambda a, w, b: F.gelu(F.linear(a, w, b)), A=normal(6, 17), W=normal(9, 17, scale=0.25), b=normal(9))

program("conv2d_group_program", """\
const N=2,C=4,H=7,Wd=6,K=6,G=2,R=3,S=3,st=2,pd=1,dl=1
const OH=(H+2*pd-dl*(R-1)-1)/st+1, OW=(Wd+2*pd-dl*(S-1)-1)/st+1
in X: f32[N,C,H,Wd]  in W: f32[K,C/G,R,S]  in b: f32[K]
Y[n,k,y:OH,x:OW] = sum[c,r,s](X[n, k/(K/G)*(C/G)+c, y*st+r*dl-pd, x*st+s*dl-pd |0] * W[k,c,r,s]) + b[k]
out Y
""", lambda x, w, b: F.conv2d(x, w, b, 2, 1, 1, 2), X=normal(2, 4, 7, 6), W=normal(6, 2, 3, 3), b=normal(6))

program("conv_transpose2d_program", """\
const N=2,C=3,H=4,Wd=5,K=4,R=3,S=3,st=2,pd=1,opad=1
const OH=(H-1)*st-2*pd+R+opad, OW=(Wd-1)*st-2*pd+S+opad
in X: f32[N,C,H,Wd]  in W: f32[C,K,R,S]
Y[n,k,y:OH,x:OW] = sum[c,r,s ? (y+pd-r)%st==0 && (x+pd-s)%st==0](X[n,c,(y+pd-r)/st,(x+pd-s)/st |0] * W[c,k,r,s])
out Y
""", lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1), X=normal(2, 3, 4, 5), W=normal(3, 4, 3, 3))

program("maxpool2d_program", """\
const N=2,C=3,H=8,Wd=7,R=3,st=2,pd=1
const OH=(H+2*pd-R)/st+1, OW=(Wd+2*pd-R)/st+1
in X: f32[N,C,H,Wd]
Y[n,c,y:OH,x:OW] = max[r:R,s:R](X[n,c,y*st+r-pd,x*st+s-pd | -inf])
out Y
""", lambda x: F.max_pool2d(x, 3, 2, 1), X=normal(2, 3, 8, 7))

program("cumsum_program", """\
const R=3,N=20
in X: f32[R,N]
Y[r,t:N] = Y[r,t-1|0] + X[r,t]
Z[r,t:N] = Z[r,t-1|0] + X[r,t-1|0]
V[r,t:N] = V[r,t-1|0] + X[r,N-1-t]
Rv[r,t:N] = V[r,N-1-t]
out Y,Z,Rv
""", lambda x: (x.cumsum(-1), F.pad(x, (1, 0)).cumsum(-1)[:, :-1], x.flip(-1).cumsum(-1).flip(-1)), X=normal(3, 20))

program("attention_program", """\
const H=2,S=9,D=8
param sc=1/sqrt(D)
in Q,K,V: f32[H,S,D]
P[h,i,j:S] = if(j<=i, sc*sum[d](Q[h,i,d]*K[h,j,d]), -inf)
M[h,i] = max[j](P[h,i,j])
E[h,i,j] = exp(P[h,i,j]-M[h,i])
O[h,i,d] = sum[j](E[h,i,j]*V[h,j,d]) / sum[j2](E[h,i,j2])
out O
""", lambda q, k, v: sdpa(q, k, v, is_causal=True), Q=normal(2, 9, 8), K=normal(2, 9, 8), V=normal(2, 9, 8))

program("cross_entropy_program", """\
const B=6,C=11
in X: f32[B,C]  in T: i32[B]
M[b] = max[c](X[b,c])
L[b] = log(sum[c](exp(X[b,c]-M[b]))) + M[b] - X[b,T[b]]
Y[] = sum[b](L[b]) / B
out Y
""", F.cross_entropy, X=normal(6, 11), T=integers(0, 10, 6))

program("groupnorm_program", """\
const N=2,G=2,D=3,H=4,Wd=5
param eps=1e-5
in X: f32[N,G*D,H,Wd]  in A,B: f32[G*D]
U[n,g:G] = sum[d:D,y,x](X[n,g*D+d,y,x]) / (D*H*Wd)
V[n,g:G] = sum[d:D,y,x]((X[n,g*D+d,y,x]-U[n,g])*(X[n,g*D+d,y,x]-U[n,g])) / (D*H*Wd)
Y[n,c,y,x] = (X[n,c,y,x]-U[n,c/D])*rsqrt(V[n,c/D]+eps)*A[c] + B[c]
out Y
""", lambda x, a, b: F.group_norm(x, 2, a, b), X=normal(2, 6, 4, 5), A=normal(6), B=normal(6))

program("depthwise_program", """\
const N=1,C=4,H=6,Wd=6,R=3
in X: f32[N,C,H,Wd]  in W: f32[C,R,R]
Y[n,c,y:H,x:Wd] = sum[r,s](X[n,c,y+r-1,x+s-1|0]*W[c,r,s])
out Y
""", lambda x, w: F.conv2d(x, w[:, None], padding=1, groups=4), X=normal(1, 4, 6, 6), W=normal(4, 3, 3))


def lstm_program(x, wi, wh, b):
    zero = torch.zeros(x.shape[1], wh.shape[1], dtype=torch.float64)
    return recurrent(torch.nn.LSTM)(x, wi, wh, b, torch.zeros_like(b), zero, zero)[0]


program("lstm_program", """\
const T=4,B=2,I=5,H=3
in X: f32[T,B,I]  in Wi: f32[4*H,I]  in Wh: f32[4*H,H]  in b: f32[4*H]
Gi[t,n,g] = sum[i](X[t,n,i]*Wi[g,i]) + b[g]
rec t:T {
  Z[t,n:B,g:4*H] = Gi[t,n,g] + sum[j:H](Hs[t-1,n,j|0]*Wh[g,j])
  Cs[t,n:B,j:H] = sigmoid(Z[t,n,H+j])*Cs[t-1,n,j|0] + sigmoid(Z[t,n,j])*tanh(Z[t,n,2*H+j])
  Hs[t,n:B,j:H] = sigmoid(Z[t,n,3*H+j])*tanh(Cs[t,n,j])
}
out Hs
""", lstm_program, X=normal(4, 2, 5), Wi=normal(12, 5, scale=0.5), Wh=normal(12, 3, scale=0.5), b=normal(12))

program("argmax_program", """\
const R=5,N=30
in X: f32[R,N]
Y[r] = argmax[j](X[r,j])
out Y
""", lambda x: torch.argmax(x, -1), X=normal(5, 30))

program("bmm_tn_program", """\
const B=3,M=5,N=6,K=7
in A: f32[B,K,M]  in W: f32[B,N,K]
Y[b,m,n] = sum[k](A[b,k,m]*W[b,n,k])
out Y
""", lambda a, w: a.mT @ w.mT, A=normal(3, 7, 5), W=normal(3, 6, 7))

program("trmm_program", """\
const N=9
in A,B: f32[N,N]
Y[i,j] = if(j<=i, sum[k ? k<=i && k>=j](A[i,k]*B[k,j]), 0)
out Y
""", lambda a, b: torch.tril(a) @ torch.tril(b), A=normal(9, 9), B=normal(9, 9))

program("layernorm_bwd_program", """\
const R=4,N=20
param eps=1e-5
in X,dY: f32[R,N]  in G: f32[N]
U[r] = sum[j](X[r,j])/N
S[r] = rsqrt(sum[j]((X[r,j]-U[r])*(X[r,j]-U[r]))/N + eps)
Xh[r,j] = (X[r,j]-U[r])*S[r]
a[r] = sum[j](dY[r,j]*G[j])/N
b[r] = sum[j](dY[r,j]*G[j]*Xh[r,j])/N
dX[r,j] = S[r]*(dY[r,j]*G[j] - a[r] - Xh[r,j]*b[r])
dG[j] = sum[r](dY[r,j]*Xh[r,j])
dB[j] = sum[r](dY[r,j])
out dX,dG,dB
""", lambda x, dy, g: grads(lambda v, w, b: F.layer_norm(v, (20,), w, b), dy, x, g, torch.zeros_like(g)),
        X=normal(4, 20), dY=normal(4, 20), G=normal(20))

# ---- whole programs: the examples of the language, at small sizes ----

LAYER_NORM = """\
op layer_norm
in X[...,N]  in G, B[N]
param eps = 1e-5
U[...] = sum[j](X[...,j]) / N
V[...] = sum[j]((X[...,j]-U[...])*(X[...,j]-U[...])) / N
Y[...,j]: like X = (X[...,j]-U[...])*rsqrt(V[...]+eps)*G[j] + B[j]
out Y
"""
program("layer_norm_example", LAYER_NORM + """
op task
dim R=2, S=5, N=13
in X: f32[R,S,N]  in G, B: f32[N]
Y = layer_norm(X, G, B)
out Y
""", lambda x, g, b: F.layer_norm(x, (13,), g, b), X=normal(2, 5, 13), G=normal(13), B=normal(13))

program("block_example", """\
op block
dim B=2, S=5, D=13
in X: f32[B,S,D]  in G, H: f32[D]
Y = X + gelu(layer_norm(X, G, H, eps=1e-6))
out Y
case odd S=37 D=509 check
""", lambda x, g, h: x + F.gelu(F.layer_norm(x, (13,), g, h, 1e-6)), X=normal(2, 5, 13), G=normal(13), H=normal(13))

program("conv2d_example", """\
op conv2d
in X[N,C,H,W]  in F[K,CG,R,S]
const stride=1, pad=0, dilation=1, groups=1
const OH=(H+2*pad-dilation*(R-1)-1)/stride+1, OW=(W+2*pad-dilation*(S-1)-1)/stride+1
require C == CG*groups && K % groups == 0
Y[n,k,y:OH,x:OW]: like X = sum[c,r,s](F[k,c,r,s] *
    X[n, k/(K/groups)*CG+c, y*stride+r*dilation-pad, x*stride+s*dilation-pad | 0])
out Y

op conv2d
in X[N,C,H,W]  in F[K,CG,R,S]  in b[K]
const stride=1, pad=0, dilation=1, groups=1
Z = conv2d(X, F, stride=stride, pad=pad, dilation=dilation, groups=groups)
Y[n,k,y,x]: like X = Z[n,k,y,x] + b[k]
out Y

op task
in X: f32[2,4,9,8]  in F: f32[6,2,3,3]  in b: f32[6]
Y = conv2d(X, F, b, stride=2, pad=2, dilation=2, groups=2)
out Y
""", lambda x, f, b: F.conv2d(x, f, b, 2, 2, 2, 2), X=normal(2, 4, 9, 8), F=normal(6, 2, 3, 3), b=normal(6))

program("concat1_example", """\
op concat1
in X[N,A,...]  in Z[N,B,...]
Y[n,c:A+B,...]: like X = if(c < A, X[n,c,...|0], Z[n,c-A,...|0])
out Y

op task
dim N=2, A=3, B=5, H=4, W=3
in X: f32[N,A,H,W]  in Z: f32[N,B,H,W]
Y = concat1(X, Z)
out Y
""", lambda x, z: torch.cat((x, z), 1), X=normal(2, 3, 4, 3), Z=normal(2, 5, 4, 3))


def bilstm(x, wf, wb, uf, ub, h0, c0):
    net = torch.nn.LSTM(x.shape[2], uf.shape[1], batch_first=True, bidirectional=True, bias=False).double()
    net.load_state_dict(dict(weight_ih_l0=wf, weight_hh_l0=uf, weight_ih_l0_reverse=wb, weight_hh_l0_reverse=ub))
    return net(x, (h0, c0))[0]


program("bilstm_example", """\
op bilstm
dim T=5, B=2, I=4, H=3
in X: f32[B,T,I]
in Wf, Wb: f32[4*H,I] scale 1/sqrt(H)
in Uf, Ub: f32[4*H,H] scale 1/sqrt(H)
in H0, C0: f32[2,B,H]
Gf[t,n,g]   = sum[i](X[n,t,i]*Wf[g,i])
Gb[t:T,n,g] = sum[i](X[n,T-1-t,i]*Wb[g,i])
rec t:T {
    Zf[t,n:B,g:4*H] = Gf[t,n,g] + sum[j:H](Hf[t-1,n,j | H0[0,n,j]]*Uf[g,j])
    Cf[t,n:B,j:H] = sigmoid(Zf[t,n,H+j])*Cf[t-1,n,j | C0[0,n,j]] + sigmoid(Zf[t,n,j])*tanh(Zf[t,n,2*H+j])
    Hf[t,n:B,j:H] = sigmoid(Zf[t,n,3*H+j])*tanh(Cf[t,n,j])
    Zb[t,n:B,g:4*H] = Gb[t,n,g] + sum[j:H](Hb[t-1,n,j | H0[1,n,j]]*Ub[g,j])
    Cb[t,n:B,j:H] = sigmoid(Zb[t,n,H+j])*Cb[t-1,n,j | C0[1,n,j]] + sigmoid(Zb[t,n,j])*tanh(Zb[t,n,2*H+j])
    Hb[t,n:B,j:H] = sigmoid(Zb[t,n,3*H+j])*tanh(Cb[t,n,j])
}
Y[n:B,t:T,j:2*H] = if(j < H, Hf[t,n,j|0], Hb[T-1-t,n,j-H|0])
out Y
""", bilstm, X=normal(2, 5, 4), Wf=normal(12, 4, scale=0.5), Wb=normal(12, 4, scale=0.5), Uf=normal(12, 3, scale=0.5),
        Ub=normal(12, 3, scale=0.5), H0=normal(2, 2, 3), C0=normal(2, 2, 3))

program("top1_example", """\
op top1
dim B=9, C=4, D=3
in X: f32[B,C]  in E: f32[C,D]  in T: i32[B] from 0 to C-1
K[b]   = argmax[c](X[b,c])
Y[b,d] = E[K[b],d]
Hit[]  = sum[b](i32(K[b] == T[b]))
out K, Y, Hit
""", lambda x, e, t: (x.argmax(1), e[x.argmax(1)], (x.argmax(1) == t).sum()), X=normal(9, 4), E=normal(4, 3), T=integers(0, 3, 9))

program("hgemm_example", """\
op hgemm
dim M=5, N=7, K=11
in A: f16[M,K]; in W: f16[K,N]
Y[m,n]: f16 = sum[k](A[m,k]*W[k,n])
out Y
""", torch.matmul, A=normal(5, 11, dtype="f16"), W=normal(11, 7, dtype="f16"))

program("window_attention_example", """\
op window_attention
dim H=2, D=4
dim any S=9
const w = 3
param sc = 1/sqrt(D)
require S >= 2
in Q, K, V: f32[H,S,D]
P[h,i,j:S] = if(j <= i && i-j < w, sc*sum[d](Q[h,i,d]*K[h,j,d]), -inf)
A = softmax(P)
O[h,i,d] = sum[j ? j <= i && i-j < w](A[h,i,j]*V[h,j,d])
out O
""", lambda q, k, v: sdpa(q, k, v, attn_mask=torch.ones(9, 9).tril().bool() & ~torch.ones(9, 9).tril(-3).bool()),
        Q=normal(2, 9, 4), K=normal(2, 9, 4), V=normal(2, 9, 4))

program("qlinear_example", """\
op qlinear
dim M=5, N=7, K=33
in A: i8[M,K]; in W: i8[K,N]
in s: f32[N] from 0.001 to 0.01
C[m,n] = sum[k](A[m,k]*W[k,n])
Y[m,n]: i8 = i8(clamp(round(C[m,n]*s[n]), -128, 127))
out C, Y
""", lambda a, w, s: (a @ w, torch.clamp(torch.round((a @ w) * s), -128, 127).int()),
        A=integers(-128, 127, 5, 33, dtype="i8", clause=False), W=integers(-128, 127, 33, 7, dtype="i8", clause=False),
        s=uniform(0.001, 0.01, 7))

# ---- the language itself: what the library does not reach ----

program("functions", """\
in X: f32[17] from 0.1 to 3
A[i] = exp2(X[i]) + expm1(X[i]) + log(X[i]) + log2(X[i]) + log1p(X[i])
B[i] = sin(X[i]) + 2*cos(X[i]) + 3*tan(0.4*X[i]) + 4*atan(X[i])
C[i] = sinh(X[i]) - 2*cosh(X[i]) + erf(X[i]) + pow(X[i], 1.7) + pow(2, X[i])
D[i] = sqrt(X[i])*rsqrt(X[i]+1) + sigmoid(-X[i]) + exp(-X[i])*tanh(X[i])
out A, B, C, D
""", lambda x: (
    torch.exp2(x) + torch.expm1(x) + torch.log(x) + torch.log2(x) + torch.log1p(x),
    torch.sin(x) + 2 * torch.cos(x) + 3 * torch.tan(0.4 * x) + 4 * torch.atan(x),
    torch.sinh(x) - 2 * torch.cosh(x) + torch.erf(x) + x**1.7 + 2**x,
    torch.sqrt(x) * torch.rsqrt(x + 1) + torch.sigmoid(-x) + torch.exp(-x) * torch.tanh(x),
), X=uniform(0.1, 3, 17))

program("rounding", """\
in X: f32[13]
A[i] = floor(X[i]) + 100*ceil(X[i])
B[i] = round(X[i])                              # ties to even
C[i] = trunc(X[i]) + 0.25*sign(X[i])
D[i] = i32(X[i])                                # toward zero
E[i] = i32(X[i])/2*10 + i32(X[i])%2             # floor division and its remainder
G[i] = clamp(X[i], -1.5, 1) + f32(i/2)
out A, B, C, D, E, G
""", lambda x: (
    torch.floor(x) + 100 * torch.ceil(x), torch.round(x), torch.trunc(x) + 0.25 * torch.sign(x),
    torch.trunc(x).int(), torch.trunc(x).int() // 2 * 10 + torch.trunc(x).int() % 2, torch.clamp(x, -1.5, 1) + torch.arange(13) // 2,
), X=("f32", (13,), "", lambda rng: [-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, -3, 3, -0.2, 0.7, 1.2, -1.9]))


def int_arithmetic(a, b):
    a, b = a.numpy(), b.numpy()
    return (a // 3, a % 3, -a // b * 2, (a * a).astype(np.int8).astype(np.int32), (a * 77).astype(np.uint8).astype(np.int32),
            (a.astype(np.int32) * 50000000).astype(np.int32), np.abs(a) + np.minimum(a, b) - np.maximum(a, 7),
            (a > b).astype(np.int32))


program("integers", """\
in A: i32[31] from -100 to 100
in B: i32[31] from 1 to 9
Q[i] = A[i]/3
R[i] = A[i]%3
S[i] = -A[i]/B[i]*2                             # (-A)/B first
W[i]: i8 = A[i]*A[i]
U[i]: u8 = A[i]*77
V[i]: i32 = A[i]*50000000
M[i] = abs(A[i]) + min(A[i], B[i]) - max(A[i], 7)
L[i] = A[i] > B[i]
out Q, R, S, W, U, V, M, L
""", int_arithmetic, A=integers(-100, 100, 31), B=integers(1, 9, 31))

program("int_reductions", """\
in A: i8[5,13]
S[i] = sum[j](A[i,j])
P[i] = prod[j ? j < 4](A[i,j])
M[i] = max[j](A[i,j])
N[i] = min[j](A[i,j])
G[i] = argmin[j](A[i,j])
C[i] = sum[j ? A[i,j] > 0](1)
E[i] = mean[j](A[i,j])
out S, P, M, N, G, C, E
""", lambda a: (a.sum(1), a[:, :4].prod(1), a.amax(1), a.amin(1), torch.from_numpy(np.argmin(a.numpy(), 1)), (a > 0).sum(1),
                a.double().mean(1)), A=integers(-128, 127, 5, 13, dtype="i8", clause=False))

program("no_terms", """\
in X: f32[3,5] from -1 to 1
S[i] = sum[j ? X[i,j] > 2](X[i,j])
P[i] = prod[j ? X[i,j] > 2](X[i,j])
M[i] = max(max[j ? X[i,j] > 2](X[i,j]), -7.0)   # the maximum of nothing is -inf
G[i] = argmax[j ? X[i,j] > 2](X[i,j])
T[i] = sum[j ? j < i](X[i,j])
out S, P, M, G, T
""", lambda x: (torch.zeros(3), torch.ones(3), torch.full((3,), -7.0), -torch.ones(3).int(), torch.tril(x, -1).sum(1)),
        X=uniform(-1, 1, 3, 5))

program("mixed_types", """\
in X: f32[7]  in Z: f64[7]  in T: i32[7] from 1 to 9  in M: bool[7]  in U: u8[7]
A[i] = X[i]*Z[i] + T[i]
B[i] = if(M[i] && T[i] > 3 || !M[i] && X[i] < 0, X[i]/T[i], U[i])
C[i:7] = sum[j ? M[j]](X[j])*i
D[i] = X[i] > 0 && M[i]
out A, B, C, D
""", lambda x, z, t, m, u: (
    x * z + t, torch.where(m & (t > 3) | ~m & (x < 0), x / t, u.double()), x[m].sum() * torch.arange(7), (x > 0) & m,
), X=normal(7), Z=normal(7, dtype="f64"), T=integers(1, 9, 7), M=booleans(7), U=integers(0, 255, 7, dtype="u8", clause=False))

program("cat_pieces", """\
dim N=3, A=2, B=4, C=1
in X: f32[N,A]  in Z: f32[N,B]  in P: f32[C]  in q: f32[]
Y[n,c] = cat[c](X[n,c], 0.5:3, Z[n,c]*c, P[c], q[]:1, Z[n,B-1-c]:B)
H[t,n] = cat[t](P[0]:1, X[n,t])
out Y, H
""", lambda x, z, p, q: (
    torch.cat((x, torch.full((3, 3), 0.5), z * torch.arange(4), p.expand(3, 1), q.expand(3, 1), z.flip(1)), 1),
    torch.cat((p.expand(1, 3), x.mT), 0)), X=normal(3, 2), Z=normal(3, 4), P=normal(1), q=normal())

program("flatten_pooled", """\
dim N=2, S=20
in X: f32[N,3,S,S]
A = max_pool2d(X, k=3, stride=2)
Y = flatten(max_pool2d(A, k=3, stride=2))       # divides by a size that an `if` has decided
out Y
""", lambda x: F.max_pool2d(F.max_pool2d(x, 3, 2), 3, 2).flatten(1), X=normal(2, 3, 20, 20))

program("subscripts", """\
const H=7, W=5, OH=4, OW=9
in X: f32[2,H,W]
def lo(o,n,m) = max(((2*o+1)*n-m)/(2*m), 0)
def fr(o,n,m) = if((2*o+1)*n < m, 0.0, 1.0*(((2*o+1)*n-m)%(2*m))/(2*m))
T[n,y:OH,x] = X[n,lo(y,H,OH),x]*(1-fr(y,H,OH)) + X[n,min(lo(y,H,OH)+1,H-1),x]*fr(y,H,OH)
Y[n,y,x:OW] = T[n,y,lo(x,W,OW)]*(1-fr(x,W,OW)) + T[n,y,min(lo(x,W,OW)+1,W-1)]*fr(x,W,OW)
R[n,y:H,x:W] = X[n, if(y < 3, abs(2-y), y), abs(x-2)]
out Y, R
""", lambda x: (F.interpolate(x[None], (4, 9), mode="bilinear")[0], x[:, [2, 1, 0, 3, 4, 5, 6]][:, :, [2, 1, 0, 1, 2]]),
        X=normal(2, 7, 5))

program("defaults", """\
in X: f32[5]  in Z: f32[9]  in T: i32[4] from -3 to 7
Y[i:9] = X[i-2 | Z[i]]                          # out of bounds: an element of another tensor
V[i:9,j:3] = X[i+j-3 | Z[i-j | 7]]
G[k] = X[T[k] | -1.5]
out Y, V, G
""", lambda x, z, t: (
    [x[i - 2] if 0 <= i - 2 < 5 else z[i] for i in range(9)],
    [[x[i + j - 3] if 0 <= i + j - 3 < 5 else z[i - j] if i >= j else 7.0 for j in range(3)] for i in range(9)],
    [x[k] if 0 <= k < 5 else -1.5 for k in t.tolist()]), X=normal(5), Z=normal(9), T=integers(-3, 7, 4))


def sort(x):
    values, places = torch.sort(x, dim=1, descending=True, stable=True)
    return values, places, values[:, :3]


program("sort_by_rank", """\
in X: f32[3,8]
R[b,i] = sum[j ? X[b,j] > X[b,i] || X[b,j] == X[b,i] && j < i](1)
I[b,k:8] = sum[i ? R[b,i] == k](i)
S[b,k] = X[b,I[b,k] | 0]
T[b,k:3] = S[b,k]
out S, I, T
""", sort, X=integers(-3, 3, 3, 8, dtype="f32", clause=False))


def dft(x):
    z = torch.fft.fft(x, dim=1)
    return z.real**2 + z.imag**2


program("dft", """\
dim B=2, N=7
in X: f32[B,N]
R[b,k:N] = sum[p](X[b,p]*cos(2*pi*(k*p%N)/N))
I[b,k:N] = sum[p](X[b,p]*sin(2*pi*(k*p%N)/N))
Y[b,k] = R[b,k]*R[b,k] + I[b,k]*I[b,k]
out Y
""", dft, X=normal(2, 7))


def ring(x):
    rows = [x]
    for _ in range(5):
        rows.append(0.5 * (torch.roll(rows[-1], 1) + torch.roll(rows[-1], -1)))
    return torch.stack(rows[1:])


program("scan_free_subscripts", """\
dim T=5, N=7
in X: f32[N]
Y[t:T,i:N] = 0.5*(Y[t-1,(i+1)%N | X[(i+1)%N]] + Y[t-1,(i-1)%N | X[(i-1)%N]])
out Y
""", ring, X=normal(7))


def two_states(x):
    a, b = [], []
    for t in range(len(x)):
        before = b[t - 2] if t >= 2 else torch.tensor(0.25, dtype=torch.float64)
        a.append((a[-1] if t else x[0]) * 0.5 + before)
        b.append(torch.tanh(a[-1] + x[t] - (b[-1] if t else 0)))
    return torch.stack(a), torch.stack(b), torch.stack(b[::-1])


program("rec_two_states", """\
dim T=9
in X: f32[T]
rec t:T {
    A[t] = A[t-1 | X[0]]*0.5 + B[t-2 | 0.25]
    B[t] = tanh(A[t] + X[t] - B[t-1 | 0])
}
R[t:T] = B[T-1-t]
out A, B, R
""", two_states, X=normal(9))


def chunked(x, a, k, q):
    zero = torch.zeros(x.shape[0], x.shape[2], x.shape[3], k.shape[3], dtype=torch.float64)
    return state_space(x, a, k, q, zero)


program("mamba_chunked", """\
const L=4, NC=12/L
in X: f32[1,12,2,3]  in A: f32[1,12,2] from -1 to 0  in K, Q: f32[1,12,2,5]
S[b,h,c:NC,l:L] = S[b,h,c,l-1 | 0] + A[b,c*L+l,h]
D[b,c:NC,h,l:L,s:L] = sum[n](Q[b,c*L+l,h,n]*K[b,c*L+s,h,n])
Yd[b,c:NC,l:L,h,p] = sum[s:L ? s <= l](D[b,c,h,l,s]*exp(S[b,h,c,l]-S[b,h,c,s])*X[b,c*L+s,h,p])
E[b,c:NC,h,p,n] = sum[l:L](K[b,c*L+l,h,n]*exp(S[b,h,c,L-1]-S[b,h,c,l])*X[b,c*L+l,h,p])
Z[b,z:NC+1,h,p,n] = Z[b,z-1,h,p,n | 0]*exp(S[b,h,z-1,L-1 | 0]) + E[b,z-1,h,p,n | 0]
Y[b,t:12,h,p] = Yd[b,t/L,t%L,h,p] + exp(S[b,h,t/L,t%L])*sum[n](Q[b,t,h,n]*Z[b,t/L,h,p,n])
F[b,h,p,n] = Z[b,NC,h,p,n]
out Y, F
""", chunked, X=normal(1, 12, 2, 3), A=uniform(-1, 0, 1, 12, 2), K=normal(1, 12, 2, 5), Q=normal(1, 12, 2, 5))


def netvlad(x, clusters, g, b, centres):
    z = F.batch_norm((x @ clusters).flatten(0, 1), None, None, g, b, training=True).view(2, 5, 6)
    a = torch.softmax(z, -1)[:, :, :4]
    v = torch.einsum("bsk,bsd->bdk", a, x) - a.sum(1)[:, None] * centres
    return F.normalize(F.normalize(v, dim=1).flatten(1))


program("netvlad", """\
dim B=2, S=5, D=3, G=6
const K=4
in X: f32[B,S,D]  in C: f32[D,G]  in A, H: f32[G]  in P: f32[D,K]
Z[b,s,k] = sum[d](X[b,s,d]*C[d,k])
U[k] = mean[b,s](Z[b,s,k])
V[k] = mean[b,s]((Z[b,s,k]-U[k])*(Z[b,s,k]-U[k]))
N[b,s,k] = (Z[b,s,k]-U[k])*rsqrt(V[k]+1e-5)*A[k] + H[k]
W = softmax(N)
R[b,d,k:K] = sum[s](W[b,s,k]*X[b,s,d]) - sum[s](W[b,s,k])*P[d,k]
I[b,d,k] = R[b,d,k]/max(sqrt(sum[e](R[b,e,k]*R[b,e,k])), 1e-12)
Y[b,f:D*K] = I[b,f/K,f%K]/max(sqrt(sum[d,k](I[b,d,k]*I[b,d,k])), 1e-12)
out Y
""", netvlad, X=normal(2, 5, 3), C=normal(3, 6), A=normal(6), H=normal(6), P=normal(3, 4))

program("helpers", """\
op stats                                        # two results, a const and a param by name
in X[...,N]
const skip=0
param gain=1.0
M[...] = gain*mean[j ? j >= skip](X[...,j])
D[...] = max[j ? j >= skip](X[...,j]) - min[j ? j >= skip](X[...,j])
out M, D

op stats                                        # the same name with two inputs
in X[...,N]  in W[N]
Y[...] = sum[j](X[...,j]*W[j])
out Y

op scaled                                       # calls both, nested, and hands a const on
in X[...,N]  in W[N]
const first=1
M, D = stats(X, skip=first+1, gain=2.0)
Y = (stats(square(X), W) - M)/(D + 1)
out Y

op helpers
dim A=2, B=3, N=5
in X: f32[A,B,N]  in W: f32[N]  in s: f32[]
P = scaled(X, W)
Q = s*scaled(X + 1, W, first=0) - P
out P, Q
""", lambda x, w, s: (
    (x**2 @ w - 2 * x[..., 2:].mean(-1)) / (x[..., 2:].amax(-1) - x[..., 2:].amin(-1) + 1),
    s * ((x + 1)**2 @ w - 2 * (x[..., 1:] + 1).mean(-1)) / (x[..., 1:].amax(-1) - x[..., 1:].amin(-1) + 1)
    - (x**2 @ w - 2 * x[..., 2:].mean(-1)) / (x[..., 2:].amax(-1) - x[..., 2:].amin(-1) + 1),
), X=normal(2, 3, 5), W=normal(5), s=normal())


def resnet_block(x, f, g, b, h, k, c, s, l, d):
    def bn(v, scale, shift):
        return F.batch_norm(v, None, None, scale, shift, training=True)
    a = F.relu(bn(F.conv2d(x, f, None, 2, 1), g, b))
    return F.relu(bn(F.conv2d(a, h, None, 1, 1), k, c) + bn(F.conv2d(x, s, None, 2), l, d))


program("resnet_block", """\
op resnet_block
in X: f32[2,3,7,6]
in F1: f32[4,3,3,3]  in G1, B1: f32[4]
in F2: f32[4,4,3,3]  in G2, B2: f32[4]
in F3: f32[4,3,1,1]  in G3, B3: f32[4]
A = relu(batch_norm(conv2d(X, F1, stride=2, pad=1), G1, B1))
Y = relu(batch_norm(conv2d(A, F2, pad=1), G2, B2) + batch_norm(conv2d(X, F3, stride=2), G3, B3))
out Y
""", resnet_block, X=normal(2, 3, 7, 6), F1=normal(4, 3, 3, 3), G1=normal(4), B1=normal(4), F2=normal(4, 4, 3, 3),
        G2=normal(4), B2=normal(4), F3=normal(4, 3, 1, 1), G3=normal(4), B3=normal(4))


def gpt_block(x, g1, h1, wa, ba, wp, bp, g2, h2, w1, b1, w2, b2):
    a = x + multi_head(2, True)(F.layer_norm(x, (6,), g1, h1), wa, ba, wp, bp)
    return a + F.linear(F.gelu(F.linear(F.layer_norm(a, (6,), g2, h2), w1, b1), approximate="tanh"), w2, b2)


program("gpt_block", """\
op gpt_block
dim B=2, S=5, D=6, F=9
in X: f32[B,S,D]  in G1, H1: f32[D]  in Wa: f32[3*D,D]  in ba: f32[3*D]  in Wp: f32[D,D]  in bp: f32[D]
in G2, H2: f32[D]  in W1: f32[F,D]  in b1: f32[F]  in W2: f32[D,F]  in b2: f32[D]
A = X + multi_head_attention(layer_norm(X, G1, H1), Wa, ba, Wp, bp, heads=2, causal=1)
Y = A + linear(gelu_tanh(linear(layer_norm(A, G2, H2), W1, b1)), W2, b2)
out Y
""", gpt_block, X=normal(2, 5, 6), G1=normal(6), H1=normal(6), Wa=normal(18, 6, scale=0.4), ba=normal(18),
        Wp=normal(6, 6, scale=0.4), bp=normal(6), G2=normal(6), H2=normal(6), W1=normal(9, 6, scale=0.4), b1=normal(9),
        W2=normal(6, 9, scale=0.4), b2=normal(6))


# ---- everything the library defines must be called by some test ----

def untested():
    texts = "\n".join(text for text, _, _ in TESTS.values())
    names = {n for f in sorted((ROOT / "lib").glob("*.op")) for n in re.findall(r"^(?:op|def) (\w+)", f.read_text(), re.M)}
    return sorted(n for n in names if not re.search(rf"\b{n}\(", texts))


def main():
    torch.set_grad_enabled(True)
    names = sys.argv[1:] or list(TESTS)
    if not sys.argv[1:]:
        for folder in FOLDER.glob("*/"):
            if folder.name not in TESTS:
                shutil.rmtree(folder)
    for name in names:
        write(name)
    size = sum(f.stat().st_size for f in FOLDER.rglob("*") if f.is_file())
    print(f"{len(names)} tests written, {size / 1e6:.2f} MB in all")
    if untested():
        sys.exit("no test calls: " + " ".join(untested()))


if __name__ == "__main__":
    main()
