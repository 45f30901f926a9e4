"""A module in KernelBench's form: Model, get_inputs() and get_init_inputs()."""
import ast
import inspect
import linecache
import sys
import types

import torch

from worker.program import plain_name
from worker.refusal import Refusal, refuse

NAME = "hone_module"


def is_whole(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


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


def sizes_in(tree):
    """(name, node) of whole numbers that are sizes: named at the module's top, or of its images."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            yield from in_images(node)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            yield from named(target, node.value)
            if isinstance(target, ast.Name) and "shape" in target.id:
                yield from in_images(node)


def constants(text):
    """The sizes of a module, by name."""
    return {name: node.value for name, node in sizes_in(ast.parse(text))}


def execute(path, text, sizes):
    tree = ast.parse(text, path)
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


class Loaded:
    """A model with the inputs of one call."""

    def __init__(self, path, text, sizes=None, seed=1, train=False):
        self.path = path
        try:
            self.module = execute(path, text, sizes or {})
        except BaseException as error:
            what = "it is not Python" if isinstance(error, SyntaxError) else "it cannot be run"
            raise refuse(error, path, what) from error
        model = part(self.module, "Model", "class Model(nn.Module): ...")
        get_inputs = part(self.module, "get_inputs", "def get_inputs(): return [torch.randn(16, 64)]")
        get_init = getattr(self.module, "get_init_inputs", lambda: [])
        torch.manual_seed(seed)
        arguments = called(path, "get_init_inputs()", get_init)
        if not isinstance(arguments, (list, tuple, type(None))):
            raise Refusal(f"get_init_inputs() returns a value of type {type(arguments).__name__}; "
                          "write return [...]")
        self.model = called(path, "Model()", model, *(arguments or []))
        if not isinstance(self.model, torch.nn.Module):
            raise Refusal("Model is no nn.Module; write class Model(nn.Module): ...")
        self.model.train(train)
        self.inputs = checked_inputs(called(path, "get_inputs()", get_inputs))

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
    found = list(value) if isinstance(value, (tuple, list)) else [value]
    found = [f for f in found if f is not None]
    if not found:
        raise Refusal("forward() returns nothing; write return ...")
    for f in found:
        if not isinstance(f, torch.Tensor):
            raise Refusal(f"forward() returns a {type(f).__name__}; write it so that it returns "
                          "tensors, alone or in a tuple")
    return found
