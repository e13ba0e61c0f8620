"""The first layer of a model on reordered tokens, with and without their positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core import masks, steps
from attention.core.steps import HeadSteps
from attention.core.trace import Difference, Trace

# The largest relative difference allowed between these inputs and the model's own.
_NEAR = 1e-4


def can_be_reordered(trace: Trace) -> bool:
    """Return whether all parts of the first layer's input are known and its attention is self-attention."""
    layer = trace.layers[0]
    if trace.embeddings is None or trace.memory is not None or layer.projections is None or layer.inputs is None:
        return False
    ours = first_inputs(trace, range(len(trace.tokens)), with_positions=True)
    return Difference.between(ours, layer.inputs).relative <= _NEAR


def first_inputs(trace: Trace, order: Sequence[int], *, with_positions: bool) -> Float[Array, "T M"]:
    """Return the vectors that enter the first attention with the tokens in this order.

    ``order[i]`` is the original position of the token at position i. Word and segment vectors move with their token;
    position vectors stay or are left out. The model's norms follow.
    """
    parts = trace.embeddings
    assert parts is not None
    at = np.asarray(order, dtype=np.intp)
    vectors = parts.words[at]
    if parts.segments is not None:
        vectors = vectors + parts.segments[at]
    if with_positions and parts.positions is not None:
        vectors = vectors + parts.positions
    for made in (parts.norm, parts.projection, trace.layers[0].norm):
        vectors = vectors if made is None else made(vectors)
    return vectors


def first_head(
    trace: Trace, head: int, order: Sequence[int], *, with_positions: bool, with_mask: bool = True
) -> HeadSteps:
    """Return the steps of a head of the first layer on reordered tokens (see ``first_inputs``).

    Without positions, there is no RoPE and no position bias. The mask stays: it hides positions, not tokens.
    """
    layer, group = trace.layers[0], head // trace.info.group_size
    parts = layer.projections
    assert parts is not None
    inputs = first_inputs(trace, order, with_positions=with_positions)
    d_head, d_value = layer.queries.shape[-1], layer.values.shape[-1]
    queries = _project(inputs, parts.W_Q, parts.b_Q, head, d_head)
    keys = _project(inputs, parts.W_K, parts.b_K, group, d_head)
    values = _project(inputs, parts.W_V, parts.b_V, group, d_value)
    bias = None
    if not with_positions:
        queries, keys = layer.normed(queries, "queries"), layer.normed(keys, "keys")
    else:
        queries, keys = layer.finished(queries, "queries"), layer.finished(keys, "keys")
        bias = None if layer.bias is None else layer.bias[head : head + 1]
    mask = masks.painted(layer.hidden(head)) if with_mask else None
    return steps.attend(queries, keys, values, mask=mask, scale=layer.scale, bias=bias, softcap=layer.softcap).head(0)


def _project(
    inputs: Float[Array, "T M"], weight: Float[Array, "M N"], bias: Float[Array, " N"] | None, head: int, width: int
) -> Float[Array, "1 T D"]:
    columns = slice(head * width, (head + 1) * width)
    return steps.project(inputs, weight[:, columns], None if bias is None else bias[columns])[None]
