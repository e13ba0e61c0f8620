r"""The same weight matrices split into another number of heads, and each head's contribution to ΔE.

A layer projects its vectors to queries, keys and values of H · D numbers and splits these into H heads of D. Nothing in
the matrices says where to split. Multi-head attention "allows the model to jointly attend to information from different
representation subspaces at different positions", while "with a single attention head, averaging inhibits this" (Vaswani
et al. 2017, section 3.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.steps import HeadSteps, attend, join_heads, project, split_heads
from attention.core.trace import LayerTrace, Projections

# Why a layer cannot be split differently: "shared" keys, or "positions" that enter head by head.
Obstacle = Literal["", "shared", "positions"]

_COUNTS = (1, 2, 4, 8)


def counts(width: int, own: int) -> tuple[int, ...]:
    """Return the candidate numbers of heads that divide the width, and the model's ``own``, in ascending order.

    >>> counts(24, 3), counts(36, 6)
    ((1, 2, 3, 4, 8), (1, 2, 4, 6))
    """
    return tuple(sorted({own, *(count for count in _COUNTS if width % count == 0)}))


def obstacle(layer: LayerTrace) -> Obstacle:
    """Return why a layer cannot be split into another number of heads; empty if it can."""
    if layer.keys.shape[0] != layer.queries.shape[0]:
        return "shared"
    has_masks_of_heads = layer.mask is not None and layer.mask.ndim == 3 and layer.mask.shape[0] > 1
    has_more = layer.is_changed or layer.bias is not None or layer.softcap is not None
    return "positions" if has_more or has_masks_of_heads else ""


def recut(layer: LayerTrace, n_heads: int, rows: slice = slice(None)) -> HeadSteps:
    """Attend with a layer's queries, keys and values split into ``n_heads``, for some ``rows`` of queries.

    Scores are divided by the root of the new d_head; a model with another scale keeps it.

    Raises:
        ValueError: the layer cannot be split like this.
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
    """Return consecutive slices of ``each`` numbers; the last may be shorter.

    >>> slices(10, 4)
    (slice(0, 4, None), slice(4, 8, None), slice(8, 10, None))
    """
    return tuple(slice(start, min(start + each, width)) for start in range(0, width, each))


def query_changes(vector: Float[Array, " M"], projections: Projections, n_heads: int) -> Float[Array, "H S"]:
    """Return the relative change of each head's query when a slice of its input vector is set to 0.

    ``‖x_s W_Q[s]‖ / ‖x W_Q + b_Q‖`` for each head and each slice s of d_head numbers; RoPE changes no norm. NaN if a
    head's query is 0.
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
    """The norm of each head's part of ΔE for each token, and the sum with the bias: ΔE."""

    lengths: Float[Array, "Q H"]
    total: Float[Array, "Q M"]


def contributions(head_outputs: Float[Array, "H Q Dv"], projections: Projections) -> Contributions:
    """Decompose ΔE: ``Concat(head₁, …, head_H) W_O + b_O = Σ_h head_h W_O[rows of h] + b_O``.

    Raises:
        ValueError: W_O does not have a row for each number of the concatenated heads.
    """
    n_heads, n_queries, width = head_outputs.shape
    weight = projections.W_O
    if weight.shape[0] != n_heads * width:
        raise ValueError(f"W_O must have {n_heads * width} rows for {n_heads} heads of {width}, got {weight.shape[0]}")
    lengths = np.zeros((n_queries, n_heads), dtype=head_outputs.dtype)
    total = np.zeros((n_queries, weight.shape[1]), dtype=head_outputs.dtype)
    # Head by head: all contributions at once take much memory for a long text.
    for head, rows in enumerate(weight.reshape(n_heads, width, -1)):
        added = head_outputs[head] @ rows
        lengths[:, head] = np.linalg.norm(added, axis=-1)
        total += added
    return Contributions(lengths, total if projections.b_O is None else total + projections.b_O)
