"""A module's exported graph becomes a program."""
import copy
import operator
import re
import types

import torch
from torch.export.graph_signature import InputKind, OutputKind

from worker import clauses, program as p, rules, rules_layers  # noqa: F401: fills rules.RULES
from worker.index import number
from worker.module import called, results
from worker.program import Expr, Program, Value, choose, kind_of, line_of, literal
from worker.refusal import Refusal, refuse

DTYPES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
          torch.int64: "i32", torch.int32: "i32", torch.int16: "i32", torch.int8: "i8",
          torch.uint8: "u8", torch.bool: "bool"}
IGNORED = {"_assert_tensor_metadata.default", "_assert_scalar.default", "sym_size.int"}
MOVES = {"view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "clone",
         "contiguous", "t"}
SEEN_OTHERWISE = MOVES | {"expand", "select", "slice", "flatten", "unflatten", "alias", "detach"}
REDUCES = {"sum", "mean", "prod", "max", "min", "amax", "amin", "argmax", "argmin",
           "linalg_vector_norm"}
POINTWISE = set(rules.UNARY) | {
    "add", "sub", "rsub", "mul", "multiply", "div", "pow", "clamp", "clamp_min", "clamp_max", "gelu",
    "leaky_relu", "elu", "celu", "softplus", "hardtanh", "maximum", "minimum", "where", "masked_fill",
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "bitwise_not", "lerp"}


def states_as_buffers(model):
    """Tensors that a module holds as plain attributes become buffers, which forward() may replace:
    the state of a cell, say."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if type(value) is torch.Tensor and not hasattr(type(module), name):
                delattr(module, name)
                module.register_buffer(name, value, persistent=False)


def graph_of(model, inputs):
    try:
        return torch.export.export(model, inputs).run_decompositions({})
    except RuntimeError as error:
        if "is mutated in the forward method" not in str(error):
            raise
        states_as_buffers(model)
        return torch.export.export(model, inputs).run_decompositions({})


def exported(loaded, explain):
    """The graph, functional, with composite operators kept; numbers among the inputs are tensors.
    `explain`: where it cannot be exported, the module is run once more for what it says itself."""
    model, inputs = loaded.model, loaded.inputs
    tensors = [torch.tensor(v) if isinstance(v, float) else v for v in inputs]
    try:
        try:
            found = graph_of(model, tuple(tensors))
        except Exception:
            if all(a is b for a, b in zip(tensors, inputs)):
                raise
            tensors = list(inputs)      # a number that decides about the graph
            found = graph_of(model, tuple(tensors))
    except BaseException as error:
        refusal = refuse(error, loaded.path, "its graph cannot be exported")
        raise (fault_of_module(loaded) if explain else None) or refusal from error
    keep_results(found)
    loaded.inputs = tensors
    return found


def fault_of_module(loaded):
    """What the module itself says when it is run, without being exported: a Refusal, or None."""
    if loaded.only_shapes:
        return None
    try:
        with torch.no_grad():
            results(called(loaded.path, "forward()", copy.deepcopy(loaded.model), *loaded.inputs))
    except Refusal as refusal:
        return refusal
    return None


def keep_results(found):
    """Updates of buffers (running statistics) are no results: they go, and what only they need."""
    graph = found.graph_module.graph
    output = next(node for node in graph.nodes if node.op == "output")
    output.args = (tuple(arg for arg, spec in zip(output.args[0], found.graph_signature.output_specs)
                         if spec.kind == OutputKind.USER_OUTPUT),)
    graph.eliminate_dead_code()


def base(node):
    return node.target.__name__.split(".")[0] if node.op == "call_function" else ""


def numel(node):
    value = node.meta.get("val")
    return value.numel() if isinstance(value, torch.Tensor) and not has_unknown_size(node) else -1


def has_unknown_size(node):
    """Whether a result's size is only known when it runs: of nonzero(), or of x[x > 0]."""
    values = node.meta.get("val")
    values = values if isinstance(values, (list, tuple)) else [values]
    return any(not isinstance(size, int)
               for value in values if isinstance(value, torch.Tensor) for size in value.shape)


def may_stand_inside(node):
    """Whether a node's only reader is a statement of as many elements, or a reduction."""
    if len(node.users) != 1:
        return False
    user = next(iter(node.users))
    if base(user) in REDUCES:
        return numel(user) >= 0     # not those with two results
    if numel(user) != numel(node):
        return False
    return base(user) in POINTWISE or (base(user) in MOVES and may_stand_inside(user))


class Arguments(types.SimpleNamespace):
    """The arguments of a node by their names in PyTorch's schema."""


class Translation:
    """`like`: the same module at other sizes, whose clauses for data are taken. `samples`: inputs at
    sizes at which they have values."""

    def __init__(self, loaded, task, like=None, samples=None):
        self.loaded = loaded
        self.samples = samples
        self.like = {name: clause for name, _, _, clause in like.program.inputs} if like else {}
        self.limited = set()    # inputs that are subscripts: values that leave them are faults
        self.drawn = self.like.keys() - like.limited if like else set()
        self.exported = exported(loaded, explain=like is None)
        self.program = Program(task)
        self.program.path = loaded.path
        self.program.limit = self.limit
        self.values = {}        # by node
        self.inputs = []        # (name, tensor, name of the parameter or None)
        self.operators = []     # in order, to compare two sizes
        self.read_inputs()
        self.walk()
        self.forget_unread()

    # ---- inputs ----

    def read_inputs(self):
        signature = {s.arg.name: s for s in self.exported.graph_signature.input_specs}
        user = zip(self.loaded.inputs, self.samples or self.loaded.inputs)
        later = []
        for node in self.exported.graph.nodes:
            if node.op != "placeholder":
                continue
            spec = signature[node.name]
            if spec.kind == InputKind.USER_INPUT:
                self.user_input(node, *next(user))
            elif node.users:
                later.append((node, spec))
        for node, spec in later:        # weights after data, as people write them
            self.held_input(node, spec)

    def forget_unread(self):
        """Inputs that no statement reads: running statistics while training, say."""
        read = set(re.findall(r"\w+", " ".join(self.program.lines)))
        kept = [number_ for number_, row in enumerate(self.program.inputs) if row[0] in read]
        self.program.inputs = [self.program.inputs[number_] for number_ in kept]
        self.inputs = [self.inputs[number_] for number_ in kept]

    def add(self, node, wanted, tensor, clause, parameter, capital):
        if tensor.numel() == 0:
            raise Refusal(f"{wanted} has no elements; write larger sizes")
        if tensor.dtype not in DTYPES:
            raise Refusal(f"{wanted} is {str(tensor.dtype).removeprefix('torch.')}, which the "
                          "language does not have")
        name = self.program.add_input(wanted, tensor.shape, DTYPES[tensor.dtype], clause, capital)
        self.inputs.append((name, tensor, parameter))
        self.values[node] = self.program.tensor(name, tensor.shape, kind_of(tensor.dtype), node)

    def user_input(self, node, value, sample):
        if not isinstance(value, torch.Tensor):
            self.values[node] = value
        elif node.users:
            known = self.samples is not None or not self.loaded.only_shapes
            clause = clauses.of_data(torch.as_tensor(sample)) if known else ""
            self.add(node, node.name, value, clause, None, True)
            name, dtype, sizes, clause = self.program.inputs[-1]
            clause = self.like.get(name, clause)
            self.program.inputs[-1] = name, dtype, sizes, clause
            if name in self.drawn and not self.loaded.only_shapes:
                self.clip(value, clause)

    def clip(self, value, clause):
        """Whole numbers of other draws may leave what those at the other sizes lie in."""
        new = clauses.clipped(value, clause)
        self.loaded.inputs = [new if given is value else given for given in self.loaded.inputs]
        self.inputs[-1] = self.inputs[-1][0], new, None

    def held_input(self, node, spec):
        """A parameter, a buffer or a constant."""
        parameter = spec.kind == InputKind.PARAMETER
        held = self.exported.state_dict if spec.target in self.exported.state_dict else \
            self.exported.constants
        tensor = held[spec.target].detach()
        statistic = spec.target.endswith(("running_mean", "running_var"))
        if not parameter and not statistic:
            value = self.pattern(node, tensor)
            if value is not None:
                self.values[node] = value
                return
            self.add(node, spec.target, tensor, clauses.of_data(tensor), None, False)
            return
        self.add(node, spec.target, tensor, clauses.of_parameter(spec.target, tensor), spec.target,
                 False)
        name, dtype, sizes, clause = self.program.inputs[-1]
        if tensor.dim() <= 1:       # whether its values are above zero may be chance
            self.program.inputs[-1] = name, dtype, sizes, self.like.get(name, clause)

    def pattern(self, node, tensor):
        """A constant that can be said: one number everywhere, a triangle, 0 1 2 ...; else None."""
        kind = kind_of(tensor.dtype)

        def value(read):
            return Value(self.program, tensor.shape, kind, read, None, node)

        def text(number_):
            return literal(float(number_) if kind == "float" else int(number_))
        if tensor.numel() == 0:
            return None
        first = tensor.reshape(-1)[0]
        if bool((tensor == first).all()):
            return value(lambda s: text(first))
        plain = tensor.reshape(-1)
        if tensor.dim() == 1 and torch.equal(plain, torch.arange(len(plain)).to(tensor.dtype)):
            return value(lambda s: Expr(str(s[0]), p.SUM) if kind != "float" else
                         Expr(f"f32({s[0]})"))
        return self.triangle(tensor, value, text)

    def triangle(self, tensor, value, text):
        if tensor.dim() < 2 or tensor[..., 0, 0].numel() != 1 or min(tensor.shape[-2:]) < 2:
            return None
        matrix = tensor.reshape(tensor.shape[-2:])
        low, high = matrix[-1, 0], matrix[0, -1]
        rows = torch.arange(matrix.shape[0])[:, None]
        columns = torch.arange(matrix.shape[1])[None]
        for sign, mask in (("<=", columns <= rows), ("<", columns < rows)):
            if torch.equal(matrix, torch.where(mask, low, high)):
                return value(lambda s: choose(Expr(f"{s[-1]} {sign} {s[-2]}", p.COMPARISON),
                                              text(low), text(high)))
        return None

    def limit(self, value, size):
        """An input that is used as a subscript, as it is or seen otherwise, lies in that dimension."""
        node = value.node
        while node is not None and base(node) in SEEN_OTHERWISE:
            node = node.args[0]
        found = self.values.get(node, value).name
        for number_, (name, dtype, sizes, clause) in enumerate(self.program.inputs):
            if name == found and self.inputs[number_][2] is None and \
                    self.from_caller(number_):
                self.program.inputs[number_] = (name, dtype, sizes, f"from 0 to {size - 1}")
                self.limited.add(name)

    def from_caller(self, number_):
        tensor = self.inputs[number_][1]
        return any(tensor is given for given in self.loaded.inputs)

    # ---- nodes ----

    def argument(self, value):
        if isinstance(value, torch.fx.Node):
            return self.values[value]
        if isinstance(value, (list, tuple)):
            return [self.argument(v) for v in value]
        return value

    def arguments(self, node):
        found = Arguments()
        for number_, entry in enumerate(node.target._schema.arguments):
            if number_ < len(node.args):
                value = node.args[number_]
            else:
                value = node.kwargs.get(entry.name, entry.default_value
                                        if entry.has_default_value() else None)
            setattr(found, entry.name, self.argument(value))
        return found

    def walk(self):
        for node in self.exported.graph.nodes:
            if node.op == "call_function":
                self.values[node] = self.placed(node, self.translated, node)
            elif node.op == "output":
                self.read_outputs(node)

    def placed(self, node, function, *arguments):
        """What function(*arguments) gives; what it refuses is told with the node's line."""
        try:
            return function(*arguments)
        except Refusal as refusal:
            if refusal.line is None:
                refusal.line = line_of(node, self.loaded.path)
            raise
        except Exception as error:      # a form of its arguments that no rule thought of
            raise Refusal(f"{base(node) or node.name} cannot be translated in this form; write it "
                          "with other operators", line_of(node, self.loaded.path)) from error

    def translated(self, node):
        if node.target is operator.getitem:
            return self.taken(node)
        name = node.target.__name__
        if name in IGNORED or not node.users:
            return None
        if has_unknown_size(node):
            raise Refusal(f"how large the result of {base(node)} is hangs on the values of a tensor; "
                          "write sizes that are known beforehand")
        self.operators.append(name)
        found = rules.RULES.get(name)
        if found is None and torch.Tag.nondeterministic_seeded in node.target.tags:
            raise Refusal(f"{base(node)} is random; make these numbers in get_inputs() and give "
                          "them to forward() as an argument")
        if found is None:
            raise Refusal(f"{name.removesuffix('.default')} cannot be translated; write it with "
                          "other operators")
        node.meta["inline"] = may_stand_inside(node)
        return found(self.program, node, self.arguments(node))

    def taken(self, node):
        value = self.values[node.args[0]][node.args[1]]
        if value is None and node.users:
            raise Refusal(f"result {node.args[1]} of {base(node.args[0])} cannot be translated; "
                          "write it with other operators")
        return value

    # ---- outputs ----

    def read_outputs(self, node):
        self.outputs = []
        given = {name for name, _, _ in self.inputs}
        for arg in node.args[0]:
            if arg is None:
                continue
            value = self.values[arg] if isinstance(arg, torch.fx.Node) else arg
            if not isinstance(value, Value):
                raise Refusal("forward() returns a number; write a tensor")
            if 0 in value.shape:
                raise Refusal("forward() returns a tensor without elements; write larger sizes",
                              line_of(arg, self.loaded.path))
            name = self.placed(arg, value.whole)
            if name in given or name in self.outputs:
                name = self.program.stage(None, value.shape, value.at, "Y")
            self.outputs.append(name)
        if not self.outputs:
            raise Refusal("forward() returns nothing; write return ...")


def task_name(path):
    """An operator's name from a file's: 19_ReLU.py is relu."""
    stem = re.sub(r"\.py$", "", path.rsplit("/", 1)[-1])
    name = re.sub(r"\W+", "_", stem.lower(), flags=re.ASCII).strip("_")
    name = re.sub(r"^[\d_]+", "", name)[:50] or "task"
    return name + "_task" if name in p.RESERVED else name


def text_of(translation, about):
    program = translation.program
    if any(f"{program.task}(" in line for line in program.lines):
        program.task += "_task"     # it would hide the operator of the library
    return program.text(translation.outputs, about)


__all__ = ["Translation", "task_name", "text_of", "number"]
