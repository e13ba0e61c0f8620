"""A layer's weights, copied into the modules that the lab shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from torch import nn

from attention.trace import Projections

__all__ = ["into_fused", "into_listed", "into_separate"]


def into_separate(module: Any, weights: Projections) -> nn.Module:
    """Fill a module with linear layers named query, key, value and output; return it."""
    _fill(module.query, weights.W_Q, weights.b_Q)
    _fill(module.key, weights.W_K, weights.b_K)
    _fill(module.value, weights.W_V, weights.b_V)
    _fill(module.output, weights.W_O, weights.b_O)
    return _finished(module)


def into_fused(module: Any, weights: Projections) -> nn.Module:
    """Fill a module whose ``to_qkv`` has the three matrices side by side; return it."""
    matrices = (weights.W_Q, weights.W_K, weights.W_V)
    biases = (weights.b_Q, weights.b_K, weights.b_V)
    side_by_side = [np.zeros(W.shape[1], np.float32) if b is None else b for W, b in zip(matrices, biases, strict=True)]
    _fill(module.to_qkv, np.concatenate(matrices, axis=1), np.concatenate(side_by_side))
    _fill(module.to_out, weights.W_O, weights.b_O)
    return _finished(module)


def into_listed(module: Any, weights: Projections) -> nn.Module:
    """Fill a module with a list of heads, each with its own columns of the matrices; return it."""
    width = weights.W_Q.shape[1] // len(module.heads)
    for i, head in enumerate(module.heads):
        columns = slice(i * width, (i + 1) * width)
        for linear, W, b in (
            (head.query, weights.W_Q, weights.b_Q),
            (head.key, weights.W_K, weights.b_K),
            (head.value, weights.W_V, weights.b_V),
        ):
            _fill(linear, W[:, columns], None if b is None else b[columns])
    _fill(module.output, weights.W_O, weights.b_O)
    return _finished(module)


def _fill(linear: nn.Linear, weight: Array, bias: Array | None) -> None:
    """Copy a weight of shape (in, out), which PyTorch keeps as (out, in), and a bias, nought where there is none."""
    with torch.no_grad():
        linear.weight.copy_(torch.tensor(weight.T))
        linear.bias.copy_(torch.zeros(weight.shape[1]) if bias is None else torch.tensor(bias))


def _finished(module: nn.Module) -> nn.Module:
    return module.eval().requires_grad_(requires_grad=False)
