#!/usr/bin/env python3
"""A kernel that `hone optimize` found beside PyTorch, eager and compiled, and the matrix products
of JAX where that is installed, in one process.

    python3 bridge/bench_torch.py REQUEST.json     started by bench/kernels.c; needs torch

The request names the task, the built kernel (its hone_call() takes an array of pointers), the
inputs as files, and how long to measure. Printed is one JSON object a line for each rival. The
caller sets the number of threads, and glibc's MALLOC_ variables: PyTorch returns large results in
fresh memory, whose page faults would be most of the time. See doc/benchmarks.md.
"""
import ctypes
import importlib.util
import json
import os
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "i32": torch.int32,
          "i8": torch.int8, "u8": torch.uint8, "bool": torch.uint8}
BATCH_SECONDS = 0.005
PAUSE_SECONDS = 0.002
WARM_SECONDS = 0.02
MOST_ROUNDS = 400


# ---- the tasks: inputs in the order of the .op file; the same by PyTorch ----

def lstm(x, w, u, b, d, h0, c0):
    weights = [w, u, b, d]
    y, h, c = torch.lstm(x, (h0[None], c0[None]), weights, True, 1, 0.0, False, False, False)
    return y, h[0], c[0]


def residual_norm(x, z, g, b):
    s = x + z
    return s, F.layer_norm(s, g.shape, g, b)


def attention(causal):
    return lambda q, k, v: F.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=causal)[0]


# The longest prefix of a task's name counts.
TASKS = {
    "sgemm": torch.matmul,
    "sgemm_nt": lambda a, b: torch.matmul(a, b.mT),
    "sgemm_tn": lambda a, b: torch.matmul(a.mT, b),
    "sgemm_batched": torch.bmm,
    "matvec": torch.mv,
    "conv_3x3": lambda x, f: F.conv2d(x, f, padding=1),
    "conv_1x1": F.conv2d,
    "conv_7x7_s2": lambda x, f: F.conv2d(x, f, stride=2, padding=3),
    "conv_depthwise": lambda x, f: F.conv2d(x, f, padding=1, groups=x.shape[1]),
    "conv_transposed": lambda x, f: F.conv_transpose2d(x, f, stride=2, padding=1,
                                                       output_padding=1),
    "conv_3d": lambda x, f: F.conv3d(x, f, padding=1),
    "conv_bn_relu": lambda x, f, m, v, g, b: F.relu(
        F.batch_norm(F.conv2d(x, f, padding=1), m, v, g, b)),
    "pool_max": lambda x: F.max_pool2d(x, 3, 2, 1),
    "pool_avg": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "softmax": lambda x: torch.softmax(x, -1),
    "norm_layer": lambda x, g, b: F.layer_norm(x, g.shape, g, b),
    "norm_rms": lambda x, g: F.rms_norm(x, g.shape, g, 1e-5),
    "norm_group": lambda x, g, b: F.group_norm(x, 8, g, b),
    "norm_batch_eval": lambda x, m, v, g, b: F.batch_norm(x, m, v, g, b),
    "norm_batch_train": lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True),
    "gelu": F.gelu,
    "bias_gelu": lambda x, b: F.gelu(x + b),
    "residual_gelu": lambda x, z, b, g: x + g * F.gelu(z + b),
    "residual_norm": residual_norm,
    "sum_dim0": lambda x: torch.sum(x, 0),
    "sum_dim1": lambda x: torch.sum(x, 1),
    "sum_dim2": lambda x: torch.sum(x, 2),
    "argmax": lambda x: torch.argmax(x, -1),
    "cumsum": lambda x: torch.cumsum(x, -1),
    "cross_entropy": F.cross_entropy,
    "attention": attention(False),
    "causal_attention": attention(True),
    "lstm": lstm,
    "linear_bias_gelu": lambda x, w, b: F.gelu(F.linear(x, w, b)),
}

# Where PyTorch can write into a tensor that it is given: eager is measured so.
INTO = {
    "sgemm": lambda y, a, b: torch.matmul(a, b, out=y),
    "sgemm_nt": lambda y, a, b: torch.matmul(a, b.mT, out=y),
    "sgemm_tn": lambda y, a, b: torch.matmul(a.mT, b, out=y),
    "sgemm_batched": lambda y, a, b: torch.bmm(a, b, out=y),
    "matvec": lambda y, a, x: torch.mv(a, x, out=y),
    "softmax": lambda y, x: torch.softmax(x, -1, out=y),
    "gelu": lambda y, x: torch._C._nn.gelu(x, out=y),
    "sum_dim0": lambda y, x: torch.sum(x, 0, out=y),
    "sum_dim1": lambda y, x: torch.sum(x, 1, out=y),
    "sum_dim2": lambda y, x: torch.sum(x, 2, out=y),
    "argmax": lambda y, x: torch.argmax(x, -1, out=y),
    "cumsum": lambda y, x: torch.cumsum(x, -1, out=y),
    "pool_avg": lambda y, x: torch._C._nn.avg_pool2d(x, 3, 2, 1, out=y),
}

# What of it is asked of JAX.
IN_JAX = {
    "sgemm": lambda jnp: jnp.matmul,
    "sgemm_nt": lambda jnp: lambda a, b: jnp.matmul(a, b.T),
    "sgemm_tn": lambda jnp: lambda a, b: jnp.matmul(a.T, b),
    "sgemm_batched": lambda jnp: jnp.matmul,
    "matvec": lambda jnp: jnp.matmul,
}


def row_of(task, table):
    names = [name for name in table if task == name or task.startswith(name + "_")]
    return max(names, key=len) if names else None


# ---- tensors ----

def load(entry):
    """A copy of a file's elements: memory from torch's own allocator, 64-byte aligned."""
    count = 1
    for size in entry["shape"]:
        count *= size
    dtype = DTYPES[entry["dtype"]]
    return torch.from_file(entry["file"], size=count, dtype=dtype).clone().reshape(entry["shape"])


def kernel_of(request, tensors):
    """A function that calls the kernel on these tensors."""
    call = ctypes.CDLL(request["object"]).hone_call
    pointers = (ctypes.c_void_p * len(tensors))(*[tensor.data_ptr() for tensor in tensors])
    return lambda: call(pointers)


def results(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def difference(got, expected):
    """The largest error in units of 1e-3 of an element plus the mean size; inf for NaN."""
    if not expected.is_floating_point():
        return 0.0 if torch.equal(got.long(), expected.long()) else float("inf")
    got, expected = got.double(), expected.double()
    allowed = 1e-3 * (expected.abs() + expected.abs().mean()) + 1e-30
    largest = ((got - expected).abs() / allowed).max().item()
    return largest if largest == largest else float("inf")


# ---- rivals ----

def rivals_of(request, inputs, outputs):
    """(name, function without arguments that returns the results)"""
    task = request["task"]
    name = row_of(task, TASKS)
    if name is None:
        return
    plain = TASKS[name]
    into = INTO.get(row_of(task, INTO)) if row_of(task, INTO) == name else None
    if into:
        place = torch.empty_like(outputs[0], dtype=torch.int64 if name == "argmax" else None)
        yield "PyTorch eager, out=", lambda: into(place, *inputs)
    else:
        yield "PyTorch eager", lambda: plain(*inputs)
    compiled = torch.compile(plain, dynamic=False)
    yield "PyTorch compiled", lambda: compiled(*inputs)


def jax_of(request, inputs):
    """The same of JAX. It has a thread for each processor that this process may use."""
    name = row_of(request["task"], IN_JAX)
    if name is None or importlib.util.find_spec("jax") is None:
        return
    import jax
    compiled = jax.jit(IN_JAX[name](jax.numpy))
    own = [jax.dlpack.from_dlpack(tensor) for tensor in inputs]

    def run():
        return compiled(*own).block_until_ready()
    yield "JAX", run


def as_torch(value):
    return value if isinstance(value, torch.Tensor) else torch.from_dlpack(value)


def agreeing(request, inputs, outputs, kernel):
    """The rivals whose results are the kernel's; the others are said."""
    for output in outputs:
        output.fill_(-1 if not output.is_floating_point() else float("nan"))
    kernel()
    for name, run in [*rivals_of(request, inputs, outputs), *jax_of(request, inputs)]:
        try:
            got = [as_torch(value) for value in results(run())]
            error = max(difference(a, b) for a, b in zip(got, outputs, strict=True))
        except Exception as problem:        # a compiler that is missing, a backend that refuses
            print(json.dumps({"library": name, "failed": str(problem).strip()[:300]}))
            continue
        if error <= 1:
            yield name, run
        else:
            print(json.dumps({"library": name,
                              "failed": f"its result differs: {error:.3g} times the allowed"}))


# ---- rounds, as in bench/compare/rounds.c ----

def batch(run, calls, warm):
    time.sleep(PAUSE_SECONDS)
    if warm:
        run()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def calls_for(run):
    seconds = batch(run, 1, True)
    if seconds < BATCH_SECONDS:
        seconds = batch(run, int(0.2 * BATCH_SECONDS / seconds) + 1, True)
    return (int(BATCH_SECONDS / seconds) + 1 if seconds < BATCH_SECONDS else 1), seconds


def rounds(runs, least_rounds, least_seconds):
    """For each function a list of seconds a call, one for each round."""
    plans = [calls_for(run) for run in runs]
    times = [[] for _ in runs]
    spent = [0.0] * len(runs)
    done = 0
    while done < MOST_ROUNDS and (done < least_rounds or min(spent) < least_seconds):
        order = range(len(runs)) if done % 2 == 0 else reversed(range(len(runs)))
        for i in order:
            calls, seconds = plans[i]
            taken = batch(runs[i], calls, seconds < WARM_SECONDS)
            times[i].append(taken)
            spent[i] += taken * calls
        done += 1
    return times


def interval(times, own):
    """95 % of the ratio of medians, by drawing rounds again with replacement."""
    draw = random.Random(1)
    ratios = []
    for _ in range(400):
        picked = draw.choices(range(len(times)), k=len(times))
        ratios.append(statistics.median(times[i] for i in picked) /
                      statistics.median(own[i] for i in picked))
    ratios.sort()
    return ratios[10], ratios[-11]


def report(name, times, own):
    low, high = interval(times, own)
    middle = statistics.median(times)
    print(json.dumps({"library": name, "us": 1e6 * middle, "hone_us": 1e6 * statistics.median(own),
                      "ratio": middle / statistics.median(own), "low": low, "high": high,
                      "rounds": len(times)}), flush=True)


def main(path):
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:request["threads"]])
    torch.set_num_threads(request["threads"])
    torch.set_grad_enabled(False)
    inputs = [load(entry) for entry in request["inputs"]]
    outputs = [torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]])
               for entry in request["outputs"]]
    kernel = kernel_of(request, inputs + outputs)
    mine = list(inputs)
    if row_of(request["task"], TASKS) == "cross_entropy":
        mine[1] = mine[1].long()            # classes are 64-bit there
    found = list(agreeing(request, mine, outputs, kernel))
    if not found:
        return
    times = rounds([kernel] + [run for _, run in found], request["rounds"], request["seconds"])
    for (name, _), taken in zip(found, times[1:]):
        report(name, taken, times[0])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
