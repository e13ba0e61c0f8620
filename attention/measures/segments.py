"""Two sentences read as one text: which tokens belong to A and to B, and the weight between them.

A token belongs to its segment (BERT's ``token_type_ids``): [CLS] and the first [SEP] to A, the last [SEP] to B. Padding
belongs to neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.core.words import Word

SENTENCES = ("A", "B")
# "AB" is from A to B.
Block = Literal["all", "AA", "AB", "BA", "BB"]
BLOCK_NAMES: tuple[Block, ...] = get_args(Block)


def is_pair(units: Sequence[Token | Word]) -> bool:
    """Return whether the tokens or words form two sentences."""
    return any(unit.segment for unit in units)


def groups(units: Sequence[Token | Word]) -> tuple[tuple[str, int], ...]:
    """Return the name and first row of each part of a pair, with padding last and unnamed; empty for one sentence."""
    if not is_pair(units):
        return ()
    parts, start = [], 0
    for name, members in groupby(map(_sentence, units)):
        parts.append((name, start))
        start += len(list(members))
    return tuple(parts)


def span(units: Sequence[Token | Word], sentence: str) -> tuple[int, int]:
    """Return a sentence's start and end; its tokens are contiguous. Raise ValueError if it is absent."""
    names = [_sentence(unit) for unit in units]
    start = names.index(sentence)
    return start, start + names.count(sentence)


def block_shares(
    weights: Float[Array, "*H T T"], units: Sequence[Token | Word], *, special: bool = True
) -> Float[Array, "*H 2 2"]:
    """Return the mean share of weight that rows of A and of B (rows) give to A and to B (columns).

    ``S[i, j] = mean over q in sentence i of Σ_{k in sentence j} A[q, k]``, without fully masked rows. With ``special``,
    [CLS] and [SEP] count as part of their segments, and each row of S sums to 1. Without it, neither their rows nor
    their columns count.
    """
    members = _members(units, special).astype(np.float64)  # (2, T)
    looking = weights.any(axis=-1).astype(np.float64) @ members.T  # (*H, 2)
    total = members @ (weights.astype(np.float64) @ members.T)  # (*H, 2, 2)
    return total / np.maximum(looking, 1)[..., None]


def _members(units: Sequence[Token | Word], special: bool) -> Bool[Array, "2 T"]:
    counts = [special or not unit.is_special for unit in units]
    return np.array(
        [[does and _sentence(unit) == name for unit, does in zip(units, counts, strict=True)] for name in SENTENCES]
    )


def _sentence(unit: Token | Word) -> str:
    return "" if unit.is_padding else SENTENCES[unit.segment]
