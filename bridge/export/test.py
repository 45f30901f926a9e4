"""The operator against the plain C of the task, and against the PyTorch module where there is one.

    python3 test.py
"""
import importlib
import pathlib
import re
import sys

import torch
from torch.utils._pytree import tree_leaves

# @FACTS@
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
made = importlib.import_module(NAME)
ALLOWED = {"f64": 1e-10, "f32": 1e-4, "f16": 2e-2, "bf16": 1e-1}     # of the output's size


def compare(got, expected, against):
    expected = [value for value in tree_leaves(expected) if value is not None]
    for (name, dtype, _), a, b in zip(OUTPUTS, tree_leaves(got), expected):
        far = made.difference(a, b)
        print(f"{name} against {against}: {far:.2g}")
        if a.shape != b.shape or far > ALLOWED.get(dtype, 0):
            sys.exit(f"{name} differs from {against}")


def tensors_of(model):
    """Parameters, buffers and other tensors that a model holds, by their names in the task."""
    found = {}
    for path, module in model.named_modules():
        held = dict(vars(module)) | dict(module.named_parameters(recurse=False))
        held |= dict(module.named_buffers(recurse=False))
        for name, value in held.items():
            if isinstance(value, torch.Tensor):
                key = re.sub(r"\W+", "_", f"{path}.{name}").strip("_")
                found[key + "0" if len(key) == 1 else key] = value.detach()
    return found


def with_module():
    module = importlib.import_module("module")
    torch.manual_seed(1)
    model = module.Model(*module.get_init_inputs()).eval()
    data = [v if isinstance(v, torch.Tensor) else torch.tensor(v) for v in module.get_inputs()]
    held, rest = tensors_of(model), iter(data)
    inputs = [held[row[0]] if row[0] in held else next(rest) for row in INPUTS]
    with torch.no_grad():
        compare(made.operator(*inputs), model(*data), "the module")


inputs = made.drawn(torch.Generator().manual_seed(1))
compare(made.operator(*inputs), made.call(made.built("plain.c"), inputs), "the plain C of the task")
if (HERE / "module.py").exists():
    with_module()
print("the same")
