"""KernelBench tasks on CPU (own text, v0 shapes, f32, weights as inputs), in training mode.

The models of levels 1 to 3 once more, whose batch norms take the statistics of the data.
"""
from . import kernelbench_1, kernelbench_2, kernelbench_3
from .modes import in_training

# All whose result is another than in inference: those with a batch norm. What else training changes
# is dropout; tasks 66 and 83 of level 2 have one, and a result that is constant with or without it.
TASKS = {
    1: (33,),
    2: (11, 15, 33, 39, 41, 52, 72, 73, 77, 84, 97),
    3: (8, 9, 10, 13, 14, 15, 16, 19, 20, 21, 22, 23, 24, 25, 26, 27, 45, 46, 47),
}

MODELS = {}
for level, module in enumerate((kernelbench_1, kernelbench_2, kernelbench_3), 1):
    for name, model in module.BY_NUMBER.items():
        if int(name.split("_")[0]) in TASKS[level]:
            MODELS[f"kernelbench-train/{level}/{name}"] = in_training(model)
