r"""One width, cut into heads: the same matrices with another number of heads, and what each head adds to ΔE.

A layer projects its vectors to queries, keys and values of H · D numbers, and cuts these into H heads of D numbers.
Nothing in the matrices says where to cut. Multi-head attention "allows the model to jointly attend to information from
different representation subspaces at different positions", while "with a single attention head, averaging inhibits
this" (Vaswani et al. 2017, section 3.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.steps import HeadSteps, attend, join_heads, project, split_heads
from attention.core.trace import LayerTrace, Projections

__all__ = ["Contributions", "Obstacle", "contributions", "counts", "obstacle", "query_changes", "recut", "slices"]

# Why the matrices of a layer cannot be cut into other heads: "shared" keys, or "positions" that enter head by head.
Obstacle = Literal["", "shared", "positions"]

# The numbers of heads that are tried where the width can be divided by them.
_COUNTS = (1, 2, 4, 8)


def counts(width: int, own: int) -> tuple[int, ...]:
    """Return the numbers of heads into which a width is cut here, in ascending order; the ``own`` one is among them.

    >>> counts(24, 3), counts(36, 6)
    ((1, 2, 3, 4, 8), (1, 2, 4, 6))
    """
    return tuple(sorted({own, *(count for count in _COUNTS if width % count == 0)}))


def obstacle(layer: LayerTrace) -> Obstacle:
    """Return why a layer cannot be cut into another number of heads; empty if it can be."""
    if layer.keys.shape[0] != layer.queries.shape[0]:
        return "shared"
    has_masks_of_heads = layer.mask is not None and layer.mask.ndim == 3 and layer.mask.shape[0] > 1
    has_more = layer.is_changed or layer.bias is not None or layer.softcap is not None
    return "positions" if has_more or has_masks_of_heads else ""


def recut(layer: LayerTrace, n_heads: int, rows: slice = slice(None)) -> HeadSteps:
    """Attend with a layer's own queries, keys and values, cut into ``n_heads``; only for some ``rows`` of queries.

    The scores are divided by the root of the new d_head; a model that does not divide by the root keeps its own factor.

    Raises:
        ValueError: the layer cannot be cut into other heads, or not into so many.
    """
    reason = obstacle(layer)
    if reason:
        raise ValueError(f"the heads of this layer cannot be cut anew: {reason}")
    queries, keys, values = (
        split_heads(join_heads(vectors), n_heads) for vectors in (layer.queries[:, rows], layer.keys, layer.values)
    )
    shape = (layer.queries.shape[1], layer.keys.shape[1])
    mask = None if layer.mask is None else np.broadcast_to(layer.mask, (1, *shape))[:, rows]
    return attend(queries, keys, values, mask=mask, scale=None if layer.has_usual_scale else layer.scale)


# --------------------------------------------------------------------------------- what a head reads


def slices(width: int, each: int) -> tuple[slice, ...]:
    """Return consecutive slices of a vector, with so many numbers each; the last may have fewer.

    >>> slices(10, 4)
    (slice(0, 4, None), slice(4, 8, None), slice(8, 10, None))
    """
    return tuple(slice(start, min(start + each, width)) for start in range(0, width, each))


def query_changes(vector: Float[Array, " M"], projections: Projections, n_heads: int) -> Float[Array, "H S"]:
    """Return by what part of its length each head's query changes if a slice of the vector it is made of is set to 0.

    ``‖x_s W_Q[s]‖ / ‖x W_Q + b_Q‖`` for each head and each slice s of d_head numbers. A rotation by positions changes
    no length. It is NaN for a head whose query is 0.
    """
    weight = projections.W_Q
    d_head = weight.shape[1] // n_heads
    queries = project(vector[None], weight, projections.b_Q).reshape(n_heads, d_head)
    parts = [(vector[part] @ weight[part]).reshape(n_heads, d_head) for part in slices(len(vector), d_head)]
    changes = np.linalg.norm(np.stack(parts, axis=1), axis=-1)  # (H, S)
    lengths = np.linalg.norm(queries, axis=-1)[:, None]
    found: Array = np.divide(changes, lengths, out=np.full_like(changes, np.nan), where=lengths > 0)
    return found


# --------------------------------------------------------------------------------- what a head adds


@dataclass(frozen=True, slots=True)
class Contributions:
    """How long that is which each head adds to each token's vector, and the sum of it all with the bias: ΔE."""

    lengths: Float[Array, "Q H"]
    total: Float[Array, "Q M"]


def contributions(head_outputs: Float[Array, "H Q Dv"], projections: Projections) -> Contributions:
    """Take ΔE apart: ``Concat(head₁, …, head_H) W_O + b_O = Σ_h head_h W_O[rows of h] + b_O``.

    Raises:
        ValueError: W_O does not have a row for each number of the joined heads.
    """
    n_heads, n_queries, width = head_outputs.shape
    weight = projections.W_O
    if weight.shape[0] != n_heads * width:
        raise ValueError(f"W_O must have {n_heads * width} rows for {n_heads} heads of {width}, got {weight.shape[0]}")
    lengths = np.zeros((n_queries, n_heads), dtype=head_outputs.dtype)
    total = np.zeros((n_queries, weight.shape[1]), dtype=head_outputs.dtype)
    # Head by head: the contributions of all heads at once take much memory for a long text.
    for head, rows in enumerate(weight.reshape(n_heads, width, -1)):
        added = head_outputs[head] @ rows
        lengths[:, head] = np.linalg.norm(added, axis=-1)
        total += added
    return Contributions(lengths, total if projections.b_O is None else total + projections.b_O)
