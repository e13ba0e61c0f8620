"""How well heads find syntactic dependencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

Direction = Literal["dependent to head", "head to dependent"]
ALL_RELATIONS = "all"
# The offsets of the baseline of Clark et al. 2019 (Syntax_Analysis.ipynb).
OFFSETS = (-3, -2, -1, 1, 2)


@dataclass(frozen=True, slots=True)
class Parse:
    """The annotated syntax of a sentence: for each word, its head's position (None for the root) and its relation."""

    heads: tuple[int | None, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise ValueError unless there is one relation per head and every head is another word of the sentence."""
        if len(self.heads) != len(self.relations):
            raise ValueError(
                f"a parse must have one relation per head, got {len(self.relations)} and {len(self.heads)}"
            )
        for word, head in enumerate(self.heads):
            if head is not None and (head == word or not 0 <= head < len(self.heads)):
                raise ValueError(f"a head must be another word of {len(self.heads)}, got {head} for word {word}")

    def asked(self, word: int) -> int:
        """Return the word whose attention should find the head of ``word``: the word itself, or its ``'s``.

        For the relation ``poss`` (*John 's book*), Clark et al. 2019, section 4.2, use the ``'s`` that follows.
        """
        following = self.relations[word + 1 : word + 2]
        return word + 1 if self.relations[word] == "poss" and following == ("possessive",) else word


@dataclass(frozen=True, slots=True)
class RelationScore:
    """The number of cases of a relation and each attention head's accuracy."""

    count: int
    accuracy: Float[Array, "*H"]


@dataclass(frozen=True, slots=True)
class OffsetScore:
    """The number of cases of a relation and the most accurate fixed offset."""

    count: int
    offset: int
    accuracy: float


def dependency_accuracy(
    sentences: Iterable[tuple[Float[Array, "*H W W"], Parse]], direction: Direction = "dependent to head"
) -> dict[str, RelationScore]:
    """Return each attention head's accuracy in finding grammatical heads, by relation and over ``ALL_RELATIONS``.

    The prediction for word i is the other word j with the largest weight: ``A[i, j]`` in the direction from dependent
    to head, ``A[j, i]`` from head to dependent (Clark et al. 2019, section 4.2, table 1). Roots are not counted; a word
    whose weights are all masked counts as wrong.

    Args:
        sentences: the weights between words, without special tokens (see ``attention.core.words``), with the same
            leading axes for every sentence, and the parse.
        direction: which of the two words attends to the other.

    Raises:
        ValueError: weights are not between the words of their parse.
    """
    counts, right = _tally((_predict(weights, parse, direction), parse) for weights, parse in sentences)
    return {relation: RelationScore(count, right[relation] / count) for relation, count in counts.items()}


def best_offset(parses: Iterable[Parse]) -> dict[str, OffsetScore]:
    """Return, for each relation and over ``ALL_RELATIONS``, the fixed offset that finds the most heads.

    This is the baseline of Clark et al. 2019, table 1: the head of word i is word ``i + offset``. A position outside
    the sentence counts as wrong (their code takes the last word instead).
    """
    steps = np.array(OFFSETS)[:, None]
    counts, right = _tally((np.arange(len(parse.heads)) + steps, parse) for parse in parses)
    best = {relation: int(right[relation].argmax()) for relation in counts}
    return {
        relation: OffsetScore(count, OFFSETS[best[relation]], float(right[relation][best[relation]]) / count)
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
    """Count the words of each relation and, for each predictor, those whose head it finds."""
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
