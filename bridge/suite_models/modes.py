"""Batch norm in its two modes: in inference with running statistics, in training with the data's."""
import torch.nn.functional as F

from worker.suite import Inputs


class Training(Inputs):
    """The inputs of a task in training mode, as a model of the task in inference takes them."""


def batch_norm(i, x, names="MVGB", of=lambda tensor: tensor):
    """names: the inputs that are mean, variance, scale and shift; `of` takes a layer's from a stack."""
    if isinstance(i, Training):
        return F.batch_norm(x, None, None, *(of(i[name]) for name in names[2:]), training=True)
    return F.batch_norm(x, *(of(i[name]) for name in names))


def in_training(model):
    return lambda i: model(Training(i.__dict__))
