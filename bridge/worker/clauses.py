"""What may be drawn for an input: clauses of `in` statements, and values that keep to them."""
import math
import re

import torch
from torch._subclasses.fake_tensor import FakeTensor

from worker.program import literal

FEW = 4         # distinct values, at most, that are listed
ENOUGH = 8      # elements from which on something is said about them
WITHOUT_CLAUSE = -100, 100      # what the language lets an i32 be of which nothing is said


def distinct(value):
    if torch.unique(value.reshape(-1)[:1024]).numel() > FEW:    # all of them would be sorted
        return None
    found = torch.unique(value)
    return found.tolist() if found.numel() <= FEW else None


def is_square(value):
    return value.dim() >= 2 and value.shape[-1] == value.shape[-2] > 2


def form_of(value):
    """as softmax, lower, upper, symmetric; None: no such form."""
    if value.dim() >= 1 and value.shape[-1] > 1 and (value > 0).all() and \
            ((value.sum(-1) - 1).abs() < 1e-4).all():
        return "softmax"
    if not is_square(value):
        return None
    if torch.equal(value, value.tril()):
        return "lower"
    if torch.equal(value, value.triu()):
        return "upper"
    return "symmetric" if torch.equal(value, value.mT) else None


def of_data(value):
    """The clause that fits what get_inputs() gives, or what a constant holds."""
    if value.dtype is torch.bool or value.numel() == 0:
        return ""
    if not value.dtype.is_floating_point:
        return f"from {int(value.min())} to {int(value.max())}"
    value = value.double()
    if value.numel() < ENOUGH or not value.isfinite().all():
        return ""
    few = distinct(value)
    if few is not None and len(few) > 1:
        return "among " + ", ".join(literal(int(v) if v == int(v) else v).text for v in few)
    form = form_of(value)
    if form is not None:
        return f"as {form}"
    return f"from 0 to {max(math.ceil(value.max()), 1)}" if value.min() >= 0 else ""


def clipped(value, clause):
    """Whole numbers such that they keep to a clause; it is not that of these values."""
    found = re.fullmatch(r"from (-?\d+) to (-?\d+)", clause)
    if value.dtype is torch.bool or value.dtype.is_floating_point or \
            (found is None and value.dtype.itemsize == 1):
        return value
    low, high = map(int, found.groups()) if found is not None else WITHOUT_CLAUSE
    inside = value.clamp(low, high)
    return value if torch.equal(inside, value) else inside


def above_zero(value):
    """Whether all elements are: a logarithm or a root may be taken of them."""
    return not isinstance(value, FakeTensor) and value.numel() > 0 and bool((value > 0).all())


def of_parameter(name, value):
    """Such that outputs depend on the data, which with PyTorch's own initial values they may not."""
    last = name.rsplit(".", 1)[-1]
    gain = value.dim() <= 1 and "bias" not in last and ("weight" in last or above_zero(value))
    if last == "running_var" or gain:
        return "from 0.5 to 1.5"
    if value.dim() <= 1:
        return "scale 0.1"
    return f"scale sqrt(2.0/{max(value[0].numel(), 1)})"


def drawn(clause, value, generator):
    """Another value for a parameter, by its clause."""
    if clause.startswith("from"):
        new = torch.rand(value.shape, generator=generator) + 0.5
    else:
        text = clause.removeprefix("scale ")
        scale = 0.1 if text == "0.1" else math.sqrt(2.0 / float(text[len("sqrt(2.0/"):-1]))
        new = torch.randn(value.shape, generator=generator) * scale
    return new.to(value.dtype)
