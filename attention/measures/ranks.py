"""Spearman's rank correlation."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def ranks(numbers: Float[Array, " N"]) -> Float[Array, " N"]:
    """Return the rank of each number, from 1 for the smallest; ties share their mean rank.

    >>> ranks(np.array([0.3, 0.1, 0.3])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    means: Array = (last - (counts - 1) / 2)[place]
    return means


def rank_correlation(one: Float[Array, " N"], other: Float[Array, " N"]) -> float:
    """Return Spearman's ρ, the correlation of the ranks (Spearman 1904), from −1 to 1.

    It is NaN with fewer than three numbers, or if those of one list are all equal.

    Raises:
        ValueError: the lists differ in length.
    """
    if one.shape != other.shape:
        raise ValueError(f"both lists must have one length, got {one.shape} and {other.shape}")
    if one.size < 3:
        return math.nan
    first, second = (ranked - ranked.mean() for ranked in (ranks(one), ranks(other)))
    size = math.sqrt(float(first @ first) * float(second @ second))
    return math.nan if size == 0 else float(np.clip(first @ second / size, -1, 1))
