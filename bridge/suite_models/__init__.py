"""PyTorch models of the tasks of suites/, by the task's path without .op.

A model takes the task's inputs (i.X is the input X, in double precision; integers are i64) and
returns the outputs in the task's order. It says the same as the task with PyTorch's own functions,
so that an error in either is seen.
"""
from . import backward, kernelbench_1, kernelbench_2, kernelbench_3, kernelbench_train, own

MODELS = {}
for module in (kernelbench_1, kernelbench_2, kernelbench_3, kernelbench_train, backward, own):
    MODELS.update(module.MODELS)
