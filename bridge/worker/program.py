"""A program of the tensor language while it is written: values, statements, names."""
import math
import re

import torch

from worker.index import Sum, index, number
from worker.refusal import Refusal

# What may not be a name: words of the language. Ours begin with a capital, except parameters.
RESERVED = set("""dim const param in out def require case use reference rec op if cat inf pi size
    f64 f32 f16 bf16 i32 i8 u8 bool sum mean prod max min argmax argmin exp exp2 expm1 log log2 log1p
    sqrt rsqrt sin cos tan atan sinh cosh tanh erf sigmoid pow abs sign floor ceil round trunc clamp
    softplus""".split())
INDICES = {0: [], 1: ["i"], 2: ["i", "j"], 3: ["n", "i", "j"], 4: ["n", "c", "y", "x"],
           5: ["n", "c", "z", "y", "x"]}
MORE = ["a", "b", "d", "e", "f", "g", "h", "l"]
LONGEST_LINE_INLINED = 120
MOST_RANK = 8

ATOM, UNARY, PRODUCT, SUM, COMPARISON, LOGIC = 6, 5, 4, 3, 2, 1


def kind_of(dtype):
    if dtype is torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point else "int"


class Expr:
    """Text and how tightly it binds."""

    def __init__(self, text, binds=ATOM):
        self.text, self.binds = text, binds

    def within(self, binds):
        return self.text if self.binds >= binds else f"({self.text})"


def call(name, *arguments):
    return Expr(f"{name}({', '.join(a.text for a in arguments)})")


def plus(a, b):
    return Expr(f"{a.within(SUM)} + {b.within(SUM + 1)}", SUM)


def minus(a, b):
    return Expr(f"{a.within(SUM)} - {b.within(SUM + 1)}", SUM)


def times(a, b):
    return Expr(f"{a.within(PRODUCT)}*{b.within(PRODUCT + 1)}", PRODUCT)


def over(a, b):
    return Expr(f"{a.within(PRODUCT)}/{b.within(PRODUCT + 1)}", PRODUCT)


def negative(a):
    return Expr(f"-{a.within(UNARY)}", UNARY)


def compare(sign):
    return lambda a, b: Expr(f"{a.within(SUM)} {sign} {b.within(SUM)}", COMPARISON)


def choose(condition, a, b):
    return Expr(f"if({condition.text}, {a.text}, {b.text})")


def literal(value):
    """A number of Python as it is written in the language."""
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float):
        if math.isinf(value):
            text = "inf" if value > 0 else "-inf"
        elif math.isnan(value):
            text = "(0.0/0.0)"
        else:
            text = repr(value)
    else:
        text = str(value)
    return Expr(text, UNARY if text.startswith("-") else ATOM)


class Value:
    """A tensor: a name, or how an element is read (`read`: subscripts to Expr)."""

    def __init__(self, program, shape, kind, read, name=None, node=None):
        self.program, self.shape, self.kind = program, tuple(shape), kind
        self.read, self.name, self.node = read, name, node

    @property
    def rank(self):
        return len(self.shape)

    def at(self, subscripts):
        return self.read(subscripts)

    def broadcast(self, subscripts, shape):
        """The element that stands at `subscripts` of a larger shape."""
        skip = len(shape) - self.rank
        return self.at([number(0) if size == 1 else s
                        for s, size in zip(subscripts[skip:], self.shape)])

    def whole(self):
        """Its name, after it got one."""
        if self.name is None:
            self.name = self.program.same_as(self) or \
                self.program.stage(self.node, self.shape, self.read)
            self.program.shapes[self.name] = self.shape
            self.read = self.program.reader(self.name, self.shape)
        return self.name


def plain_name(wanted, capital):
    """What a tensor of the module is called in a program, unless that is taken."""
    name = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_") or "t"
    if name[0].isdigit():
        name = "t" + name
    if capital:
        name = name[0].upper() + name[1:]
    name = name[:56]
    return name if len(name) > 1 or capital else name + "0"     # an index has such a name


class Program:
    def __init__(self, task):
        self.task = task
        self.inputs = []        # lines
        self.lines = []
        self.names = {task}
        self.shapes = {}        # of tensors, by name
        # indices that stand alone in a subscript of the statement under way and run over the whole
        # dimension; "!i" where i does not
        self.plain = set()
        self.depth = []         # names of indices in use, by nesting
        self.counter = {}

    # ---- names ----

    def fresh(self, wanted, capital=True):
        wanted = re.sub(r"^_native_batch_norm_legit(_functional|_no_training)?", "batch_norm", wanted)
        name = first = plain_name(wanted, capital)
        count = 1
        while name in self.names or name in RESERVED:
            count += 1
            name = f"{first}_{count}"
        self.names.add(name)
        return name

    def indices(self, shape, node=None):
        """Indices of the left side."""
        if len(shape) > MOST_RANK:
            raise Refusal(f"a tensor of rank {len(shape)}; the language has at most {MOST_RANK}",
                          line_of(node, self.path))
        names = INDICES.get(len(shape)) or [f"i{d}" for d in range(len(shape))]
        return [(name, extent) for name, extent in zip(names, shape)]

    def inner(self, shape):
        """Indices of a reduction, none of which is in use."""
        taken = {name for level in self.depth for name in level}
        names = []
        for wanted in ["k", "r", "s", "q", "t", "u", "v", "w", "p", "m"] + MORE:
            if wanted not in taken and len(names) < len(shape):
                names.append(wanted)
        return [(name, extent) for name, extent in zip(names, shape)]

    # ---- reading ----

    def reader(self, name, shape):
        def read(subscripts):
            self.note_plain(subscripts, shape)
            return Expr(f"{name}[{','.join(map(str, subscripts))}]")
        return read

    def note_plain(self, subscripts, shape):
        """Indices that stand alone and run over whole dimensions only need no extent of their own."""
        for subscript, size in zip(subscripts, shape):
            name = subscript.index()
            if name is not None:
                self.plain.add(name if subscript.high + 1 == size else "!" + name)

    def guarded(self, value, subscripts, default):
        """An element, or the default where the subscripts leave the tensor."""
        name = value.whole()
        return Expr(f"{name}[{','.join(map(str, subscripts))} | {default.text}]")

    def tensor(self, name, shape, kind, node=None):
        self.shapes[name] = tuple(shape)
        return Value(self, shape, kind, self.reader(name, shape), name, node)

    # ---- writing ----

    def add_input(self, wanted, shape, dtype, clause, capital=True):
        name = self.fresh(wanted, capital)
        sizes = ",".join(map(str, shape))
        self.inputs.append((name, dtype, sizes, clause))
        return name

    def left(self, indices):
        return ",".join(n if n in self.plain and "!" + n not in self.plain else f"{n}:{e}"
                        for n, e in indices)

    def with_indices(self, indices, build):
        """Calls build(subscripts) with these indices in use."""
        self.depth.append([n for n, _ in indices])
        result = build([index(n, e) if e > 1 else number(0) for n, e in indices])
        self.depth.pop()
        return result

    def stage(self, node, shape, read, wanted=None, dtype=None):
        """Name[i,j] = read([i,j]); the name."""
        saved, self.plain = self.plain, set()
        depth, self.depth = self.depth, []
        indices = self.indices(shape, node)
        expr = self.with_indices(indices, read)
        left = self.left(indices)
        self.plain, self.depth = saved, depth
        name = self.fresh(wanted or (node.name if node is not None else "t"))
        typed = f": {dtype}" if dtype else ""
        self.lines.append(f"{name}[{left}]{typed} = {expr.text}")
        return name

    def same_as(self, value):
        """The tensor that a value is element by element, or None."""
        saved, self.plain = self.plain, set()
        depth, self.depth = self.depth, []
        indices = self.indices(value.shape, value.node)
        text = self.with_indices(indices, value.read).text
        self.plain, self.depth = saved, depth
        name, _, subscripts = text.partition("[")
        whole = ",".join(n if e > 1 else "0" for n, e in indices)
        return name if self.shapes.get(name) == value.shape and subscripts == whole + "]" else None

    def reduce(self, word, shape, body, condition=None):
        """word[k,..](body([k,..])) as an Expr, inside the statement under way."""
        indices = self.inner(shape)
        saved, self.plain = self.plain, set()
        expr = self.with_indices(indices, body)
        filtered = f" ? {self.with_indices(indices, condition).text}" if condition else ""
        text = f"{word}[{self.left(indices)}{filtered}]({expr.text})"
        self.plain = saved | {n for n in self.plain if n.lstrip("!") not in {i for i, _ in indices}}
        return Expr(text)

    def whole(self, node, text, wanted=None):
        """Name = text, a statement over whole tensors; the name."""
        name = self.fresh(wanted or node.name)
        self.lines.append(f"{name} = {text}")
        return name

    def several(self, node, count, text):
        """A call with several results; their names."""
        names = [self.fresh(f"{node.name}_{k}" if k else node.name) for k in range(count)]
        self.lines.append(f"{', '.join(names)} = {text}")
        return names

    def text(self, outputs, about):
        lines = [f"# {about}", f"op {self.task}"]
        lines += [f"in {n}: {d}[{s}]{' ' + c if c else ''}" for n, d, s, c in self.inputs]
        return "\n".join(lines + self.lines + [f"out {', '.join(outputs)}"]) + "\n"


def line_of(node, path):
    """The line of the module that a node of the graph comes from, or None."""
    trace = node.meta.get("stack_trace") or "" if node is not None else ""
    found = re.findall(r'File "([^"]*)", line (\d+)', trace)
    own = [int(line) for file, line in found if file == path]
    return own[-1] if own else None


def shape_of(node):
    return tuple(int(size) for size in node.meta["val"].shape)
