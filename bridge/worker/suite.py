"""The PyTorch models of the tasks of suites/ (bridge/suite_models/), as modules."""
import torch

from worker.refusal import Refusal


class Inputs:
    """The inputs of a task by name; i.X and i["X"] are the same."""

    def __init__(self, tensors):
        self.__dict__.update(tensors)

    def __getitem__(self, name):
        return self.__dict__[name]

    def __contains__(self, name):
        return name in self.__dict__


class TaskModel(torch.nn.Module):
    """A task's function; weights are buffers, so that builds may fold them."""

    def __init__(self, function, names, weights):
        super().__init__()
        self.function = function
        self.names = names
        self.weight_names = list(weights)
        for name, value in weights.items():
            self.register_buffer("weight_" + name, value)

    def forward(self, *data):
        tensors = dict(zip(self.names, data))
        for name in self.weight_names:
            tensors[name] = getattr(self, "weight_" + name)
        return self.function(Inputs(tensors))


def load(task, tensors):
    """(model, inputs) of a task: tensors are (name, value, is it a weight)."""
    from suite_models import MODELS     # many: only when they are asked for

    if task not in MODELS:
        raise Refusal(f"{task}: there is no PyTorch model of this task")
    data = {name: value for name, value, weight in tensors if not weight}
    weights = {name: value for name, value, weight in tensors if weight}
    return TaskModel(MODELS[task], list(data), weights).eval(), list(data.values())
