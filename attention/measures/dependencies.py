"""How well heads find the syntax of a sentence: the word that each word depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

__all__ = [
    "ALL_RELATIONS",
    "OFFSETS",
    "Direction",
    "OffsetScore",
    "Parse",
    "RelationScore",
    "best_offset",
    "dependency_accuracy",
]

Direction = Literal["dependent to head", "head to dependent"]
ALL_RELATIONS = "all"
# The offsets that Clark et al. 2019 try for their baseline (Syntax_Analysis.ipynb).
OFFSETS = (-3, -2, -1, 1, 2)


@dataclass(frozen=True, slots=True)
class Parse:
    """The gold syntax of a sentence: for each word the position of its head (None at the root) and its relation."""

    heads: tuple[int | None, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that there is one relation per head, and that every head is another word.

        Raises:
            ValueError: it is not so.
        """
        if len(self.heads) != len(self.relations):
            raise ValueError(
                f"a parse must have one relation per head, got {len(self.relations)} and {len(self.heads)}"
            )
        for word, head in enumerate(self.heads):
            if head is not None and (head == word or not 0 <= head < len(self.heads)):
                raise ValueError(f"a head must be another word of {len(self.heads)}, got {head} for word {word}")

    def asked(self, word: int) -> int:
        """Return the word whose attention is to find the head of ``word``: itself, or its ``'s``.

        Of the relation ``poss`` (*John 's book*) Clark et al. 2019, section 4.2, ask the ``'s`` that follows.
        """
        following = self.relations[word + 1 : word + 2]
        return word + 1 if self.relations[word] == "poss" and following == ("possessive",) else word


@dataclass(frozen=True, slots=True)
class RelationScore:
    """In how many cases a relation was seen, and in which part of them each attention head was right."""

    count: int
    accuracy: Float[Array, "*H"]


@dataclass(frozen=True, slots=True)
class OffsetScore:
    """In how many cases a relation was seen, and the fixed offset that was right in the largest part of them."""

    count: int
    offset: int
    accuracy: float


def dependency_accuracy(
    sentences: Iterable[tuple[Float[Array, "*H W W"], Parse]], direction: Direction = "dependent to head"
) -> dict[str, RelationScore]:
    """Return how often each attention head finds a word's head, by relation and over ``ALL_RELATIONS``.

    The head that is predicted for word i is the other word j with the largest weight, ``A[i, j]`` from
    dependent to head or ``A[j, i]`` from head to dependent (Clark et al. 2019, section 4.2, table 1).
    A root has no head to find and is not counted; a word whose weights are all masked is a miss.

    Args:
        sentences: for each, weights between words, without special tokens (see ``attention.words``), of
            shape (..., W, W) with the same axes in front every time, and its parse.
        direction: whose weights are asked.

    Raises:
        ValueError: weights that are not between the words of their parse.
    """
    counts, right = _tally((_predict(weights, parse, direction), parse) for weights, parse in sentences)
    return {relation: RelationScore(count, right[relation] / count) for relation, count in counts.items()}


def best_offset(parses: Iterable[Parse], offsets: Sequence[int] = OFFSETS) -> dict[str, OffsetScore]:
    """Return for each relation, and over ``ALL_RELATIONS``, the fixed offset that finds the most heads.

    The baseline of Clark et al. 2019, table 1: the head of word i is word ``i + offset``. Beyond the ends of
    the sentence it is a miss (their code takes the last word there).
    """
    steps = np.array(offsets)[:, None]
    counts, right = _tally((np.arange(len(parse.heads)) + steps, parse) for parse in parses)
    best = {relation: int(right[relation].argmax()) for relation in counts}
    return {
        relation: OffsetScore(count, offsets[best[relation]], float(right[relation][best[relation]]) / count)
        for relation, count in counts.items()
    }


def _predict(weights: Array, parse: Parse, direction: Direction) -> Int[Array, "*H W"]:
    n_words = len(parse.heads)
    if weights.shape[-2:] != (n_words, n_words):
        raise ValueError(f"weights must end in {(n_words, n_words)} for {n_words} words, got {weights.shape}")
    weights = weights if direction == "dependent to head" else weights.swapaxes(-1, -2)
    others = np.where(np.eye(n_words, dtype=bool), 0, weights)
    return np.where(others.any(axis=-1), others.argmax(axis=-1), -1)


def _tally(predictions: Iterable[tuple[Int[Array, "*H W"], Parse]]) -> tuple[Counter[str], dict[str, Array]]:
    """Count the words of each relation, and for each predictor those whose head it finds."""
    counts: Counter[str] = Counter()
    right: dict[str, Array] = {}
    for predicted, parse in predictions:
        for word, (head, relation) in enumerate(zip(parse.heads, parse.relations, strict=True)):
            if head is None:
                continue
            is_right = (predicted[..., parse.asked(word)] == head).astype(np.int64)
            for name in (relation, ALL_RELATIONS):
                counts[name] += 1
                right[name] = right[name] + is_right if name in right else is_right
    return counts, right
