"""What a head attends to: special tokens, punctuation, the same word, and the share of weight on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.core.words import Word, folded, is_punctuation
from attention.measures.rows import Rows, on_cells, sum_columns

# Tokens that begin a sequence, and those that separate and end sequences, in several model families.
CLASSIFIERS = frozenset({"[CLS]", "<s>"})
SEPARATORS = frozenset({"[SEP]", "</s>"})
# Their measures in HeadSummary.
SPECIAL_MEASURES = {"classifier": CLASSIFIERS, "separator": SEPARATORS}


@dataclass(frozen=True, slots=True)
class Marks:
    """Which tokens of B texts of T tokens are special, punctuation, and so on.

    ``same_word`` marks pairs of equal tokens, case-folded, at different positions; special tokens are not words.
    """

    special: Bool[Array, "B T"]
    classifier: Bool[Array, "B T"]
    separator: Bool[Array, "B T"]
    punctuation: Bool[Array, "B T"]
    padding: Bool[Array, "B T"]
    segments: Int[Array, "B T"]
    same_word: Bool[Array, "B T T"]

    @classmethod
    def of(cls, texts: Sequence[Sequence[Token | Word]]) -> Self:
        """Mark the tokens, or the words, of texts of equal length."""
        special = _marked(texts, [token.is_special for tokens in texts for token in tokens])
        names = np.array([_numbered(tokens) for tokens in texts])
        same_word = names[:, :, None] == names[:, None, :]
        same_word &= ~np.eye(names.shape[1], dtype=bool)
        return cls(
            special,
            special & _marked(texts, [token.text in CLASSIFIERS for tokens in texts for token in tokens]),
            special & _marked(texts, [token.text in SEPARATORS for tokens in texts for token in tokens]),
            _marked(texts, [is_punctuation(token) for tokens in texts for token in tokens]),
            _marked(texts, [token.is_padding for tokens in texts for token in tokens]),
            np.array([[token.segment for token in tokens] for tokens in texts]),
            same_word,
        )


def _marked(texts: Sequence[Sequence[Token | Word]], marks: list[bool]) -> Bool[Array, "B T"]:
    return np.array(marks, bool).reshape(len(texts), -1)


def _numbered(tokens: Sequence[Token | Word]) -> list[int]:
    """Number each word by its first occurrence, and give each special token a unique number."""
    first: dict[str, int] = {}
    return [
        -1 - position if token.is_special else first.setdefault(folded(token), position)
        for position, token in enumerate(tokens)
    ]


def column_shares(rows: Rows) -> Float[Array, "*H K"]:
    """Return the share of a head's weight that each token gets, averaged over rows."""
    return sum_columns(rows.weights).astype(np.float64) / rows.n[..., None]


def share(columns: Float[Array, "*L B H T"], marked: Bool[Array, "B T"]) -> Float[Array, "*L B H"]:
    """Return the share of a head's weight on the marked tokens (Clark et al. 2019, section 3.2)."""
    return (columns @ marked[..., None].astype(np.float64))[..., 0]


def same_word_share(rows: Rows, same_word: Bool[Array, "B T T"]) -> Float[Array, "*L B H"]:
    """Return the weight on the same word elsewhere, averaged over the tokens that can see one; 0 if none can."""
    cells = same_word[:, None]
    return rows.mean(on_cells(rows.weights, cells), among=(cells & rows.visible).any(axis=-1))
