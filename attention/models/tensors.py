"""Tensors of any type on any device as float32 NumPy, and back again."""

from __future__ import annotations

import torch
from numpy import ndarray as Array

from attention.core.trace import tolerance


def numbers(tensor: torch.Tensor) -> Array:
    """Return a tensor as a float32 array; for a float32 tensor on the CPU, a view of its memory."""
    array: Array = tensor.detach().float().cpu().numpy()
    return array


def as_in(array: Array, like: torch.Tensor) -> torch.Tensor:
    """Return an array as a tensor with the dtype and device of another."""
    return torch.from_numpy(array).to(like.device, like.dtype)


def hidden_lowest(mask: torch.Tensor) -> Array:
    """Return an additive mask in which the lowest number of its type, which stands for "hidden", is ``-inf``."""
    lowest = torch.finfo(mask.dtype).min
    return numbers(mask.masked_fill(mask <= lowest, -torch.inf))


def nearness(kind: torch.dtype) -> float:
    """Return how far recomputed numbers may be from a model's own, relative to its largest."""
    return tolerance(torch.finfo(kind).eps)
