"""Rules for whole layers: products, convolutions, norms, pools, attention, recurrent layers, losses.

They call the operators of the library (lib/), which say the same, where there is one.
"""
import math
import string

from worker import program as p
from worker.index import number
from worker.program import Expr, Value, call, choose, compare, literal, minus, over, plus, times
from worker.refusal import Refusal
from worker.rules import (axes, axis, elementwise, function, kind, lazy, named, rule, reduced,
                          result_shape, scaled_by, shape)


def invoke(name, tensors, **attributes):
    """name(A, B, stride=2): the text of a call; attributes that are None are left out."""
    texts = [t.whole() for t in tensors] + [f"{k}={v}" for k, v in attributes.items() if v is not None]
    return f"{name}({', '.join(texts)})"


def invoked(program, node, name, tensors, **attributes):
    return named(program, node, program.whole(node, invoke(name, tensors, **attributes)))


def number_text(value, usual=None):
    return None if value == usual else literal(float(value)).text


# ---- products ----

def product(program, node, left, right, left_at, right_at, terms, add=None):
    """Y[s] = sum[k](left[..k] * right[..k]) + add."""
    left.whole(), right.whole()

    def read(s):
        total = program.reduce("sum", [terms], lambda k: times(left.at(left_at(s, k[0])),
                                                                right.at(right_at(s, k[0]))))
        return add(s, total) if add else total
    return named(program, node, program.stage(node, shape(node), read))


@rule("matmul.default", "mm.default", "bmm.default", "mv.default", "dot.default", "vdot.default")
def matmul(program, node, a):
    left = a.self
    right = getattr(a, "other", None) or getattr(a, "mat2", None) or getattr(a, "vec", None) or a.tensor
    return multiply_matrices(program, node, left, right)


def multiply_matrices(program, node, left, right, add=None):
    out = shape(node)
    if add is None and left.rank == right.rank >= 2 and left.shape[:-2] == right.shape[:-2] and \
            left.name and right.name:
        return invoked(program, node, "matmul", [left, right])
    rows, columns = left.rank > 1, right.rank > 1
    batch = len(out) - rows - columns

    def part(value, s, last):
        skip = batch - (value.rank - len(last))
        lead = [number(0) if size == 1 else x for x, size in zip(s[skip:batch], value.shape)]
        return lead + last
    return product(program, node, left, right,
                   lambda s, k: part(left, s, [s[batch], k] if rows else [k]),
                   lambda s, k: part(right, s, [k, s[-1]] if columns else [k]), left.shape[-1], add)


@rule("addmm.default", "baddbmm.default", "addmv.default")
def add_product(program, node, a):
    left = getattr(a, "mat1", None) or getattr(a, "batch1", None) or a.mat
    right = getattr(a, "mat2", None) or getattr(a, "batch2", None) or a.vec
    out = shape(node)
    a.self.whole()
    return multiply_matrices(program, node, left, right, lambda s, total: plus(
        scaled_by(a.beta, a.self.broadcast(s, out)), scaled_by(a.alpha, total)))


@rule("outer.default")
def outer(program, node, a):
    return lazy(program, node, lambda s: times(a.self.at([s[0]]), a.vec2.at([s[1]])))


@rule("linear.default")
def linear(program, node, a):
    tensors = [a.input, a.weight] + ([a.bias] if a.bias is not None else [])
    if a.weight.rank != 2:
        raise Refusal("a linear layer with a vector for its weight; write x @ weight")
    return invoked(program, node, "linear", tensors)


@rule("bilinear.default")
def bilinear(program, node, a):
    if a.bias is None:
        raise Refusal("a bilinear layer without a bias; write torch.einsum")
    return invoked(program, node, "bilinear", [a.input1, a.input2, a.weight, a.bias])


def letters_of(equation, ranks):
    """(operands, result) of an einsum; dots become letters of their own, counted from the last."""
    left, arrow, right = equation.partition("->")
    if not arrow:
        once = sorted(c for c in set(left) - {",", "."} if left.count(c) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    operands = left.split(",")
    counts = [rank - len(operand.replace("...", "")) for operand, rank in zip(operands, ranks)]
    free = [c for c in string.ascii_letters if c not in equation][:max(counts)]
    spelled = [operand.replace("...", "".join(free[len(free) - count:]))
               for operand, count in zip(operands, counts)]
    return spelled, right.replace("...", "".join(free))


@rule("einsum.default")
def einsum(program, node, a):
    operands, right = letters_of(a.equation.replace(" ", ""), [tensor.rank for tensor in a.tensors])
    extent = {}
    for letters, tensor in zip(operands, a.tensors):
        tensor.whole()
        for letter, size in zip(letters, tensor.shape):
            extent[letter] = max(size, extent.get(letter, 1))
    summed = [c for c in dict.fromkeys("".join(operands)) if c not in right]

    def factors(at):
        found = None
        for letters, tensor in zip(operands, a.tensors):
            element = tensor.at([number(0) if size == 1 else at[c]
                                 for c, size in zip(letters, tensor.shape)])
            found = element if found is None else times(found, element)
        return found

    def read(s):
        at = dict(zip(right, s))
        if not summed:
            return factors(at)
        return program.reduce("sum", [extent[c] for c in summed],
                              lambda k: factors(at | dict(zip(summed, k))))
    return named(program, node, program.stage(node, shape(node), read))


# ---- convolutions ----

SUFFIX = {1: [""], 2: ["_h", "_w"], 3: ["_d", "_h", "_w"]}


def per_axis(word, values, rank, usual):
    """stride=2 where all axes agree, else stride_h=2, stride_w=1."""
    values = [values] if isinstance(values, int) else list(values)
    values = values * rank if len(values) == 1 else values
    if len(set(values)) == 1:
        return {} if values[0] == usual else {word: values[0]}
    return {word + s: v for s, v in zip(SUFFIX[rank], values)}


def same_padding(padding, dilation, kernel):
    """What padding="same" adds on both sides; None: not the same on both."""
    if padding == "valid":
        return [0] * len(kernel)
    dilation = list(dilation) * len(kernel) if len(dilation) == 1 else dilation
    totals = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if any(total % 2 for total in totals):
        raise Refusal('padding="same" with an even kernel; write F.pad and padding=0')
    return [total // 2 for total in totals]


@rule("conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding",
      "conv3d.padding")
def convolution(program, node, a):
    rank = a.weight.rank - 2
    if a.input.rank != rank + 2:
        raise Refusal("a convolution without a batch; write x.unsqueeze(0)")
    padding = same_padding(a.padding, a.dilation, a.weight.shape[2:]) \
        if isinstance(a.padding, str) else a.padding
    tensors = [a.input, a.weight] + ([a.bias] if a.bias is not None else [])
    return invoked(program, node, f"conv{rank}d", tensors,
                   **per_axis("stride", a.stride, rank, 1), **per_axis("pad", padding, rank, 0),
                   **per_axis("dilation", a.dilation, rank, 1),
                   groups=None if a.groups == 1 else a.groups)


@rule("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input")
def transposed_convolution(program, node, a):
    rank = a.weight.rank - 2
    if a.input.rank != rank + 2:
        raise Refusal("a convolution without a batch; write x.unsqueeze(0)")
    tensors = [a.input, a.weight] + ([a.bias] if a.bias is not None else [])
    return invoked(program, node, f"conv_transpose{rank}d", tensors,
                   **per_axis("stride", a.stride, rank, 1), **per_axis("pad", a.padding, rank, 0),
                   **per_axis("output_pad", a.output_padding, rank, 0),
                   **per_axis("dilation", a.dilation, rank, 1),
                   groups=None if a.groups == 1 else a.groups)


@rule("convolution.default")
def any_convolution(program, node, a):
    return (transposed_convolution if a.transposed else convolution)(program, node, a)


# ---- norms ----

def gain_and_shift(element, at, weight, bias):
    if weight is not None:
        element = times(element, weight.at(at))
    return element if bias is None else plus(element, bias.at(at))


def normalised(program, node, value, dims, eps, scale_at, weight, bias):
    """Two means over some dimensions, then (x - mean)*rsqrt(variance + eps)*weight + bias.
    dims(s): the subscripts of the statistics; members(s, k): those of their terms."""
    new, read_mean, read_variance, stat_at = dims
    mean = program.tensor(program.stage(node, new, read_mean, node.name + "_mean"), new, "float", node)
    variance = program.tensor(program.stage(node, new, lambda s: read_variance(s, mean),
                                            node.name + "_var"), new, "float", node)

    def read(s):
        at = stat_at(s)
        scale = call("rsqrt", plus(variance.at(at), literal(float(eps))))
        return gain_and_shift(times(minus(value.at(s), mean.at(at)), scale), scale_at(s), weight, bias)
    return named(program, node, program.stage(node, value.shape, read), value.shape, "float")


def statistics_over(program, value, dims):
    """The means over dimensions of a tensor, for normalised()."""
    kept = [d for d in range(value.rank) if d not in dims]
    new = tuple(value.shape[d] for d in kept)
    sizes = [value.shape[d] for d in dims]

    def at(s, k):
        both = dict(zip(kept, s)) | dict(zip(dims, k))
        return [both[d] for d in range(value.rank)]

    def mean(s):
        return program.reduce("mean", sizes, lambda k: value.at(at(s, k)))

    def variance(s, mean_):
        return program.reduce("mean", sizes, lambda k: call(
            "square", minus(value.at(at(s, k)), mean_.at(s))))
    return new, mean, variance, lambda s: [s[d] for d in kept]


def eps_text(eps):
    return number_text(eps, 1e-5)


@rule("layer_norm.default", "native_layer_norm.default")
def layer_norm(program, node, a):
    count = len(a.normalized_shape)
    several = "native" in node.target.__name__
    if count == 1 and (a.weight is None) == (a.bias is None):
        tensors = [a.input] + ([a.weight, a.bias] if a.weight is not None else [])
        found = named(program, node, program.whole(node, invoke(
            "layer_norm", tensors, eps=eps_text(a.eps))), a.input.shape, "float")
    elif count == a.input.rank - 1 and a.weight is not None and a.bias is not None:
        found = named(program, node, program.whole(node, invoke(
            "layer_norm_all", [a.input, a.weight, a.bias], eps=eps_text(a.eps))),
            a.input.shape, "float")
    else:
        a.input.whole()
        first = a.input.rank - count
        found = normalised(program, node, a.input, statistics_over(
            program, a.input, list(range(first, a.input.rank))), a.eps, lambda s: s[first:],
            a.weight, a.bias)
    return [found, None, None] if several else found


@rule("rms_norm.default")
def rms_norm(program, node, a):
    if len(a.normalized_shape) != 1:
        raise Refusal("rms_norm over more than the last dimension; write the arithmetic out")
    tensors = [a.input] + ([a.weight] if a.weight is not None else [])
    eps = 1.1920928955078125e-07 if a.eps is None else a.eps
    return invoked(program, node, "rms_norm", tensors, eps=eps_text(eps))


@rule("group_norm.default")
def group_norm(program, node, a):
    value, groups = a.input, a.num_groups
    if a.weight is not None and a.bias is not None:
        return invoked(program, node, "group_norm", [value, a.weight, a.bias],
                       groups=None if groups == 1 else groups, eps=eps_text(a.eps))
    value.whole()
    size = value.shape[1] // groups
    split = (value.shape[0], groups, size) + value.shape[2:]
    seen = lazy(program, node, lambda s: value.at([s[0], s[1].times(size).plus(s[2])] + s[3:]), split)
    new, mean, variance, _ = statistics_over(program, seen, list(range(2, len(split))))
    return normalised(program, node, value,
                      (new, mean, variance, lambda s: [s[0], s[1].over(size)]), a.eps,
                      lambda s: [s[1]], a.weight, a.bias)


@rule("instance_norm.default")
def instance_norm(program, node, a):
    if not a.use_input_stats:
        raise Refusal("instance_norm with running statistics; write the arithmetic out")
    tensors = [a.input] + ([a.weight, a.bias] if a.weight is not None else [])
    return invoked(program, node, "instance_norm", tensors, eps=eps_text(a.eps))


def batch_norm_of(program, node, value, weight, bias, mean, variance, eps):
    """With statistics given: inference; without: those of the data."""
    name = None
    if weight is not None and bias is not None:
        tensors = [value] + ([mean, variance] if mean is not None else []) + [weight, bias]
        name = program.whole(node, invoke("batch_norm", tensors, eps=eps_text(eps)))
    elif mean is None and weight is None and bias is None:
        name = program.whole(node, invoke("batch_norm", [value], eps=eps_text(eps)))
    if name is not None:
        return named(program, node, name, value.shape, "float")
    value.whole()
    if mean is None:
        return normalised(program, node, value, statistics_over(
            program, value, [d for d in range(value.rank) if d != 1]), eps, lambda s: [s[1]], weight,
            bias)

    def read(s):
        scale = call("rsqrt", plus(variance.at([s[1]]), literal(float(eps))))
        return gain_and_shift(times(minus(value.at(s), mean.at([s[1]])), scale), [s[1]], weight, bias)
    return named(program, node, program.stage(node, value.shape, read), value.shape, "float")


@rule("_native_batch_norm_legit_no_training.default")
def batch_norm_eval(program, node, a):
    return [batch_norm_of(program, node, a.input, a.weight, a.bias, a.running_mean, a.running_var,
                          a.eps), None, None]


@rule("_native_batch_norm_legit_functional.default", "_native_batch_norm_legit.no_stats",
      "_native_batch_norm_legit.default", "native_batch_norm.default")
def batch_norm_train(program, node, a):
    use_data = a.training
    return [batch_norm_of(program, node, a.input, a.weight, a.bias,
                          None if use_data else a.running_mean,
                          None if use_data else a.running_var, a.eps), None, None, None, None]


@rule("batch_norm.default")
def batch_norm(program, node, a):
    return batch_norm_of(program, node, a.input, a.weight, a.bias,
                         None if a.training else a.running_mean,
                         None if a.training else a.running_var, a.eps)


# ---- softmax ----

def extreme_along(program, node, value, d):
    kept = [k for k in range(value.rank) if k != d]
    new = tuple(value.shape[k] for k in kept)
    read, _ = reduced(program, value, [d], "max")
    return kept, program.tensor(program.stage(node, new, read, node.name + "_max"), new, "float", node)


@rule("softmax.int", "_softmax.default", "log_softmax.int", "_log_softmax.default")
def softmax(program, node, a):
    value, d = a.self, axis(a.dim, a.self.rank)
    log = "log" in node.target.__name__
    word = "log_softmax" if log else "softmax"
    if d == value.rank - 1:
        return invoked(program, node, word, [value])
    if d == 1:
        return invoked(program, node, word + "1", [value])
    value.whole()
    kept, most = extreme_along(program, node, value, d)

    def shifted(s):
        return minus(value.at(s), most.at([s[k] for k in kept]))
    if log:
        total, new = reduced(program, lazy(program, node, lambda s: call("exp", shifted(s))), [d], "sum",
                             None, function("log"))
        logs = program.tensor(program.stage(node, new, total, node.name + "_log"), new, "float", node)
        return named(program, node, program.stage(node, shape(node), lambda s: minus(
            shifted(s), logs.at([s[k] for k in kept]))))
    powers = program.tensor(program.stage(node, value.shape, lambda s: call("exp", shifted(s)),
                                          node.name + "_exp"), value.shape, "float", node)
    total, new = reduced(program, powers, [d], "sum")
    sums = program.tensor(program.stage(node, new, total, node.name + "_sum"), new, "float", node)
    return named(program, node, program.stage(node, shape(node), lambda s: over(
        powers.at(s), sums.at([s[k] for k in kept]))))


@rule("logsumexp.default")
def logsumexp(program, node, a):
    value, dims = a.self, axes(a.dim, a.self.rank)
    value.whole()
    kept = [d for d in range(value.rank) if d not in dims]
    new = tuple(value.shape[d] for d in kept)
    read, _ = reduced(program, value, dims, "max")
    most = program.tensor(program.stage(node, new, read, node.name + "_max"), new, "float", node)
    shifted = lazy(program, node, lambda s: call("exp", minus(
        value.at(s), most.at([s[d] for d in kept]))), value.shape)
    total, _ = reduced(program, shifted, dims, "sum", None, function("log"))
    short = program.tensor(program.stage(node, new, lambda s: plus(total(s), most.at(s))), new,
                           "float", node)
    if not a.keepdim:
        return short
    return lazy(program, node, lambda s: short.at([s[d] for d in kept]))


# ---- pools ----

def window_of(rank, kernel_size, stride, padding, dilation=1):
    names = {1: ["k"], 2: ["kh", "kw"], 3: ["kd", "kh", "kw"]}[rank]
    size = list(kernel_size) * rank if len(kernel_size) == 1 else list(kernel_size)
    attributes = {"k": size[0]} if len(set(size)) == 1 else dict(zip(names, size))
    stride = list(stride) if stride else size
    stride = stride * rank if len(stride) == 1 else stride
    if stride != size:
        attributes |= per_axis("stride", stride, rank, None)
    attributes |= per_axis("pad", padding, rank, 0)
    return attributes | per_axis("dilation", dilation, rank, 1)


def batched(value, rank):
    if value.rank != rank + 2:
        raise Refusal("a pool without a batch; write x.unsqueeze(0)")


@rule("max_pool1d.default", "max_pool2d.default", "max_pool3d.default",
      "max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def max_pool(program, node, a):
    word = node.target.__name__.split(".")[0].replace("_with_indices", "")
    rank = int(word[-2])
    batched(a.self, rank)
    name = program.whole(node, invoke(word, [a.self], **window_of(
        rank, a.kernel_size, a.stride, a.padding, a.dilation),
        ceil_mode=1 if a.ceil_mode else None))
    found = named(program, node, name, result_shape(node), "float")
    return [found, None] if "indices" in node.target.__name__ else found


@rule("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default")
def avg_pool(program, node, a):
    word = node.target.__name__.split(".")[0]
    rank = int(word[-2])
    batched(a.self, rank)
    if getattr(a, "divisor_override", None) is not None:
        raise Refusal("an average pool with divisor_override; write it without and multiply")
    padded = any([a.padding] if isinstance(a.padding, int) else a.padding)
    attributes = window_of(rank, a.kernel_size, a.stride, a.padding)
    if padded and not a.count_include_pad:
        word += "_valid"
        attributes["ceil_mode"] = 1 if a.ceil_mode else None
    elif a.ceil_mode:
        if rank == 3 and padded:
            raise Refusal("avg_pool3d with padding and ceil_mode; write F.pad before")
        attributes["ceil_mode"] = 1 if rank == 3 else None
        word += "_valid" if rank == 3 else "_ceil"
    return invoked(program, node, word, [a.self], **attributes)


@rule("adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default", "adaptive_avg_pool3d.default",
      "_adaptive_avg_pool2d.default")
def adaptive_avg_pool(program, node, a):
    rank, new = a.self.rank - 2, shape(node)
    word = node.target.__name__.split(".")[0].lstrip("_")
    batched(a.self, int(word[-2]))
    if math.prod(new[2:]) == 1:
        read, short = reduced(program, a.self, list(range(2, rank + 2)), "mean")
        value = program.tensor(program.stage(node, short, read), short, "float", node)
        return lazy(program, node, lambda s: value.at(s[:2]))
    names = {1: ["OL"], 2: ["OH", "OW"], 3: ["OD", "OH", "OW"]}[rank]
    return invoked(program, node, word, [a.self], **dict(zip(names, new[2:])))


@rule("adaptive_max_pool2d.default")
def adaptive_max_pool(program, node, a):
    new = result_shape(node)
    name = program.whole(node, invoke("adaptive_max_pool2d", [a.self], OH=new[2], OW=new[3]))
    return [named(program, node, name, new, "float"), None]


def whole_sizes(a, old, new):
    """PyTorch steps by 1/scale_factor where there is one, the statements by old/new size: these are
    the same where the factor gives the new size without a rest."""
    factors = getattr(a, "scale_factors", None) or \
        [getattr(a, name, None) for name in ("scales", "scales_d", "scales_h", "scales_w")
         if hasattr(a, name)]
    for factor, size, wanted in zip(factors, old, new):
        if factor is not None and abs(size * factor - wanted) > 1e-9 * wanted:
            raise Refusal(f"interpolate with a scale_factor of {factor}, which makes no whole "
                          f"size of {size}; write size=({', '.join(map(str, new))})")


@rule("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec",
      "upsample_nearest2d.default", "upsample_nearest1d.default")
def upsample_nearest(program, node, a):
    value = getattr(a, "input", None) or a.self
    new = shape(node)
    whole_sizes(a, value.shape[2:], new[2:])

    def source(x, size, wanted):
        return x.over(wanted // size) if wanted % size == 0 else x.times(size).over(wanted)
    return lazy(program, node, lambda s: value.at(s[:2] + [
        source(x, size, wanted) for x, size, wanted in zip(s[2:], value.shape[2:], new[2:])]))


@rule("upsample_bilinear2d.vec", "upsample_bilinear2d.default")
def upsample_bilinear(program, node, a):
    value, new = getattr(a, "input", None) or a.self, shape(node)
    word = "resize_bilinear2d_corners" if a.align_corners else "resize_bilinear2d"
    if not a.align_corners:
        whole_sizes(a, value.shape[2:], new[2:])
    return invoked(program, node, word, [value], OH=new[2], OW=new[3])


@rule("im2col.default")
def im2col(program, node, a):
    if any(len(set(v)) != 1 for v in (a.stride, a.padding, a.dilation)):
        raise Refusal("F.unfold with different strides, paddings or dilations along its axes; "
                      "write x.unfold() for each axis")
    return invoked(program, node, "unfold", [a.self], kh=a.kernel_size[0], kw=a.kernel_size[1],
                   stride=a.stride[0], pad=a.padding[0], dilation=a.dilation[0])


@rule("glu.default")
def glu(program, node, a):
    d = axis(a.dim, a.self.rank)
    half = a.self.shape[d] // 2
    return elementwise_of(program, node, lambda s: times(
        a.self.at(s), call("sigmoid", a.self.at(s[:d] + [s[d].plus(half)] + s[d + 1:]))), a.self)


def elementwise_of(program, node, read, *values):
    for value in values:
        value.whole()
    return named(program, node, program.stage(node, shape(node), read))


@rule("prelu.default", "_prelu_kernel.default")
def prelu(program, node, a):
    def slope(s):
        if a.weight.rank == 1 and a.self.rank > 1:
            return a.weight.at([number(0) if a.weight.shape[0] == 1 else s[1]])
        return a.weight.broadcast(s, a.self.shape)
    return elementwise_of(program, node, lambda s: call("leaky_relu", a.self.at(s), slope(s)), a.self)


# ---- attention ----

@rule("scaled_dot_product_attention.default")
def attention(program, node, a):
    if a.dropout_p:
        raise Refusal("attention with dropout is random; import it in evaluation mode")
    tensors = [a.query, a.key, a.value]
    scale = None if a.scale is None else literal(float(a.scale)).text
    mask = a.attn_mask
    if a.enable_gqa and a.query.shape[:-2] != a.key.shape[:-2]:
        if mask is not None or {t.rank for t in tensors} != {4} or \
                a.key.shape[1] != a.value.shape[1] or len({t.shape[0] for t in tensors}) != 1:
            raise Refusal("attention of this form with enable_gqa; write the heads of key and "
                          "value out with repeat_interleave")
        return invoked(program, node, "grouped_attention", tensors,
                       causal=1 if a.is_causal else None, sc=scale)
    if mask is None and len({t.shape[:-2] for t in tensors}) == 1:
        word = "causal_attention" if a.is_causal else "attention"
        return invoked(program, node, word, tensors, sc=scale)
    if mask is None or a.is_causal:
        raise Refusal("attention whose batches or heads differ; write expand() so that query, key "
                      "and value have the same")
    for tensor in tensors + [mask]:
        tensor.whole()
    batch, width = a.query.shape[:-2], a.query.shape[-1]
    scores_shape = batch + (a.query.shape[-2], a.key.shape[-2])

    def scores(s):
        factor = literal(1 / math.sqrt(width) if a.scale is None else float(a.scale))
        total = times(factor, program.reduce("sum", [width], lambda k: times(
            a.query.at(s[:-1] + [k[0]]), a.key.at(s[:-2] + [s[-1], k[0]]))))
        element = mask.broadcast(s, scores_shape)
        return choose(element, total, literal(-math.inf)) if mask.kind == "bool" else \
            plus(total, element)
    name = program.stage(node, scores_shape, scores, node.name + "_scores")
    weights = program.tensor(program.whole(node, f"softmax({name})", node.name + "_weights"),
                             scores_shape, "float", node)
    return product(program, node, weights, a.value, lambda s, k: s[:-1] + [k],
                   lambda s, k: s[:-2] + [k, s[-1]], a.key.shape[-2])


# ---- recurrent layers ----

RECURRENT = {"lstm": "lstm", "gru": "gru", "rnn_tanh": "rnn", "rnn_relu": "rnn_relu"}


@rule("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input")
def recurrent(program, node, a):
    """Layer by layer, direction by direction, time first."""
    word = RECURRENT[node.target.__name__.split(".")[0]]
    if a.train and a.dropout:
        raise Refusal("dropout between recurrent layers is random; import it in evaluation mode")
    value, states = a.input, list(a.hx) if isinstance(a.hx, (list, tuple)) else [a.hx]
    if value.rank != 3:
        raise Refusal("a recurrent layer without a batch; write x.unsqueeze(0)")
    if a.batch_first:
        value = turned(program, node, value)
    hidden, directions = states[0].shape[2], 2 if a.bidirectional else 1
    each = 4 if a.has_biases else 2
    if len(a.params) != a.num_layers * directions * each:
        raise Refusal("an LSTM with proj_size; write its steps out with nn.LSTMCell and nn.Linear")
    last = [[] for _ in states]
    for layer in range(a.num_layers):
        outputs = []
        for direction in range(directions):
            number_ = layer * directions + direction
            weights = list(a.params[number_ * each:(number_ + 1) * each])
            if not a.has_biases:
                zero = zeros(program, node, weights[0].shape[0])
                weights += [zero, zero]
            initial = [lazy(program, node, lambda s, v=v, k=number_: v.at([number(k)] + s), v.shape[1:],
                            "float") for v in states]
            names = program.several(node, len(states) + 1, invoke(
                word, [value] + weights + initial, reverse=1 if direction else None))
            steps, batch = value.shape[:2]
            outputs.append(program.tensor(names[0], (steps, batch, hidden), "float", node))
            for k, name in enumerate(names[1:]):
                last[k].append(program.tensor(name, (batch, hidden), "float", node))
        value = outputs[0] if directions == 1 else joined(program, node, outputs)
    result = turned(program, node, value) if a.batch_first else value
    return [result] + [stacked(program, node, found) for found in last]


@rule("rnn_tanh_cell.default", "rnn_relu_cell.default", "gru_cell.default", "lstm_cell.default")
def cell(program, node, a):
    """One step."""
    word = node.target.__name__.split(".")[0].replace("_tanh", "")
    states = list(a.hx) if isinstance(a.hx, (list, tuple)) else [a.hx]
    zero = zeros(program, node, a.w_ih.shape[0])
    biases = [zero if bias is None else bias for bias in (a.b_ih, a.b_hh)]
    if word == "rnn_relu_cell":     # the library has none
        parts = [program.whole(node, invoke("linear", [value, weight, bias]), node.name + "_part")
                 for value, weight, bias in zip([a.input, a.hx], [a.w_ih, a.w_hh], biases)]
        return named(program, node, program.whole(node, f"relu({' + '.join(parts)})"))
    names = program.several(node, len(states), invoke(
        word, [a.input, a.w_ih, a.w_hh] + biases + states))
    found = [program.tensor(name, states[0].shape, "float", node) for name in names]
    return found if word == "lstm_cell" else found[0]


def zeros(program, node, count):
    """For a bias that is not there."""
    return Value(program, (count,), "float", lambda s: literal(0.0), None, node)


def turned(program, node, value):
    new = (value.shape[1], value.shape[0]) + value.shape[2:]
    return lazy(program, node, lambda s: value.at([s[1], s[0]] + s[2:]), new, value.kind)


def joined(program, node, outputs):
    new = outputs[0].shape[:-1] + (sum(o.shape[-1] for o in outputs),)
    return program.tensor(program.whole(node, invoke("concat_last", outputs), node.name + "_both"),
                          new, "float", node)


def stacked(program, node, found):
    new = (len(found),) + found[0].shape

    def read(s):
        element = found[-1].at(s[1:])
        for k in reversed(range(len(found) - 1)):
            element = choose(Expr(f"{s[0]} == {k}", p.COMPARISON), found[k].at(s[1:]), element)
        return element
    return lazy(program, node, read, new, "float")


# ---- gathers ----

@rule("embedding.default")
def embedding(program, node, a):
    program.limit(a.indices, a.weight.shape[0])
    return invoked(program, node, "embedding", [a.indices, a.weight])


@rule("index_select.default")
def index_select(program, node, a):
    d = axis(a.dim, a.self.rank)
    return gathered(program, node, a.self, {d: (a.index, lambda s: [s[d]])}, lambda s: s)


@rule("gather.default")
def gather(program, node, a):
    d = axis(a.dim, a.self.rank)
    return gathered(program, node, a.self, {d: (a.index, lambda s: s)}, lambda s: s)


@rule("index.Tensor")
def index_tensor(program, node, a):
    chosen = {d: t for d, t in enumerate(a.indices) if t is not None}
    first, count = min(chosen), len(chosen)
    if any(t.kind == "bool" for t in chosen.values()):
        raise Refusal("a mask as an index: the shape would hang on the data; write torch.where()")
    if sorted(chosen) != list(range(first, first + count)):
        raise Refusal("indices that are not beside each other; write x.movedim() before")
    wide = max((t.shape for t in chosen.values()), key=lambda s: (len(s), math.prod(s)))
    rank = len(wide)

    def plain(s):
        """Subscripts of the tensor; those that are gathered are replaced."""
        return s[:first] + [number(0)] * count + s[first + rank:]
    table = {d: (t, lambda s, t=t: [number(0) if size == 1 else x for x, size in zip(
        s[first + rank - t.rank:first + rank], t.shape)]) for d, t in chosen.items()}
    return gathered(program, node, a.self, table, plain)


def gathered(program, node, value, table, plain):
    value.whole()
    for d, (tensor, _) in table.items():
        program.limit(tensor, value.shape[d])
        tensor.whole()

    def read(s):
        subscripts = [str(x) for x in plain(s)]
        program.note_plain([x for d, x in enumerate(plain(s)) if d not in table],
                           [size for d, size in enumerate(value.shape) if d not in table])
        for d, (tensor, at) in table.items():
            subscripts[d] = tensor.at(at(s)).text
        return Expr(f"{value.name}[{','.join(subscripts)}]")
    if value.kind == "bool" and kind(node) != "bool":
        raise Refusal("a gather of a mask; write mask.float() before")
    return named(program, node, program.stage(node, shape(node), read))


# ---- losses ----

NONE, MEAN, TOTAL = 0, 1, 2


def loss(program, node, values, reduction, body, divisor=None):
    """body(elements) of tensors of one shape, then its mean, its sum, or neither."""
    for value in values:
        value.whole()
    wide = max((v.shape for v in values), key=lambda s: (len(s), math.prod(s)))
    if reduction == NONE:
        return elementwise(program, node, body, *values)

    def read(_):
        found = program.reduce("mean" if reduction == MEAN else "sum", wide, lambda k: body(
            *[v.broadcast(k, wide) for v in values]))
        return over(found, literal(float(divisor))) if divisor else found
    return named(program, node, program.stage(node, (), read))


def loss_rule(name, body):
    @rule(name)
    def build(program, node, a):
        return loss(program, node, [a.self, a.target], a.reduction, lambda x, t: body(a, x, t))
    return build


def bent(a, x, t, edge, inner, outer):
    far = call("abs", minus(x, t))
    return choose(compare("<")(far, literal(edge)), inner(far), outer(far))


loss_rule("mse_loss.default", lambda a, x, t: call("square", minus(x, t)))
loss_rule("l1_loss.default", lambda a, x, t: call("abs", minus(x, t)))
loss_rule("smooth_l1_loss.default", lambda a, x, t: bent(
    a, x, t, float(a.beta), lambda d: over(times(literal(0.5), call("square", d)), literal(float(a.beta))),
    lambda d: minus(d, literal(0.5 * a.beta))))
loss_rule("huber_loss.default", lambda a, x, t: bent(
    a, x, t, float(a.delta), lambda d: times(literal(0.5), call("square", d)),
    lambda d: times(literal(float(a.delta)), minus(d, literal(0.5 * a.delta)))))
loss_rule("soft_margin_loss.default", lambda a, x, t: call(
    "log1p", call("exp", times(p.negative(x), t))))


@rule("kl_div.default")
def kl_div(program, node, a):
    def body(x, t):
        if a.log_target:
            return times(call("exp", t), minus(t, x))
        return choose(compare(">")(t, literal(0)), times(t, minus(call("log", t), x)), literal(0.0))
    return loss(program, node, [a.self, a.target], a.reduction, body)


@rule("binary_cross_entropy.default", "binary_cross_entropy_with_logits.default")
def binary_cross_entropy(program, node, a):
    if a.weight is not None or getattr(a, "pos_weight", None) is not None:
        raise Refusal("a binary cross entropy with weights; write it out with F.logsigmoid")
    if "logits" in node.target.__name__:
        return loss(program, node, [a.self, a.target], a.reduction, lambda x, t: plus(
            minus(call("max", x, literal(0)), times(x, t)),
            call("log1p", call("exp", p.negative(call("abs", x))))))
    least = literal(-100.0)
    return loss(program, node, [a.self, a.target], a.reduction, lambda x, t: p.negative(plus(
        times(t, call("max", call("log", x), least)),
        times(minus(literal(1.0), t), call("max", call("log1p", p.negative(x)), least)))))


def ignored_class(a):
    """The class whose rows do not count, or None: targets never have one that is no class."""
    classes = a.self.shape[1 if a.self.rank > 1 else 0]
    return a.ignore_index if 0 <= a.ignore_index < classes else None


@rule("cross_entropy_loss.default")
def cross_entropy(program, node, a):
    if a.weight is not None:
        raise Refusal("a cross entropy with weights of classes; write it as log_softmax and a sum")
    ignored = ignored_class(a) if a.target.kind == "int" else None
    if ignored is not None and a.label_smoothing:
        raise Refusal("a cross entropy with ignore_index and label_smoothing; "
                      "write it as log_softmax and a masked mean")
    if a.self.rank == 2 and a.reduction == MEAN and a.target.kind == "int":
        program.limit(a.target, a.self.shape[1])
        if ignored is not None:
            return invoked(program, node, "cross_entropy_ignore", [a.self, a.target],
                           ignore_index=ignored)
        if a.label_smoothing:
            return invoked(program, node, "cross_entropy_smooth", [a.self, a.target],
                           smoothing=repr(a.label_smoothing))
        return invoked(program, node, "cross_entropy", [a.self, a.target])
    if a.self.rank == 2 and a.reduction == MEAN and a.target.shape == a.self.shape and \
            not a.label_smoothing:
        return invoked(program, node, "cross_entropy_soft", [a.self, a.target])
    if a.target.kind != "int" or a.label_smoothing:
        raise Refusal("a cross entropy of this form; write it as log_softmax and a sum")
    program.limit(a.target, a.self.shape[1 if a.self.rank > 1 else 0])
    name = program.whole(node, invoke("log_softmax1" if a.self.rank > 1 else "log_softmax", [a.self]),
                         node.name + "_log")
    logs = program.tensor(name, a.self.shape, "float", node)
    return nll(program, node, logs, a.target, a.reduction, ignored)


@rule("nll_loss_nd.default", "nll_loss.default", "nll_loss_forward.default", "nll_loss2d.default")
def nll_loss(program, node, a):
    if a.weight is not None:
        raise Refusal("a loss with weights of classes; write it as a gather and a sum")
    program.limit(a.target, a.self.shape[1 if a.self.rank > 1 else 0])
    found = nll(program, node, a.self, a.target, a.reduction, ignored_class(a))
    return [found, None] if "forward" in node.target.__name__ else found


def nll(program, node, logs, target, reduction, ignored):
    """-log probability of the class that the target names; class indices are taken to be valid.
    `ignored`: the class that does not count, or None."""
    name, chosen, d = logs.whole(), target, 1 if logs.rank > 1 else 0
    chosen.whole()

    def element(s):
        inside = [str(x) for x in s[:d]] + [chosen.at(s).text] + [str(x) for x in s[d:]]
        program.note_plain(s, target.shape)
        return p.negative(Expr(f"{name}[{','.join(inside)}]"))

    def counts(s):
        return compare("!=")(chosen.at(s), literal(ignored))

    def element_or_zero(s):
        return choose(counts(s), element(s), literal(0.0))
    if reduction == NONE:
        return named(program, node, program.stage(
            node, shape(node), element if ignored is None else element_or_zero))
    word = "mean" if reduction == MEAN else "sum"
    if not target.shape:
        if ignored is not None:
            raise Refusal("a loss of one row with ignore_index; write it without ignore_index")
        return named(program, node, program.stage(node, (), element), (), "float")
    return named(program, node, program.stage(node, (), lambda _: program.reduce(
        word, target.shape, element, counts if ignored is not None else None)), (), "float")


@rule("cosine_similarity.default")
def cosine_similarity(program, node, a):
    wide = tuple(max(x, y) for x, y in zip(a.x1.shape, a.x2.shape))
    d = axis(a.dim, len(wide))
    kept = [k for k in range(len(wide)) if k != d]
    first, second = a.x1, a.x2
    if first.shape == second.shape and d == len(wide) - 1:
        return invoked(program, node, "cosine_similarity", [first, second],
                       eps=number_text(a.eps, 1e-8))
    first.whole(), second.whole()

    def at(value, s, k):
        both = dict(zip(kept, s)) | {d: k}
        return value.broadcast([both[i] for i in range(len(wide))], wide)

    def total(one, other):
        return lambda s: program.reduce("sum", [wide[d]], lambda k: times(
            at(one, s, k[0]), at(other, s, k[0])))
    new = tuple(wide[k] for k in kept)
    parts = [program.tensor(program.stage(node, new, total(x, y), node.name + word), new, "float", node)
             for x, y, word in ((first, second, "_dot"), (first, first, "_xx"), (second, second, "_yy"))]

    def norm(value, s):
        return call("max", call("sqrt", value.at(s)), literal(float(a.eps)))
    return named(program, node, program.stage(node, new, lambda s: over(
        parts[0].at(s), times(norm(parts[1], s), norm(parts[2], s)))))


@rule("pairwise_distance.default")
def pairwise_distance(program, node, a):
    if a.p != 2 or a.keepdim or a.x1.shape != a.x2.shape:
        raise Refusal("a distance that is not Euclidean, or keeps its dimension; "
                      "write torch.norm(x - y + eps)")
    return invoked(program, node, "pairwise_distance", [a.x1, a.x2], eps=number_text(a.eps, 1e-6))


@rule("triplet_margin_loss.default")
def triplet_margin_loss(program, node, a):
    tensors = [a.anchor, a.positive, a.negative]
    if a.p != 2 or a.reduction != MEAN or len({t.shape for t in tensors}) != 1:
        raise Refusal("a triplet loss that is no mean of Euclidean distances of equal shapes; "
                      "write it out")
    return invoked(program, node, "triplet_margin_loss_swap" if a.swap else "triplet_margin_loss",
                   tensors, margin=number_text(a.margin, 1.0), eps=number_text(a.eps, 1e-6))


@rule("margin_ranking_loss.default")
def margin_ranking_loss(program, node, a):
    return loss(program, node, [a.input1, a.input2, a.target], a.reduction, lambda x, y, t: call(
        "max", minus(literal(float(a.margin)), times(t, minus(x, y))), literal(0)))


@rule("hinge_embedding_loss.default")
def hinge_embedding_loss(program, node, a):
    return loss(program, node, [a.self, a.target], a.reduction, lambda x, t: choose(
        compare(">")(t, literal(0)), x, call("max", minus(literal(float(a.margin)), x), literal(0))))


@rule("cosine_embedding_loss.default")
def cosine_embedding_loss(program, node, a):
    if a.reduction != MEAN or a.input1.rank != 2:
        raise Refusal("a cosine embedding loss that is no mean over a batch; write it out with "
                      "F.cosine_similarity")
    a.target.whole()
    if a.target.kind != "int":
        raise Refusal("a cosine embedding loss with targets that are no integers; "
                      "write target.long()")
    return invoked(program, node, "cosine_embedding_loss", [a.input1, a.input2, a.target],
                   margin=number_text(a.margin, 0.0))
