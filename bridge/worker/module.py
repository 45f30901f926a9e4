"""A module in KernelBench's form: Model, get_inputs() and get_init_inputs()."""
import ast
import inspect
import linecache
import math
import sys
import types

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

from worker.program import plain_name
from worker.refusal import Refusal, refuse

NAME = "hone_module"
LARGE = 1 << 26     # bytes of inputs or weights: of larger ones their shapes have to do
HUGE = 1 << 30      # the same where values will probably be needed
MOST_POWER = 40


def is_whole(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


class Folded(ast.NodeTransformer):
    """N = 2048 * 2 and N = 2 ** 12 as one number."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not (is_whole(node.left) and is_whole(node.right)):
            return node
        if isinstance(node.op, ast.Mult):
            value = node.left.value * node.right.value
        elif isinstance(node.op, ast.Pow) and 0 <= node.right.value <= MOST_POWER:
            value = node.left.value ** node.right.value
        else:
            return node
        return ast.copy_location(ast.Constant(value), node)


def named(target, value):
    """The numbers of batch_size = 128, and of height, width = 224, 224."""
    if isinstance(target, ast.Name) and is_whole(value):
        yield target.id, value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for pair in zip(target.elts, value.elts):
            yield from named(*pair)


def in_images(node):
    """The numbers of (16, 3, 224, 224), as of images or volumes, under names with their place; not
    the channels, which layers hang on."""
    for each in ast.walk(node):
        sizes = each.args if isinstance(each, ast.Call) else getattr(each, "elts", [])
        if len(sizes) in (4, 5):
            names = ["batch", None, "depth", "height", "width"]
            for name, size in zip(names[:2] + names[-len(sizes) + 2:], sizes):
                if name and is_whole(size):
                    yield f"{name}@{size.lineno}:{size.col_offset}", size


def in_shape(node):
    """Those of one sample, whose batch has a name: (8192,) and (3, 224, 224)."""
    sizes = getattr(node, "elts", [])
    names = {1: ["n"], 3: [None, "height", "width"]}.get(len(sizes), [])
    for name, size in zip(names, sizes):
        if name and is_whole(size):
            yield f"{name}@{size.lineno}:{size.col_offset}", size


def in_list(name, node):
    """Those of hidden_sizes = [1024, 512], and of [1024] * 16."""
    found = [size for each in ast.walk(node) for size in getattr(each, "elts", []) if is_whole(size)]
    for place, size in enumerate(sorted(found, key=lambda size: (size.lineno, size.col_offset))):
        yield f"{name}#{place}", size


def assigned(node):
    """The two sides of batch_size = 128 and of batch_size: int = 128; else (None, None)."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0], node.value
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return node.target, node.value
    return None, None


def sizes_in(tree):
    """(name, node) of whole numbers that are sizes: named at the module's top, or of its images."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            yield from in_images(node)
        target, value = assigned(node)
        yield from named(target, value)
        if isinstance(target, ast.Name) and "shape" in target.id:
            yield from in_images(value)
            yield from in_shape(value)
        if isinstance(target, ast.Name) and "sizes" in target.id:
            yield from in_list(target.id, value)


def constants(text):
    """The sizes of a module, by name."""
    return {name: node.value for name, node in sizes_in(Folded().visit(ast.parse(text)))}


def execute(path, text, sizes):
    tree = Folded().visit(ast.parse(text, path))
    for name, node in sizes_in(tree):
        node.value = sizes.get(name, node.value)
    module = types.ModuleType(NAME)
    module.__file__ = path
    sys.modules[NAME] = module      # dataclasses and pickles look for it there
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


def plain_text(text):
    """Bytes that are no UTF-8 come as surrogates; the mark that editors set before UTF-8 goes."""
    for number, line in enumerate(text.split("\n"), 1):
        if any("\udc80" <= letter <= "\udcff" for letter in line):
            raise Refusal("it is not UTF-8; save it as text in UTF-8", number)
    return text.removeprefix("\ufeff")


def part(module, name, example):
    found = getattr(module, name, None)
    if found is None:
        raise Refusal(f"it has no {name}; write {example}")
    if not callable(found):
        raise Refusal(f"{name} is a value of type {type(found).__name__}; write {example}")
    return found


def called(path, what, function, *arguments):
    try:
        return function(*arguments)
    except BaseException as error:      # SystemExit and KeyboardInterrupt are the module's, too
        raise refuse(error, path, f"{what} fails") from error


def checked_inputs(values):
    if values is None:
        raise Refusal("get_inputs() returns nothing; write return [x, ...]")
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    for number, value in enumerate(values):
        if not isinstance(value, (torch.Tensor, int, float, bool)):
            raise Refusal(f"value {number} of get_inputs() is a {type(value).__name__}; "
                          "write tensors and numbers only")
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            raise Refusal(f"value {number} of get_inputs() is on {value.device}; write it for the CPU")
    return values


def started(path, text, sizes):
    try:
        return execute(path, text, sizes or {})
    except BaseException as error:
        what = "it is not Python" if isinstance(error, SyntaxError) else "it cannot be run"
        raise refuse(error, path, what) from error


def bytes_of(values):
    return sum(v.numel() * v.element_size() for v in values if isinstance(v, torch.Tensor))


def without_memory(mode, function, *arguments):
    """What a function returns with tensors that are shapes; None: it looks at values, or it fails,
    which is told when it is called again."""
    try:
        with mode:
            return function(*arguments)
    except BaseException:
        return None


def has_constants(model):
    """Whether it holds tensors whose values may say something: masks and the like, not weights."""
    buffers = [name for name, _ in model.named_buffers()
               if not name.endswith(("running_mean", "running_var", "num_batches_tracked"))]
    plain = [value for module in model.modules() for value in vars(module).values()]
    return bool(buffers) or any(isinstance(value, torch.Tensor) for value in plain)


def model_if_larger(most, mode, model, arguments):
    found = without_memory(mode, model, *arguments)
    large = isinstance(found, torch.nn.Module) and bytes_of(found.parameters()) > most
    return found if large and not has_constants(found) else None


def inputs_if_larger(most, mode, get_inputs):
    found = without_memory(mode, lambda: checked_inputs(get_inputs()))
    return found if found is not None and bytes_of(found) > most else None


def sample(path, text, sizes, seed):
    """The inputs at these sizes, or None where they are large, too."""
    try:
        get_inputs = started(path, text, sizes).get_inputs
        if inputs_if_larger(LARGE, FakeTensorMode(), get_inputs) is not None:
            return None
        torch.manual_seed(seed)
        return checked_inputs(get_inputs())
    except Exception:
        return None


class Loaded:
    """A model with the inputs of one call. `most`: weights or inputs of more bytes need no values;
    `only_shapes` says whether there are such."""

    def __init__(self, path, text, sizes=None, seed=1, train=False, most=math.inf):
        self.path = path
        self.module = started(path, text, sizes)
        model = part(self.module, "Model", "class Model(nn.Module): ...")
        get_inputs = part(self.module, "get_inputs", "def get_inputs(): return [torch.randn(16, 64)]")
        get_init = getattr(self.module, "get_init_inputs", lambda: [])
        torch.manual_seed(seed)
        arguments = called(path, "get_init_inputs()", get_init)
        if not isinstance(arguments, (list, tuple, type(None))):
            raise Refusal(f"get_init_inputs() returns a value of type {type(arguments).__name__}; "
                          "write return [...]")
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        arguments = arguments or []
        large = model_if_larger(most, mode, model, arguments) if most < math.inf else None
        self.model = large or called(path, "Model()", model, *arguments)
        if not isinstance(self.model, torch.nn.Module):
            raise Refusal("Model is no nn.Module; write class Model(nn.Module): ...")
        self.model.train(train)
        shapes = inputs_if_larger(0 if large else most, mode, get_inputs) if most < math.inf else None
        self.only_shapes = large is not None or shapes is not None
        self.inputs = shapes or checked_inputs(called(path, "get_inputs()", get_inputs))

    def run(self):
        with torch.no_grad():
            return results(called(self.path, "forward()", self.model, *self.inputs))

    def shapes(self):
        """Of inputs, parameters and buffers, by their names in a program."""
        names = inspect.signature(self.model.forward).parameters
        found = {plain_name(name, capital=True): value for name, value in zip(names, self.inputs)}
        held = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        found |= {plain_name(name, capital=False): value for name, value in held.items()}
        return {name: list(getattr(value, "shape", [])) for name, value in found.items()}

    def compare(self, program):
        """Whether a program's inputs, {name: shape}, are of these shapes."""
        shapes = self.shapes()
        if not program.keys() & shapes.keys():
            raise Refusal("no input of the program has a name of the module's; import it again")
        for name, shape in program.items():
            if shapes.get(name, shape) != shape:
                raise Refusal(f"{name} is {sizes_text(shapes[name])} in the module and "
                              f"{sizes_text(shape)} in the program; write the same sizes in both")


def sizes_text(shape):
    return "x".join(map(str, shape)) or "a number"


def results(value):
    """The tensors of nested tuples, lists and dicts, in the order of the exported graph."""
    found = [f for f in tree_leaves(value) if f is not None]
    if not found:
        raise Refusal("forward() returns nothing; write return ...")
    for f in found:
        if not isinstance(f, torch.Tensor):
            raise Refusal(f"forward() returns a {type(f).__name__}; write it so that it returns "
                          "tensors, alone or in tuples, lists and dicts")
    return found
