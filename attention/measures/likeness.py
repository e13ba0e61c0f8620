"""Distances between the weights of heads."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.trace import Trace
from attention.measures.rows import Rows


def overlaps(weights: Float[Array, "*H Q K"], other: Float[Array, "Q K"]) -> Float[Array, "*H Q"]:
    """Return the overlap of each row with the other: ``Σ min(a, b) = 1 − ½ Σ |a − b|``, from 0 to 1 for equal rows."""
    shared: Array = np.minimum(weights, other).sum(axis=-1)
    return shared


def head_distance(
    first: Float[Array, "Q K"], second: Float[Array, "Q K"], rows: Bool[Array, " Q"] | None = None
) -> float:
    """Return the distance between two heads, from 0 to 1; see ``head_distances``."""
    return float(head_distances(np.stack([first, second]), rows)[0, 1])


def head_distances(weights: Float[Array, "N Q K"], rows: Bool[Array, " Q"] | None = None) -> Float[Array, "N N"]:
    """Return the Jensen–Shannon distance of every two heads: 0 if equal, 1 if no token gets weight from both.

    ``√(mean over rows of JS(p, q))`` with ``JS(p, q) = H((p + q)/2) − (H(p) + H(q))/2`` in bits. Clark et al. 2019,
    section 6, sum JS over tokens, in nats, which ranks pairs in the same order. The mean makes texts of different
    lengths comparable, base 2 makes 1 the maximum, and the root makes it a metric (Endres & Schindelin 2003). Rows
    fully masked in any head do not count.
    """
    counted = Rows.of(weights, rows=rows).counted.all(axis=0)
    n_heads, n_rows = len(weights), int(counted.sum())
    cells = weights[:, counted].reshape(n_heads, -1)  # (N, rows of cells)
    divergences = np.zeros((n_heads, n_heads))
    # As many cells at a time as fit into the processor's cache for all heads.
    chunk = max(1, 2**17 // max(n_heads, 1))
    for start in range(0, cells.shape[1], chunk):
        _add_divergences(divergences, cells[:, start : start + chunk].astype(np.float64))
    divergences = np.maximum(divergences + divergences.T, 0) / max(n_rows, 1)
    return np.minimum(np.sqrt(divergences), 1)


def _add_divergences(divergences: Float[Array, "N N"], cells: Float[Array, "N C"]) -> None:
    """Add these cells' part of the divergence of every two heads, above the diagonal."""
    halves = _bits(cells) / 2
    for head in range(len(cells) - 1):
        middle = _bits((cells[head] + cells[head + 1 :]) / 2)
        # Subtracted cell by cell, so that equal heads differ by exactly 0.
        divergences[head, head + 1 :] += (halves[head] + halves[head + 1 :] - middle).sum(axis=1)


def _bits(p: Array) -> Array:
    """Return ``p log₂ p``, where ``0 log₂ 0 = 0``."""
    return p * np.log2(np.where(p > 0, p, 1))


def trace_head_distances(trace: Trace) -> Float[Array, "L*H L*H"]:
    """Return the distance of every two heads of a trace, layer by layer; see ``head_distances``."""
    weights = np.concatenate([layer.steps().weights for layer in trace.layers])
    return head_distances(weights, np.array([not token.is_padding for token in trace.tokens]))
