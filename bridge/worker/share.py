"""Tensors in the memory that hone and this process have both mapped."""
import mmap

import torch

DESCRIPTOR = 3
DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "i32": torch.int32, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}
ALIGNMENT = 64


def mapped(bytes):
    return mmap.mmap(DESCRIPTOR, bytes)


def taken(entry, memory):
    """A copy of a tensor: {"dtype", "shape", "offset"}; integers become 64 bits, as PyTorch's are."""
    dtype, count = DTYPES[entry["dtype"]], 1
    for size in entry["shape"]:
        count *= size
    view = torch.frombuffer(memory, dtype=dtype, count=count, offset=entry["offset"])
    value = view.clone().reshape(entry["shape"])
    return value if dtype.is_floating_point or dtype is torch.bool else value.long()


def put(tensors):
    """Lays tensors into the memory; where each is."""
    offsets, end = [], 0
    for tensor in tensors:
        offsets.append(end)
        end += -(-tensor.numel() * tensor.element_size() // ALIGNMENT) * ALIGNMENT
    with open(DESCRIPTOR, "r+b", closefd=False) as file:
        file.truncate(max(end, 1))
    memory = mapped(max(end, 1))
    for tensor, offset in zip(tensors, offsets):
        target = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel(), offset=offset)
        target.copy_(tensor.contiguous().reshape(-1))
    return offsets
