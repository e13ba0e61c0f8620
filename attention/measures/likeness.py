"""Distances between the weights of heads."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.measures.rows import Rows


def overlaps(weights: Float[Array, "*H Q K"], other: Float[Array, "Q K"]) -> Float[Array, "*H Q"]:
    """Return the overlap of each row with the other: ``Σ min(a, b) = 1 − ½ Σ |a − b|``, from 0 to 1 for equal rows."""
    shared: Array = np.minimum(weights, other).sum(axis=-1)
    return shared


def head_distance(
    first: Float[Array, "Q K"], second: Float[Array, "Q K"], rows: Bool[Array, " Q"] | None = None
) -> float:
    """Return the Jensen–Shannon distance of two heads: 0 if they are equal, 1 if no token gets weight from both.

    ``√(mean over rows of JS(p, q))`` with ``JS(p, q) = H((p + q)/2) − (H(p) + H(q))/2`` in bits. Clark et al. 2019,
    section 6, sum JS over tokens, in nats, which ranks pairs in the same order. The mean makes texts of different
    lengths comparable, base 2 makes 1 the maximum, and the root makes it a metric (Endres & Schindelin 2003). Rows
    fully masked in either head do not count.
    """
    counted = Rows.of(np.stack([first, second]), rows=rows).counted.all(axis=0)
    p, q = (weights[counted].astype(np.float64) for weights in (first, second))
    # Subtracted cell by cell, so that equal heads differ by exactly 0.
    divergence = max(float(((_bits(p) + _bits(q)) / 2 - _bits((p + q) / 2)).sum()), 0.0)
    return min(math.sqrt(divergence / max(int(counted.sum()), 1)), 1.0)


def _bits(p: Array) -> Array:
    """Return ``p log₂ p``, where ``0 log₂ 0 = 0``."""
    return p * np.log2(np.where(p > 0, p, 1))
