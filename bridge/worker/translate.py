"""A module as a program, and what is needed to check it: inputs, and PyTorch's outputs in double.

The answer:
    {"task": "relu", "text": PROGRAM, "case": "small", "check": PROGRAM, "inputs": [...],
     "outputs": [...], "double": true, "single": false}
`single`: parts of the module are in single precision whatever it is converted to.
`check` is the program that the values are for: the text itself in the case named, or, where the
module's numbers could not be made dims, the same module at smaller sizes. Inputs and outputs are
{"name", "dtype", "shape", "offset"}: they lie in the shared memory, outputs as f64.
"""
import copy
import re

import torch

from worker import clauses, share
from worker.dims import samples, smaller
from worker.graph import Translation, task_name, text_of
from worker.module import LARGE, Loaded, called, results
from worker.refusal import Refusal

SINGLE = re.compile(r"float32|\.float\(|torch\.float\b")
STORED = {"i32": torch.int32}


def redraw(loaded, translation, seed):
    """Other values for the parameters and running statistics, by the clauses of the program."""
    generator = torch.Generator().manual_seed(seed)
    held = dict(loaded.model.named_parameters(remove_duplicate=False))
    held |= dict(loaded.model.named_buffers(remove_duplicate=False))
    clause_of = {name: clause for name, _, _, clause in translation.program.inputs}
    found = []
    with torch.no_grad():
        for name, tensor, parameter in translation.inputs:
            if parameter is not None:
                held[parameter].copy_(clauses.drawn(clause_of[name], tensor, generator))
    for name, tensor, parameter in translation.inputs:
        found.append(held[parameter].detach() if parameter is not None else tensor)
    return found


def doubled(value):
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def in_double(loaded):
    model = copy.deepcopy(loaded.model).double()
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor):
                setattr(module, name, doubled(value))
        if isinstance(module, torch.nn.RMSNorm) and module.eps is None:
            module.eps = torch.finfo(torch.float32).eps     # it would be another one in double
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            return results(model(*[doubled(v) for v in loaded.inputs]))
    finally:
        torch.set_default_dtype(torch.float32)


def expected(loaded):
    """(outputs, whether in double): a module that mixes precisions is run in its own."""
    try:
        return in_double(loaded), True
    except Refusal:
        raise
    except Exception:
        with torch.no_grad():
            model = copy.deepcopy(loaded.model)
            return results(called(loaded.path, "forward()", model, *loaded.inputs)), False


def laid(translation, values, outputs):
    """Values in the shared memory: (inputs, outputs) as the answer has them."""
    entries, tensors = [], []
    for (name, _, _), (_, dtype, _, _), value in zip(translation.inputs, translation.program.inputs,
                                                     values):
        tensors.append(value.to(STORED.get(dtype, value.dtype)))
        entries.append({"name": name, "dtype": dtype, "shape": list(value.shape)})
    for name, value in zip(translation.outputs, outputs):
        tensors.append(value.double())
        entries.append({"name": name, "dtype": "f64", "shape": list(value.shape)})
    for entry, offset in zip(entries, share.put(tensors)):
        entry["offset"] = offset
    return entries[:len(values)], entries[len(values):]


def translate(path, text, mode, seed):
    train = mode == "train"
    about = f"{path.rsplit('/', 1)[-1]}, imported" + (" in training mode." if train else ".")
    task = task_name(path)
    # Values are only needed at the sizes of the check: inputs of gigabytes are never made.
    loaded = Loaded(path, text, seed=seed, train=train, most=LARGE)
    known = samples(path, text, seed) if loaded.only_shapes else None
    full = Translation(loaded, task, samples=known)
    found = smaller(path, text, seed, train, full, about)
    if found is None and loaded.only_shapes:
        full = Translation(Loaded(path, text, seed=seed, train=train), task)
    full_text = text_of(full, about)
    answer = {"task": full.program.task, "text": full_text, "check": full_text, "case": "default"}
    chosen = full
    if found is not None:
        chosen, (answer["text"], answer["check"], answer["case"]) = found
    values = redraw(chosen.loaded, chosen, seed)
    outputs, double = expected(chosen.loaded)
    if len(outputs) != len(chosen.outputs):
        raise Refusal("forward() returns other results than its exported graph")
    answer["inputs"], answer["outputs"] = laid(chosen, values, outputs)
    return answer | {"double": double, "single": SINGLE.search(text) is not None}
