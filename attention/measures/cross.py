"""Measures of cross-attention heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.core.words import Word
from attention.measures.entropies import entropy, normalised_entropy
from attention.measures.five_patterns import lift
from attention.measures.marks import column_shares
from attention.measures.rows import Rows, sum_columns


@dataclass(frozen=True, slots=True)
class CrossSummary:
    """Measures of one cross-attention head on one text; layer and head count from 0.

    Rows and columns are different tokens, so distances and diagonals are meaningless. Entropy is in nats, everything
    else from 0 to 1: ``largest`` is the largest weight of a row, averaged over rows; ``special`` the share of weight on
    special source tokens; ``vertical`` the lift of the column with the most weight (see ``PatternScores``).
    """

    layer: int
    head: int
    entropy: float
    normalised_entropy: float
    largest: float
    special: float
    vertical: float


def summarise_cross(
    weights: Float[Array, "H Q K"],
    tokens: Sequence[Token | Word],
    key_tokens: Sequence[Token | Word],
    mask: Float[Array, "*H_Q_K"] | None = None,
    layer: int = 0,
) -> tuple[CrossSummary, ...]:
    """Summarise the cross-attention heads of a layer; raise ValueError if the weights do not match the tokens."""
    if weights.shape[1:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"weights must have shape (heads, {len(tokens)}, {len(key_tokens)}) for {len(tokens)} tokens that look "
            f"at {len(key_tokens)}, got {weights.shape}"
        )
    rows = Rows.of(weights, mask, np.array([not token.is_padding for token in tokens], bool))
    entropies, columns = entropy(rows.weights), column_shares(rows)
    even_columns = sum_columns(rows.even()) / rows.n[..., None]
    is_special = np.array([token.is_special for token in key_tokens], bool)
    numbers = (
        rows.mean(entropies),
        rows.mean(normalised_entropy(entropies, rows.n_visible), among=rows.has_choice),
        rows.mean(rows.weights.max(axis=-1)),
        columns @ is_special,
        lift(columns, even_columns).max(axis=-1),
    )
    return tuple(CrossSummary(layer, head, *map(float, row)) for head, row in enumerate(zip(*numbers, strict=True)))
