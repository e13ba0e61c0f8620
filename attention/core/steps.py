r"""The equation of attention, one function per step.

.. math:: \mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right) V

(Vaswani et al. 2017, "Attention Is All You Need", section 3.2.) No other module implements the equation: the code that
a learner reads here computed the numbers on the page.

Axis letters: ``H`` query heads, ``G`` key/value heads, ``Q`` query positions, ``K`` key positions, ``D`` d_head, ``Dv``
the width of a value vector, ``M`` d_model, ``T`` tokens. All functions preserve the floating-point type of their
inputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

# Rows of at most this many numbers are short.
_SHORT = 64


@dataclass(frozen=True, slots=True, repr=False)
class HeadSteps:
    """Every intermediate array of attention, for all heads or, without the axis ``H``, for one.

    In the order of the steps, with each key/value head repeated for the query heads that share it::

        scores = Q Kᵀ (+ position bias)         scaled_scores = scores · scale
        masked_scores = scaled_scores + mask    weights = softmax(masked_scores), row by row
        head_outputs = weights · V

    ``capped_scores`` is None unless the model soft-caps the scaled scores before adding the mask.
    """

    queries: Float[Array, "*H Q D"]
    keys: Float[Array, "*H K D"]
    values: Float[Array, "*H K Dv"]
    scores: Float[Array, "*H Q K"]
    scaled_scores: Float[Array, "*H Q K"]
    mask: Float[Array, "*H Q K"]
    masked_scores: Float[Array, "*H Q K"]
    weights: Float[Array, "*H Q K"]
    head_outputs: Float[Array, "*H Q Dv"]
    capped_scores: Float[Array, "*H Q K"] | None = None

    def __repr__(self) -> str:
        """Return the shapes of its arrays: its numbers would be pages."""
        shapes = ", ".join(f"{name} {getattr(self, name).shape}" for name in ("queries", "keys", "values", "weights"))
        return f"<HeadSteps: {shapes}>"

    @property
    def unmasked_scores(self) -> Float[Array, "*H Q K"]:
        """The scores before the mask: the capped ones, else the scaled ones."""
        return self.scaled_scores if self.capped_scores is None else self.capped_scores

    def head(self, head: int) -> Self:
        """Return the steps of one head, counted from 0, as views without the head axis."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(**{name: array[head] for name, array in arrays.items() if array is not None})


def project(
    inputs: Float[Array, "T M"],
    weight: Float[Array, "M N"],
    bias: Float[Array, " N"] | None = None,
) -> Float[Array, "T N"]:
    """Project every token's vector to a query, key or value: ``X W + b`` (Vaswani et al. 2017, section 3.2.2).

    Raises:
        ValueError: ``weight`` does not have a row for each of the M numbers of a vector.
    """
    if inputs.shape[-1] != weight.shape[0]:
        raise ValueError(f"weight must have shape ({inputs.shape[-1]}, N) to follow inputs, got {weight.shape}")
    projected = inputs @ weight
    return projected if bias is None else projected + bias


def rms_norm(x: Float[Array, "*T M"], gain: Float[Array, " M"], epsilon: float) -> Float[Array, "*T M"]:
    r"""Scale every vector to a root mean square of 1, then multiply by the gain: ``x / √(mean(x²) + ε) · g``.

    Many decoders normalise the inputs of attention and leave the residual stream unchanged (Zhang & Sennrich 2019,
    "Root Mean Square Layer Normalization", section 4).
    """
    mean_square = np.square(x).mean(axis=-1, keepdims=True)
    return x / np.sqrt(mean_square + x.dtype.type(epsilon)) * gain


def layer_norm(
    x: Float[Array, "*T M"], gain: Float[Array, " M"], bias: Float[Array, " M"] | None, epsilon: float
) -> Float[Array, "*T M"]:
    r"""Bring every vector to mean 0 and variance 1, then apply gain and bias: ``(x - mean) / √(var + ε) · g + b``.

    (Ba et al. 2016, "Layer Normalization", section 3.)
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    normed = rms_norm(centred, gain, epsilon)
    return normed if bias is None else normed + bias


def split_heads(joined: Float[Array, "T H*D"], n_heads: int) -> Float[Array, "H T D"]:
    """Split every token's vector into ``n_heads`` equal parts, one per head.

    Raises:
        ValueError: the width is not a multiple of ``n_heads``.
    """
    n_tokens, width = joined.shape
    if width % n_heads:
        raise ValueError(f"width must be a multiple of {n_heads} heads, got {width}")
    return joined.reshape(n_tokens, n_heads, width // n_heads).swapaxes(0, 1)


def score(queries: Float[Array, "H Q D"], keys: Float[Array, "H K D"]) -> Float[Array, "H Q K"]:
    """Compare every query with every key by their dot product: ``S = Q Kᵀ`` (Vaswani et al. 2017, section 3.2.1)."""
    return queries @ keys.swapaxes(-1, -2)


def scale_scores(scores: Float[Array, "H Q K"], scale: float) -> Float[Array, "H Q K"]:
    """Multiply the scores by ``scale``, which is ``1/√d_k`` in most models.

    If the components of q and k are independent with mean 0 and variance 1, then q·k has variance
    d_k; dividing by √d_k brings it back to 1 (Vaswani et al. 2017, section 3.2.1, footnote 4).
    """
    return scores * scores.dtype.type(scale)


def cap_scores(scaled_scores: Float[Array, "H Q K"], cap: float) -> Float[Array, "H Q K"]:
    r"""Soft-cap every score between ``-cap`` and ``cap``: ``cap · tanh(s / cap)``.

    (Gemma Team 2024, "Gemma 2: Improving Open Language Models at a Practical Size", section 2.)
    """
    limit = scaled_scores.dtype.type(cap)
    return limit * np.tanh(scaled_scores / limit)


def mask_scores(scaled_scores: Float[Array, "H Q K"], mask: Float[Array, "H Q K"]) -> Float[Array, "H Q K"]:
    """Add the mask: 0 where a query may attend to a key, ``-inf`` where it may not."""
    return scaled_scores + mask


def softmax(scores: Float[Array, "*axes K"]) -> Float[Array, "*axes K"]:
    """Turn each row of scores into weights that are at least 0 and sum to 1: ``exp(s) / Σ exp(s)``.

    The row's maximum is subtracted first, which leaves the weights unchanged and keeps ``exp`` from overflowing. A
    fully masked row (all ``-inf``) gives weights of 0, never NaN.
    """
    highest = _highest(scores)
    exponentials = np.exp(scores - np.where(np.isneginf(highest), 0, highest))
    # Several times as fast as sum(), above all for short rows.
    total = np.einsum("...k->...", exponentials)[..., None]
    return exponentials / np.where(total == 0, 1, total)


def _highest(scores: Float[Array, "*axes K"]) -> Float[Array, "*axes 1"]:
    if scores.shape[-1] > _SHORT:
        return scores.max(axis=-1, keepdims=True)
    # NumPy reduces a short row number by number; transposed, it compares many rows at once.
    return np.moveaxis(scores, -1, 0).copy().max(axis=0)[..., None]


def weighted_sum(weights: Float[Array, "H Q K"], values: Float[Array, "H K Dv"]) -> Float[Array, "H Q Dv"]:
    """Sum the value vectors, each multiplied by its weight: ``O = A V``."""
    return weights @ values


def join_heads(head_outputs: Float[Array, "H Q Dv"]) -> Float[Array, "Q H*Dv"]:
    """Concatenate the heads' outputs: ``Concat(head₁, …, head_H)`` (Vaswani et al. 2017, section 3.2.2)."""
    n_heads, n_queries, width = head_outputs.shape
    return head_outputs.swapaxes(0, 1).reshape(n_queries, n_heads * width)


def output_projection(
    joined: Float[Array, "Q H*Dv"],
    weight: Float[Array, "H*Dv M"],
    bias: Float[Array, " M"] | None = None,
) -> Float[Array, "Q M"]:
    """Project the concatenated heads to ΔE, the change of each token's vector: ``C W_O + b_O``.

    Raises:
        ValueError: ``weight`` does not have a row for each number of the concatenated heads.
    """
    return project(joined, weight, bias)


def attend(
    queries: Float[Array, "*B H Q D"],
    keys: Float[Array, "*B G K D"],
    values: Float[Array, "*B G K Dv"],
    *,
    mask: Float[Array, "*H_Q_K"] | None = None,
    scale: float | None = None,
    bias: Float[Array, "*H_Q_K"] | None = None,
    softcap: float | None = None,
) -> HeadSteps:
    """Run all steps, from the scores to the heads' outputs, and keep the result of each.

    With fewer key/value heads than query heads (grouped-query attention, Ainslie et al. 2023), each group of ``H / G``
    consecutive query heads shares one key/value head; the keys and values returned are repeated to ``H`` heads. B texts
    of equal length may be an axis before the heads.

    Args:
        queries: shape (H, Q, D).
        keys: shape (G, K, D), where H is a multiple of G.
        values: shape (G, K, Dv).
        mask: additive, 0 or ``-inf``, broadcastable to (H, Q, K).
        scale: the factor of the scores; ``1/√D`` if None.
        bias: added to the scores before scaling, according to the distance between query and key
            (Raffel et al. 2020, section 2.1); broadcastable to (H, Q, K).
        softcap: the soft cap of the scaled scores (see ``cap_scores``).

    Raises:
        ValueError: the shapes do not fit together.
    """
    _check_shapes(queries, keys, values)
    *texts, n_heads, n_queries, d_head = queries.shape
    group_size = n_heads // keys.shape[-3]
    keys, values = (array.repeat(group_size, axis=-3) if group_size > 1 else array for array in (keys, values))
    shape = (*texts, n_heads, n_queries, keys.shape[-2])
    full_mask = _broadcast("mask", mask, shape, queries.dtype)

    scores = score(queries, keys)
    if bias is not None:
        scores += _broadcast("bias", bias, shape, queries.dtype)
    scaled_scores = scale_scores(scores, 1 / math.sqrt(d_head) if scale is None else scale)
    capped_scores = None if softcap is None else cap_scores(scaled_scores, softcap)
    masked_scores = mask_scores(scaled_scores if capped_scores is None else capped_scores, full_mask)
    weights = softmax(masked_scores)
    head_outputs = weighted_sum(weights, values)
    return HeadSteps(
        queries,
        keys,
        values,
        scores,
        scaled_scores,
        full_mask,
        masked_scores,
        weights,
        head_outputs,
        capped_scores,
    )


def share_heads(heads: Float[Array, "G T D"], n_shared: int) -> Float[Array, "S T D"]:
    """Average G key or value heads to S = ``n_shared``, in groups of G / S consecutive heads.

    This converts a multi-head model to grouped queries (Ainslie et al. 2023, section 2.1).

    Raises:
        ValueError: G is not divisible by ``n_shared``.
    """
    n_heads, n_tokens, width = heads.shape
    if n_shared < 1 or n_heads % n_shared:
        raise ValueError(f"the number of groups must divide {n_heads} heads, got {n_shared}")
    return heads.reshape(n_shared, n_heads // n_shared, n_tokens, width).mean(axis=1)


def _check_shapes(queries: Array, keys: Array, values: Array) -> None:
    for name, array in (("queries", queries), ("keys", keys), ("values", values)):
        if array.ndim < 3 or array.shape[:-3] != queries.shape[:-3]:
            texts = f" after {queries.shape[:-3]}" if queries.ndim > 3 else ""
            raise ValueError(f"{name} must have 3 axes (heads, tokens, width){texts}, got shape {array.shape}")
    if keys.shape[-1] != queries.shape[-1]:
        raise ValueError(f"keys must have width {queries.shape[-1]}, as the queries have, got {keys.shape[-1]}")
    if values.shape[:-1] != keys.shape[:-1]:
        raise ValueError(
            f"values must have {keys.shape[-3]} heads and {keys.shape[-2]} tokens, as the keys have, "
            f"got {values.shape[-3]} and {values.shape[-2]}"
        )
    if not keys.shape[-3] or queries.shape[-3] % keys.shape[-3]:
        raise ValueError(
            f"the number of query heads must be a multiple of the number of key/value heads, "
            f"got {queries.shape[-3]} and {keys.shape[-3]}"
        )
    if not keys.shape[-2] or not keys.shape[-1]:
        raise ValueError(f"keys must have at least one token and one dimension, got shape {keys.shape}")


def _broadcast(name: str, addend: Array | None, shape: tuple[int, ...], dtype: np.dtype[np.floating]) -> Array:
    if addend is None:
        return np.broadcast_to(np.zeros((), dtype), shape)
    try:
        return np.broadcast_to(addend.astype(dtype, copy=False), shape)
    except ValueError:
        raise ValueError(
            f"{name} must be broadcastable to {shape} (heads, queries, keys), got {addend.shape}"
        ) from None
