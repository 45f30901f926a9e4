"""A kernel that hone found as a PyTorch operator.

    import torch, NAME                      (this file's name; the folder on sys.path)
    y = torch.ops.hone.NAME(x, ...)         inputs in the order of INPUTS, at these sizes

The kernel is built by gcc on the first import, for this machine; no C++ compiler is needed.
"""
import ctypes
import math
import os
import pathlib
import subprocess

import torch

# @FACTS@
HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
         "i32": torch.int32, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}
ALIGNMENT = 64


def built(source):
    """The shared object of a C file of this folder, made anew when the file is newer."""
    text, made = HERE / source, HERE / "build" / (source + ".so")
    if not made.exists() or made.stat().st_mtime < text.stat().st_mtime:
        made.parent.mkdir(exist_ok=True)
        part = made.with_suffix(f".{os.getpid()}")
        subprocess.run([COMPILER, *FLAGS, "-shared", "-o", str(part), str(text), "-lm"], check=True,
                       cwd=HERE)
        part.rename(made)
    return ctypes.CDLL(str(made))


def prepared(tensor, number):
    name, dtype, shape = INPUTS[number][:3]
    if tuple(tensor.shape) != shape:
        raise ValueError(f"{NAME}: {name} is {tuple(tensor.shape)}; the kernel is for {shape}")
    wanted = TYPES[dtype]
    if tensor.dtype != wanted and (wanted.is_floating_point or tensor.dtype.is_floating_point):
        raise ValueError(f"{NAME}: {name} is {tensor.dtype}, not {wanted}")
    tensor = tensor.to(wanted).contiguous()
    return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone()


def call(library, tensors):
    tensors = [prepared(tensor, number) for number, tensor in enumerate(tensors)]
    results = empty(tensors)
    library.kernel(*[ctypes.c_void_p(t.data_ptr()) for t in tensors + results])
    return results


def empty(_):
    return [torch.empty(shape, dtype=TYPES[dtype]) for _, dtype, shape in OUTPUTS]


def returned(results):
    return results[0] if len(results) == 1 else tuple(results)


KERNEL = built("kernel.c")
_library = torch.library.Library("hone", "FRAGMENT")
_library.define(f"{NAME}({', '.join(f'Tensor {row[0]}' for row in INPUTS)}) -> "
                f"{'Tensor' if len(OUTPUTS) == 1 else '(' + ', '.join(['Tensor'] * len(OUTPUTS)) + ')'}")
_library.impl(NAME, lambda *tensors: returned(call(KERNEL, tensors)), "CPU")
torch.library.register_fake(f"hone::{NAME}", lambda *tensors: returned(empty(tensors)), lib=_library)
operator = getattr(torch.ops.hone, NAME)


def drawn(generator):
    """Inputs as the task says: (low, high) of a row, or a deviation."""
    found = []
    for _, dtype, shape, low, high, scale in INPUTS:
        wanted = TYPES[dtype]
        if wanted.is_floating_point and low is None:
            value = torch.randn(shape, generator=generator) * scale
        elif wanted.is_floating_point:
            value = torch.rand(shape, generator=generator) * (high - low) + low
        else:
            value = torch.randint(int(low), int(high) + 1, shape, generator=generator)
        found.append(value.to(wanted))
    return found


def difference(got, expected):
    """The largest, as a part of the output's size; infinite where one is no number."""
    got, expected = got.double(), expected.double()
    size = expected[expected.isfinite()].abs().max().item() if expected.numel() else 0.0
    far = torch.where(got == expected, 0.0, (got - expected).abs())
    largest = far.max().item() if far.numel() else 0.0
    return math.inf if math.isnan(largest) else largest / (size or 1.0)
