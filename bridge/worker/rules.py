"""Operators of PyTorch's exported graphs, each as statements of the tensor language.

A rule takes the program, the node and its arguments by their names in PyTorch's schema, and gives
back a Value, or a list of them. Views and other movements of data write nothing: their elements
are read where they are needed. RULES is the table; rules_layers.py has the larger ones.
"""
import math

import torch

from worker import program as p
from worker.index import index, number, reshaped
from worker.program import ATOM, Expr, Value, call, choose, compare, literal, minus, over, plus, times
from worker.refusal import Refusal

RULES = {}


def rule(*names):
    def add(function):
        for name in names:
            RULES[name] = function
        return function
    return add


def shape(node):
    return p.shape_of(node)


def kind(node):
    return p.kind_of(node.meta["val"].dtype)


def lazy(program, node, read, shape_=None, kind_=None):
    return Value(program, shape(node) if shape_ is None else shape_,
                 kind(node) if kind_ is None else kind_, read, None, node)


def named(program, node, name, shape_=None, kind_=None):
    return program.tensor(name, shape(node) if shape_ is None else shape_,
                          kind(node) if kind_ is None else kind_, node)


def axis(dim, rank):
    return dim + rank if dim < 0 else dim


def axes(dims, rank):
    if dims is None or (isinstance(dims, (list, tuple)) and len(dims) == 0):
        return list(range(rank))
    dims = [dims] if isinstance(dims, int) else dims
    return sorted(axis(d, rank) for d in dims)


# ---- elements ----

def operand(value, subscripts, over_shape):
    """An element of a tensor, or a number."""
    return value.broadcast(subscripts, over_shape) if isinstance(value, Value) else literal(value)


def users(node):
    return len(node.users)


def elementwise(program, node, combine, *operands):
    """combine(elements) for each element. It is written where it is read if that is one place."""
    over_shape = shape(node)

    def read(subscripts):
        return combine(*[operand(v, subscripts, over_shape) for v in operands])

    value = lazy(program, node, read)
    tensors = [v for v in operands if isinstance(v, Value)]
    plain = all(v.name is not None and v.shape == over_shape for v in tensors)
    if users(node) == 1 and node.meta.get("inline") and small(program, node, read):
        return value
    if plain and tensors:
        texts = combine(*[Expr(v.name) if isinstance(v, Value) else literal(v) for v in operands])
        if "[" not in texts.text:
            return named(program, node, program.whole(node, texts.text))
    value.whole()
    return value


def small(program, node, read):
    """Whether an element's expression is short enough to stand inside another."""
    saved, program.plain = program.plain, set()
    text = program.with_indices(program.indices(shape(node), node), read).text
    program.plain = saved
    return len(text) <= p.LONGEST_LINE_INLINED


def function(name):
    return lambda x: call(name, x)


def real(x, kind_):
    return x if kind_ == "float" else call("f32", x)


UNARY = {
    "relu": function("relu"), "sigmoid": function("sigmoid"), "tanh": function("tanh"),
    "exp": function("exp"), "exp2": function("exp2"), "log": function("log"),
    "log2": function("log2"), "log1p": function("log1p"), "expm1": function("expm1"),
    "abs": function("abs"), "sqrt": function("sqrt"), "rsqrt": function("rsqrt"),
    "sin": function("sin"), "cos": function("cos"), "tan": function("tan"), "atan": function("atan"),
    "sinh": function("sinh"), "cosh": function("cosh"), "erf": function("erf"),
    "floor": function("floor"), "ceil": function("ceil"), "round": function("round"),
    "trunc": function("trunc"), "sign": function("sign"), "sgn": function("sign"),
    "silu": function("silu"), "mish": function("mish"), "hardswish": function("hardswish"),
    "hardsigmoid": function("hardsigmoid"), "relu6": function("relu6"), "selu": function("selu"),
    "log_sigmoid": function("logsigmoid"), "square": function("square"), "neg": p.negative,
    "reciprocal": lambda x: over(literal(1.0), x),
    "logical_not": lambda x: Expr(f"!{x.within(p.UNARY)}", p.UNARY),
    "log10": lambda x: times(call("log", x), literal(0.4342944819032518)),
}
for name_, body_ in UNARY.items():
    def unary(program, node, a, body=body_):
        return elementwise(program, node, body, a.self)
    rule(f"{name_}.default")(unary)


@rule("bitwise_not.default")
def bitwise_not(program, node, a):
    if a.self.kind == "bool":
        return elementwise(program, node, UNARY["logical_not"], a.self)
    if node.meta["val"].dtype is torch.uint8:
        raise Refusal("bitwise_not of uint8; write 255 - x")
    return elementwise(program, node, lambda x: minus(literal(-1), x), a.self)


@rule("gelu.default")
def gelu(program, node, a):
    return elementwise(program, node, function("gelu_tanh" if a.approximate == "tanh" else "gelu"),
                       a.self)


@rule("leaky_relu.default")
def leaky_relu(program, node, a):
    return elementwise(program, node, lambda x: call("leaky_relu", x, literal(a.negative_slope)),
                       a.self)


@rule("elu.default")
def elu(program, node, a):
    def body(x):
        inner = x if a.input_scale == 1 else times(x, literal(a.input_scale))
        outer = call("elu", inner, literal(float(a.alpha)))
        return outer if a.scale == 1 else times(literal(a.scale), outer)
    if a.input_scale != 1:
        raise Refusal("elu with an input_scale; write F.elu(x * scale)")
    return elementwise(program, node, body, a.self)


@rule("celu.default")
def celu(program, node, a):
    return elementwise(program, node, lambda x: call("celu", x, literal(float(a.alpha))), a.self)


@rule("softplus.default")
def softplus(program, node, a):
    def body(x):
        scaled = x if a.beta == 1 else times(literal(a.beta), x)
        plain = call("softplus", scaled) if a.threshold == 20 else choose(
            compare(">")(scaled, literal(a.threshold)), scaled, call("log1p", call("exp", scaled)))
        return plain if a.beta == 1 else over(plain, literal(float(a.beta)))
    return elementwise(program, node, body, a.self)


@rule("hardtanh.default")
def hardtanh(program, node, a):
    def body(x):
        if (a.min_val, a.max_val) == (-1, 1):
            return call("hardtanh", x)
        if (a.min_val, a.max_val) == (0, 6):
            return call("relu6", x)
        return call("clamp", x, literal(a.min_val), literal(a.max_val))
    return elementwise(program, node, body, a.self)


@rule("threshold.default")
def threshold(program, node, a):
    return elementwise(program, node, lambda x: call("threshold", x, literal(a.threshold),
                                                     literal(a.value)), a.self)


@rule("hardshrink.default", "softshrink.default")
def shrink(program, node, a):
    word = node.target.__name__.split(".")[0]
    return elementwise(program, node, lambda x: call(word, x, literal(a.lambd)), a.self)


@rule("clamp.default", "clamp.Tensor", "clamp_min.default", "clamp_max.default",
      "clamp_min.Tensor", "clamp_max.Tensor", "clip.default")
def clamp(program, node, a):
    low, high = getattr(a, "min", None), getattr(a, "max", None)

    def body(x, *bounds):
        bounds = list(bounds)
        if low is not None and high is not None:
            return call("clamp", x, bounds[0], bounds[1])
        return call("max" if low is not None else "min", x, bounds[0])
    return elementwise(program, node, body, a.self, *[b for b in (low, high) if b is not None])


@rule("pow.Tensor_Scalar")
def power(program, node, a):
    def body(x):
        if a.exponent == 2:
            return call("square", x)
        if a.exponent == 0.5:
            return call("sqrt", x)
        if a.exponent == -1:
            return over(literal(1.0), x)
        if a.exponent == -0.5:
            return call("rsqrt", x)
        if a.exponent in (3, 4) and x.binds == ATOM and len(x.text) < 40:
            return Expr("*".join([x.text] * int(a.exponent)), p.PRODUCT)
        if a.exponent == 3:
            return times(call("square", x), x)
        if a.exponent == 4:
            return call("square", call("square", x))
        return call("pow", x, literal(float(a.exponent)))
    return elementwise(program, node, body, a.self)


@rule("pow.Tensor_Tensor")
def power_of_tensors(program, node, a):
    return elementwise(program, node, lambda x, y: call("pow", x, y), a.self, a.exponent)


@rule("pow.Scalar")
def power_of_number(program, node, a):
    return elementwise(program, node, lambda y: call("pow", literal(float(a.self)), y), a.exponent)


def scaled_by(alpha, y):
    return y if alpha == 1 else times(literal(alpha), y)


@rule("add.Tensor", "add.Scalar")
def add(program, node, a):
    return elementwise(program, node, lambda x, y: plus(x, scaled_by(a.alpha, y)), a.self, a.other)


@rule("sub.Tensor", "sub.Scalar")
def subtract(program, node, a):
    return elementwise(program, node, lambda x, y: minus(x, scaled_by(a.alpha, y)), a.self, a.other)


@rule("rsub.Scalar", "rsub.Tensor")
def subtract_from(program, node, a):
    return elementwise(program, node, lambda x, y: minus(y, scaled_by(a.alpha, x)), a.self, a.other)


@rule("mul.Tensor", "mul.Scalar", "multiply.Tensor")
def multiply(program, node, a):
    return elementwise(program, node, times, a.self, a.other)


@rule("div.Tensor", "div.Scalar", "divide.Tensor", "true_divide.Tensor")
def divide(program, node, a):
    floats = [v for v in (a.self, a.other) if
              isinstance(v, float) or (isinstance(v, Value) and v.kind == "float")]
    first = a.self.kind == "float"

    def body(x, y):
        return over(x if first or floats else call("f32", x), y)
    return elementwise(program, node, body, a.self, a.other)


@rule("div.Tensor_mode", "div.Scalar_mode", "floor_divide.default")
def divide_rounded(program, node, a):
    mode = getattr(a, "rounding_mode", "floor")
    if kind(node) == "float":
        word = {"floor": "floor", "trunc": "trunc"}.get(mode)
        return elementwise(program, node, lambda x, y: call(word, over(x, y)) if word else over(x, y),
                           a.self, a.other)
    if mode != "floor":
        raise Refusal("an integer division that rounds toward zero; write floor division")
    return elementwise(program, node, over, a.self, a.other)


@rule("remainder.Scalar", "remainder.Tensor", "fmod.Scalar")
def remainder(program, node, a):
    if kind(node) == "float":
        raise Refusal("a remainder of floats; write x - y * torch.floor(x / y)")
    return elementwise(program, node, lambda x, y: Expr(
        f"{x.within(p.PRODUCT)}%{y.within(p.UNARY)}", p.PRODUCT), a.self, a.other)


@rule("maximum.default", "max.other")
def maximum(program, node, a):
    return elementwise(program, node, lambda x, y: call("max", x, y), a.self, a.other)


@rule("minimum.default", "min.other")
def minimum(program, node, a):
    return elementwise(program, node, lambda x, y: call("min", x, y), a.self, a.other)


for word_, sign_ in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    def comparison(program, node, a, sign=sign_):
        return elementwise(program, node, compare(sign), a.self, a.other)
    rule(f"{word_}.Scalar", f"{word_}.Tensor")(comparison)


@rule("logical_and.default", "bitwise_and.Tensor", "logical_or.default", "bitwise_or.Tensor")
def both_or_either(program, node, a):
    if kind(node) != "bool":
        raise Refusal("an operation on the bits of integers; write arithmetic, or masks")
    sign = "&&" if "and" in node.target.__name__ else "||"
    return elementwise(program, node, lambda x, y: Expr(
        f"{x.within(COMPARED)} {sign} {y.within(COMPARED)}", p.LOGIC), a.self, a.other)


COMPARED = p.COMPARISON


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(program, node, a):
    return elementwise(program, node, choose, a.condition, a.self, a.other)


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(program, node, a):
    return elementwise(program, node, lambda x, m, v: choose(m, v, x), a.self, a.mask, a.value)


@rule("lerp.Scalar", "lerp.Tensor")
def lerp(program, node, a):
    return elementwise(program, node, lambda x, y, w: call("lerp", x, y, w), a.self, a.end, a.weight)


@rule("addcmul.default", "addcdiv.default")
def add_product(program, node, a):
    join = times if "mul" in node.target.__name__ else over
    return elementwise(program, node, lambda x, y, z: plus(x, scaled_by(a.value, join(y, z))),
                       a.self, a.tensor1, a.tensor2)


@rule("_to_copy.default", "to.dtype", "type_as.default")
def convert(program, node, a):
    old, new = a.self.kind, kind(node)
    if old == new:
        return a.self
    if new == "float":
        return elementwise(program, node, lambda x: call("f32", x), a.self)
    if new == "bool":
        return elementwise(program, node, lambda x: compare("!=")(x, literal(0)), a.self)
    return elementwise(program, node, lambda x: call("i32", x), a.self)


# ---- constants ----

def constant(value):
    def build(program, node, a):
        text = literal(value(node, a))
        return lazy(program, node, lambda subscripts: text)
    return build


def typed(node, value):
    return float(value) if kind(node) == "float" else int(value)


rule("zeros.default", "zeros_like.default", "new_zeros.default", "empty.memory_format",
     "empty_like.default")(constant(lambda node, a: typed(node, 0)))
rule("ones.default", "ones_like.default", "new_ones.default")(constant(lambda n, a: typed(n, 1)))
rule("full.default", "full_like.default", "new_full.default")(
    constant(lambda node, a: typed(node, a.fill_value)))
rule("fill.Scalar")(constant(lambda node, a: typed(node, a.value)))
rule("scalar_tensor.default")(constant(lambda node, a: typed(node, a.s)))


@rule("fill.Tensor")
def fill(program, node, a):
    return lazy(program, node, lambda subscripts: a.value.at([]))


@rule("arange.default", "arange.start", "arange.start_step")
def arange(program, node, a):
    start, step = getattr(a, "start", 0) or 0, getattr(a, "step", 1) or 1

    def read(subscripts):
        if isinstance(start, int) and isinstance(step, int):
            text = subscripts[0].times(step).plus(start)
            plain = Expr(str(text), p.SUM if "+" in str(text) or "-" in str(text) else p.PRODUCT)
        else:
            plain = plus(literal(start), times(literal(step), Expr(str(subscripts[0]), p.SUM)))
        return real(plain, "int") if kind(node) == "float" else plain
    return lazy(program, node, read)


@rule("eye.default", "eye.m")
def eye(program, node, a):
    one, zero = literal(typed(node, 1)), literal(typed(node, 0))
    return lazy(program, node, lambda s: choose(Expr(f"{s[0]} == {s[1]}", p.COMPARISON), one, zero))


# ---- movements of data ----

@rule("clone.default", "detach.default", "alias.default", "contiguous.default", "lift_fresh_copy.default",
      "lift_fresh.default", "detach_.default")
def same(program, node, a):
    return a.self


@rule("dropout.default", "feature_dropout.default", "alpha_dropout.default")
def dropout(program, node, a):
    if a.train and a.p > 0:
        raise Refusal("dropout while training is random; import it in evaluation mode (--mode eval)")
    return a.input


@rule("native_dropout.default")
def native_dropout(program, node, a):
    if a.train and a.p > 0:
        raise Refusal("dropout while training is random; import it in evaluation mode, and write "
                      "F.dropout(x, p, training=self.training)")
    return [a.input, None]


@rule("view.default", "reshape.default", "_unsafe_view.default", "unsqueeze.default",
      "squeeze.dim", "squeeze.dims", "squeeze.default", "flatten.using_ints", "unflatten.int",
      "view_copy.default")
def view(program, node, a):
    new, old = shape(node), a.self.shape
    return lazy(program, node, lambda s: a.self.at(reshaped(s, new, old)))


def moved(program, node, value, order):
    """Dimension d of the result is dimension order[d] of the value."""
    def read(subscripts):
        old = [None] * len(order)
        for d, subscript in zip(order, subscripts):
            old[d] = subscript
        return value.at(old)
    return lazy(program, node, read)


@rule("permute.default")
def permute(program, node, a):
    return moved(program, node, a.self, [axis(d, a.self.rank) for d in a.dims])


@rule("transpose.int", "swapaxes.default")
def transpose(program, node, a):
    order = list(range(a.self.rank))
    i, j = axis(a.dim0, a.self.rank), axis(a.dim1, a.self.rank)
    order[i], order[j] = j, i
    return moved(program, node, a.self, order)


@rule("t.default", "numpy_T.default", "mT.default")
def transposed(program, node, a):
    order = list(range(a.self.rank))
    if "mT" in node.target.__name__:
        order[-1], order[-2] = order[-2], order[-1]
    else:
        order.reverse()
    return moved(program, node, a.self, order)


@rule("select.int")
def select(program, node, a):
    d = axis(a.dim, a.self.rank)
    at = a.index + a.self.shape[d] if a.index < 0 else a.index
    return lazy(program, node, lambda s: a.self.at(s[:d] + [number(at)] + s[d:]))


def window(program, node, value, d, start, step=1, shape_=None):
    return lazy(program, node, lambda s: value.at(
        s[:d] + [s[d].times(step).plus(start)] + s[d + 1:]), shape_, value.kind)


@rule("slice.Tensor")
def slice_(program, node, a):
    d = axis(a.dim, a.self.rank)
    size = a.self.shape[d]
    start = a.start or 0
    start = max(start + size, 0) if start < 0 else min(start, size)
    return window(program, node, a.self, d, start, a.step)


@rule("narrow.default")
def narrow(program, node, a):
    return window(program, node, a.self, axis(a.dim, a.self.rank), a.start)


def pieces(program, node, value, d, sizes):
    found, start = [], 0
    for size in sizes:
        new = value.shape[:d] + (size,) + value.shape[d + 1:]
        found.append(window(program, node, value, d, start, 1, new))
        start += size
    return found


@rule("split.Tensor", "split_with_sizes.default", "split.sizes", "chunk.default")
def split(program, node, a):
    d = axis(a.dim, a.self.rank)
    return pieces(program, node, a.self, d, [v.shape[d] for v in node.meta["val"]])


@rule("unbind.int")
def unbind(program, node, a):
    d = axis(a.dim, a.self.rank)
    new = a.self.shape[:d] + a.self.shape[d + 1:]
    return [lazy(program, node, lambda s, k=k: a.self.at(s[:d] + [number(k)] + s[d:]), new,
                 a.self.kind) for k in range(a.self.shape[d])]


@rule("expand.default", "expand_as.default", "broadcast_to.default")
def expand(program, node, a):
    new = shape(node)
    return lazy(program, node, lambda s: a.self.broadcast(s, new))


@rule("broadcast_tensors.default")
def broadcast_tensors(program, node, a):
    new = tuple(node.meta["val"][0].shape)
    return [lazy(program, node, lambda s, v=v: v.broadcast(s, new), new, v.kind) for v in a.tensors]


@rule("repeat.default")
def repeat(program, node, a):
    skip = len(shape(node)) - a.self.rank
    return lazy(program, node, lambda s: a.self.at(
        [x.modulo(size) for x, size in zip(s[skip:], a.self.shape)]))


@rule("repeat_interleave.self_int")
def repeat_interleave(program, node, a):
    d = axis(a.dim, a.self.rank)
    return lazy(program, node, lambda s: a.self.at(s[:d] + [s[d].over(a.repeats)] + s[d + 1:]))


@rule("flip.default")
def flip(program, node, a):
    dims = axes(a.dims, a.self.rank)
    return lazy(program, node, lambda s: a.self.at(
        [x.times(-1).plus(a.self.shape[d] - 1) if d in dims else x for d, x in enumerate(s)]))


@rule("roll.default")
def roll(program, node, a):
    if not a.dims:
        raise Refusal("roll of a flattened tensor; write dims=")
    shifts = {axis(d, a.self.rank): s for d, s in zip(a.dims, a.shifts)}
    return lazy(program, node, lambda s: a.self.at(
        [x.plus(-shifts[d]).modulo(a.self.shape[d]) if d in shifts else x
         for d, x in enumerate(s)]))


@rule("unfold.default")
def unfold(program, node, a):
    d = axis(a.dimension, a.self.rank)
    return lazy(program, node, lambda s: a.self.at(
        s[:d] + [s[d].times(a.step).plus(s[-1])] + s[d + 1:-1]))


@rule("diag.default", "diagonal.default")
def diagonal(program, node, a):
    offset = getattr(a, "diagonal", getattr(a, "offset", 0))
    if offset or a.self.rank > 2:
        raise Refusal("diag of more than a matrix, or beside the diagonal; "
                      "write torch.einsum or slices")
    if a.self.rank == 2:
        return lazy(program, node, lambda s: a.self.at([s[0], s[0]]))
    zero = literal(typed(node, 0))
    return lazy(program, node, lambda s: choose(
        Expr(f"{s[0]} == {s[1]}", p.COMPARISON), a.self.at([s[1]]), zero))


@rule("tril.default", "triu.default")
def triangle(program, node, a):
    sign = "<=" if "tril" in node.target.__name__ else ">="
    zero = literal(typed(node, 0))

    def read(s):
        inside = Expr(f"{s[-1]} {sign} {s[-2].plus(a.diagonal)}", p.COMPARISON)
        return choose(inside, a.self.at(s), zero)
    value = lazy(program, node, read)
    if kind(node) == "bool":    # a mask: conditions stand better as such
        value.read = lambda s: Expr(
            f"{s[-1]} {sign} {s[-2].plus(a.diagonal)} && {a.self.at(s).within(p.COMPARISON)}",
            p.LOGIC)
    return value


@rule("cat.default", "concat.default", "concatenate.default")
def cat(program, node, a):
    tensors = [t for t in a.tensors if math.prod(t.shape) > 0]
    d = axis(getattr(a, "dim", 0), tensors[0].rank)
    name = program.indices(shape(node), node)[d][0]
    for tensor in tensors:
        tensor.whole()          # inside a piece the index counts anew

    def read(s):
        inside = [tensor.at(s[:d] + [index(name, tensor.shape[d]) if tensor.shape[d] > 1
                                     else number(0)] + s[d + 1:]).text +
                  f":{tensor.shape[d]}" for tensor in tensors]
        program.plain -= {name, "!" + name}
        return Expr(f"cat[{name}]({', '.join(inside)})")
    return named(program, node, program.stage(node, shape(node), read))


MOST_CHOICES = 4


def pieces_of_one(program, node, d, tensors):
    """Many steps of a loop, put together: an if for each would be nested too deep to be read."""
    name = program.indices(shape(node), node)[d][0]

    def read(s):
        inside = [f"{tensor.at(s[:d] + s[d + 1:]).text}:1" for tensor in tensors]
        program.plain -= {name, "!" + name}
        return Expr(f"cat[{name}]({', '.join(inside)})")
    return named(program, node, program.stage(node, shape(node), read))


@rule("stack.default")
def stack(program, node, a):
    d = axis(a.dim, len(shape(node)))
    if len(a.tensors) > MOST_CHOICES:
        return pieces_of_one(program, node, d, a.tensors)

    def read(s):
        found = None
        for number_, tensor in reversed(list(enumerate(a.tensors))):
            element = tensor.at(s[:d] + s[d + 1:])
            found = element if found is None else choose(
                Expr(f"{s[d]} == {number_}", p.COMPARISON), element, found)
        return found
    value = lazy(program, node, read)
    value.whole()
    return value


@rule("pad.default", "constant_pad_nd.default")
def pad(program, node, a):
    mode = getattr(a, "mode", "constant")
    before = [0] * a.self.rank
    for number_ in range(len(a.pad) // 2):
        before[a.self.rank - 1 - number_] = a.pad[2 * number_]
    if mode != "constant":
        return pad_by(program, node, a.self, before, mode)
    default = literal(typed(node, getattr(a, "value", 0) or 0))
    a.self.whole()
    return lazy(program, node, lambda s: program.guarded(
        a.self, [x.plus(-before[d]) for d, x in enumerate(s)], default))


def pad_by(program, node, value, before, mode):
    """Borders made of what is inside: the subscript is bent back into the tensor."""
    def bent(x, size, first):
        moved_ = x.plus(-first)
        if moved_.low >= 0 and moved_.high < size:
            return str(moved_)
        if mode == "replicate":
            return f"min(max({moved_},0),{size - 1})"
        if mode == "reflect":
            return f"{size - 1}-abs({size - 1}-abs({moved_}))"
        return str(moved_.modulo(size))     # circular
    if mode not in ("replicate", "reflect", "circular"):
        raise Refusal(f"padding of mode {mode}; write torch.cat()")
    name = value.whole()

    def read(s):
        return Expr(f"{name}[" + ",".join(bent(x, value.shape[d], before[d])
                                          for d, x in enumerate(s)) + "]")
    return lazy(program, node, read)


@rule("copy.default")
def copy(program, node, a):
    new = shape(node)
    return lazy(program, node, lambda s: a.src.broadcast(s, new))


@rule("select_scatter.default")
def select_scatter(program, node, a):
    d = axis(a.dim, a.self.rank)
    at = a.index + a.self.shape[d] if a.index < 0 else a.index
    return written(program, node, lambda s: choose(
        Expr(f"{s[d]} == {at}", p.COMPARISON), a.src.at(s[:d] + s[d + 1:]), a.self.at(s)))


@rule("slice_scatter.default")
def slice_scatter(program, node, a):
    d = axis(a.dim, a.self.rank)
    size, start = a.self.shape[d], a.start or 0
    start = start + size if start < 0 else start
    if a.src.shape == a.self.shape:
        return a.src
    end = start + (a.src.shape[d] - 1) * a.step + 1
    a.src.whole()

    def read(s):
        place = s[d].plus(-start)
        inside = f"{s[d]} >= {start} && {s[d]} < {end}"
        if a.step != 1:
            inside += f" && {place.modulo(a.step)} == 0"
        moved_ = s[:d] + [place.over(a.step)] + s[d + 1:]
        source = program.guarded(a.src, moved_, literal(0))
        return choose(Expr(inside, p.LOGIC), source, a.self.at(s))
    return written(program, node, read)


def written(program, node, read):
    value = lazy(program, node, read)
    value.whole()
    return value


@rule("pixel_shuffle.default")
def pixel_shuffle(program, node, a):
    f = a.upscale_factor

    def read(s):
        channel = s[1].times(f * f).plus(s[2].modulo(f).times(f)).plus(s[3].modulo(f))
        return a.self.at([s[0], channel, s[2].over(f), s[3].over(f)])
    if a.self.rank != 4:
        raise Refusal("pixel_shuffle of what is not [N,C,H,W]; write x.unsqueeze(0)")
    return lazy(program, node, read)


# ---- reductions ----

def reduced(program, value, dims, word, body=None, wrap=None):
    """word over some dimensions of body(element): how an element is read, and the shape."""
    dims = axes(dims, value.rank)
    kept = [d for d in range(value.rank) if d not in dims]
    new = tuple(value.shape[d] for d in kept)

    def read(s):
        def inside(k):
            both = dict(zip(kept, s)) | dict(zip(dims, k))
            element = value.at([both[d] for d in range(value.rank)])
            return body(element) if body else element
        found = program.reduce(word, [value.shape[d] for d in dims], inside)
        return wrap(found) if wrap else found
    return read, new


def reduce_rule(program, node, a, word, body=None, wrap=None, dims="dim"):
    """A statement that reduces; kept dimensions of size 1 are views of it."""
    value = a.self
    wanted = axes(getattr(a, dims, None), value.rank)
    if word in ("sum", "prod") and value.kind == "bool":
        value = Value(program, value.shape, "int", lambda s: call("i32", a.self.at(s)))
    if not wanted:
        return elementwise(program, node, lambda x: x, value)
    read, new = reduced(program, value, wanted, word, body, wrap)
    name = program.stage(node, new, read)
    short = program.tensor(name, new, kind_of_result(node), node)
    if not getattr(a, "keepdim", False):
        return short
    kept = [d for d in range(value.rank) if d not in wanted]
    return lazy(program, node, lambda s: short.at([s[d] for d in kept]), result_shape(node),
                short.kind)


def kind_of_result(node):
    value = node.meta["val"]
    return p.kind_of((value[0] if isinstance(value, (tuple, list)) else value).dtype)


def result_shape(node):
    value = node.meta["val"]
    return tuple((value[0] if isinstance(value, (tuple, list)) else value).shape)


for word_, names_ in {"sum": ["sum.default", "sum.dim_IntList"],
                      "mean": ["mean.default", "mean.dim"],
                      "prod": ["prod.default", "prod.dim_int"],
                      "max": ["max.default", "amax.default"],
                      "min": ["min.default", "amin.default"]}.items():
    def reduction(program, node, a, word=word_):
        return reduce_rule(program, node, a, word)
    rule(*names_)(reduction)


def used(node, number_):
    return any(user.args[1] == number_ and user.users for user in node.users)


@rule("max.dim", "min.dim")
def extreme(program, node, a):
    word = "max" if "max" in node.target.__name__ else "min"
    values = reduce_rule(program, node, a, word)
    places = reduce_rule(program, node, a, "arg" + word) if used(node, 1) else None
    if places is not None:
        places.kind = "int"
    return [values, places]


@rule("argmax.default", "argmin.default")
def place_of_extreme(program, node, a):
    if a.dim is None and a.self.rank > 1:
        flat_ = lazy(program, node, lambda s: a.self.at(
            reshaped(s, (math.prod(a.self.shape),), a.self.shape)), (math.prod(a.self.shape),),
            a.self.kind)
        a.self = flat_
    return reduce_rule(program, node, a, node.target.__name__.split(".")[0])


@rule("linalg_vector_norm.default", "norm.ScalarOpt_dim", "norm.Scalar", "linalg_norm.default")
def vector_norm(program, node, a):
    order = getattr(a, "ord", getattr(a, "p", 2))
    order = 2 if order is None else order
    if order == 2:
        return reduce_rule(program, node, a, "sum", function("square"), function("sqrt"))
    if order == 1:
        return reduce_rule(program, node, a, "sum", function("abs"))
    if order in (math.inf, -math.inf):
        return reduce_rule(program, node, a, "max" if order > 0 else "min", function("abs"))
    return reduce_rule(program, node, a, "sum",
                       lambda x: call("pow", call("abs", x), literal(float(order))),
                       lambda x: call("pow", x, literal(1.0 / order)))


@rule("all.default", "all.dim", "any.default", "any.dim")
def all_or_any(program, node, a):
    word = "min" if "all" in node.target.__name__ else "max"
    return reduce_rule(program, node, a, word, lambda x: call("i32", x),
                       lambda x: compare("!=")(x, literal(0)))


@rule("var.correction", "std.correction", "var.dim", "std.dim", "var_mean.correction", "var.default",
      "std.default")
def variance(program, node, a):
    dims = axes(getattr(a, "dim", None), a.self.rank)
    count = math.prod(a.self.shape[d] for d in dims)
    correction = getattr(a, "correction", None)
    if correction is None:
        correction = 1 if getattr(a, "unbiased", True) else 0
    kept = [d for d in range(a.self.rank) if d not in dims]
    new = tuple(a.self.shape[d] for d in kept)
    a.self.whole()
    read, _ = reduced(program, a.self, dims, "mean")
    mean = program.tensor(program.stage(node, new, read, node.name + "_mean"), new, "float", node)

    def deviation(s):
        def inside(k):
            both = dict(zip(kept, s)) | dict(zip(dims, k))
            return call("square", minus(a.self.at([both[d] for d in range(a.self.rank)]), mean.at(s)))
        total = program.reduce("sum", [a.self.shape[d] for d in dims], inside)
        found = over(total, literal(count - correction))
        return call("sqrt", found) if "std" in node.target.__name__ else found
    found = program.tensor(program.stage(node, new, deviation), new, "float", node)
    results = [found, mean]
    if getattr(a, "keepdim", False):
        results = [lazy(program, node, lambda s, v=v: v.at([s[d] for d in kept]), result_shape(node),
                        "float") for v in results]
    return results if "var_mean" in node.target.__name__ else results[0]


@rule("cumsum.default", "cumprod.default")
def cumulate(program, node, a):
    d = axis(a.dim, a.self.rank)
    first, join = (0, plus) if "sum" in node.target.__name__ else (1, times)
    if a.self.kind == "bool":
        raise Refusal("a cumulated mask; write x.float() before")
    indices = program.indices(shape(node), node)
    name = program.fresh(node.name)
    saved, program.plain = program.plain, set()

    def read(s):
        before = s[:d] + [index(*indices[d]).plus(-1)] + s[d + 1:]
        past = Expr(f"{name}[{','.join(map(str, before))} | {first}]")
        return join(past, a.self.at(s))
    a.self.whole()
    expr = program.with_indices(indices, read)
    program.lines.append(f"{name}[{program.left(indices)}] = {expr.text}")
    program.plain = saved
    return named(program, node, name)
