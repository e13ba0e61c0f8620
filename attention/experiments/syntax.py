"""How often a head attends from a word to its grammatical head, over hand-annotated sentences.

This is the experiment of Clark et al. 2019, "What Does BERT Look At?", section 4.2 and table 1, for any model. Tokens
are merged into the treebank's words, and the best head is chosen, both on the same sentences and on held-out ones.
``attention.measures`` does the counting. Axes: ``S`` directions, ``L`` layers, ``H`` heads, ``T`` tokens, ``W`` words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import get_args

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.paths import ASSETS
from attention.core.trace import Difference, ModelInfo, Token
from attention.core.words import merge
from attention.experiments.corpus import Annotated
from attention.measures.dependencies import Direction, Parse, RelationScore, best_offset, dependency_accuracy
from attention.models.base import Batch

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
# The relation of a word to the next one, which is not a treebank relation.
_NEXT = "next word"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one relation: the number of cases, the best head (counted from 0), and the best fixed offset.

    ``held_out`` is the accuracy of the best head of one half of the sentences on the other half, both ways; None if a
    half has no case.
    """

    relation: str
    count: int
    direction: Direction
    layer: int
    head: int
    accuracy: float
    held_out: float | None
    offset: int
    offset_accuracy: float


@dataclass(frozen=True, slots=True)
class Joining:
    """How every head treats the words of one relation and all others, in both directions.

    ``accuracy`` is the share of the ``count`` cases in which a head finds the grammatical head; ``elsewhere`` is the
    share of all other words from which it attends to the next word. If both are large, it links any adjacent words.
    """

    count: int
    accuracy: Float[Array, "S L H"]
    elsewhere: Float[Array, "S L H"]


@dataclass(frozen=True, slots=True)
class PaperFinding:
    """The published result for BERT-base; heads are counted from 0."""

    count: int
    direction: Direction
    layer: int
    head: int
    accuracy: float
    offset: int
    offset_accuracy: float


def _paper() -> Mapping[str, PaperFinding]:
    """Return the output of the notebook published for table 1 (Clark et al. 2019, Syntax_Analysis.ipynb)."""
    found = {}
    for row in (ASSETS / "syntax-paper.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        relation, direction, *numbers = row.split("\t")
        count, layer, head, offset = map(int, numbers[:4])
        accuracy, by_offset = (float(each) / 100 for each in numbers[4:])
        way = DIRECTIONS[DIRECTIONS.index(direction)]
        found[relation] = PaperFinding(count, way, layer, head, accuracy, offset, by_offset)
    return found


PAPER = _paper()


def parse_of(sentence: Annotated) -> Parse:
    """Return the annotated syntax of a sentence."""
    return Parse(sentence.heads, sentence.relations)


def positions_of(tokens: Sequence[Token], sentence: Annotated) -> list[list[int]]:
    """Return, for each word, the positions of the tokens that begin within its span.

    A word may have none, for example if a model keeps ``don't`` in one piece and the treebank splits it.
    """
    places: list[list[int]] = [[] for _ in sentence.spans]
    for token in tokens:
        for place, (start, end) in zip(places, sentence.spans, strict=True):
            if token.start is not None and start <= token.start < end:
                place.append(token.position)
    return places


def word_weights(
    weights: Float[Array, "*axes T T"], tokens: Sequence[Token], sentence: Annotated
) -> Float[Array, "*axes W W"]:
    """Merge weights between tokens into weights between the treebank's words, 0 for a word without a token."""
    places = positions_of(tokens, sentence)
    having = [word for word, place in enumerate(places) if place]
    merged = np.zeros((*weights.shape[:-2], len(places), len(places)), weights.dtype)
    merged[..., np.array(having)[:, None], having] = merge(weights, [places[word] for word in having])
    return merged


@dataclass(frozen=True, slots=True)
class SyntaxResult:
    """The best head for each relation, the most common first, and the number of words without a token of their own.

    ``difference`` is the largest difference from the model's own outputs, ``largest_row_error`` that of a row's sum
    from 1.
    """

    findings: tuple[Finding, ...]
    n_without_token: int
    difference: Difference
    largest_row_error: float


class SyntaxCheck:
    """Collects the predictions of a model's heads on annotated sentences and finds the best head for each relation."""

    def __init__(self, info: ModelInfo, sentences: Sequence[Annotated]) -> None:
        self._info = info
        self._numbers = {sentence.text: number for number, sentence in enumerate(sentences)}
        self._sentences = sentences
        self._weights: dict[int, Float[Array, "L H W W"]] = {}
        self.n_without_token = 0
        self.difference, self.largest_row_error = Difference(), 0.0

    def add(self, batch: Batch) -> None:
        """Add the predictions of all heads on a batch."""
        derived = [layer.steps() for layer in batch.layers]
        weights = np.stack([steps.weights for steps in derived])  # (L, B, H, T, T)
        for steps, layer in zip(derived, batch.layers, strict=True):
            self.difference = self.difference.worst(Difference.between(steps.head_outputs, layer.model_output))
        self.largest_row_error = float(np.maximum(self.largest_row_error, np.abs(weights.sum(axis=-1) - 1).max()))
        for index, text in enumerate(batch.texts):
            number = self._numbers[text.text]
            sentence = self._sentences[number]
            self._weights[number] = word_weights(weights[:, index], text.tokens, sentence)
            self.n_without_token += sum(not place for place in positions_of(text.tokens, sentence))

    def findings(self) -> tuple[Finding, ...]:
        """Return the best head for each relation, the most common first."""
        halves = [self._scores([number for number in self._weights if number % 2 == half]) for half in (0, 1)]
        offsets = best_offset(parse_of(self._sentences[number]) for number in self._weights)
        found = []
        for relation, offset in sorted(offsets.items(), key=lambda item: -item[1].count):
            parts = [half[relation] for half in halves if relation in half]
            right = np.sum([part.accuracy * part.count for part in parts], axis=0)  # (S, L, H)
            direction, layer, head = _best(right)
            found.append(
                Finding(
                    relation,
                    offset.count,
                    DIRECTIONS[direction],
                    layer,
                    head,
                    float(right[direction, layer, head] / offset.count),
                    _held_out(parts),
                    offset.offset,
                    offset.accuracy,
                )
            )
        return tuple(found)

    def result(self) -> SyntaxResult:
        """Return the result so far."""
        return SyntaxResult(self.findings(), self.n_without_token, self.difference, self.largest_row_error)

    def joining(self, relation: str) -> Joining:
        """Return how every head treats the words of a relation and all others; KeyError if the relation is absent."""
        score = self._scores(list(self._weights))[relation]
        seen = [(weights, _next_of_others(self._sentences[at], relation)) for at, weights in self._weights.items()]
        elsewhere = [dependency_accuracy(seen, direction)[_NEXT].accuracy for direction in DIRECTIONS]
        return Joining(score.count, score.accuracy, np.stack(elsewhere))

    def _scores(self, numbers: Sequence[int]) -> dict[str, RelationScore]:
        seen = [(self._weights[number], parse_of(self._sentences[number])) for number in numbers]
        to_head, to_dependent = (dependency_accuracy(seen, direction) for direction in DIRECTIONS)
        return {
            relation: RelationScore(score.count, np.stack([score.accuracy, to_dependent[relation].accuracy]))
            for relation, score in to_head.items()
        }


def _next_of_others(sentence: Annotated, relation: str) -> Parse:
    """Return a parse in which each word outside a relation depends on the next word."""
    n_words = len(sentence.words)
    is_other = [here != relation and word + 1 < n_words for word, here in enumerate(sentence.relations)]
    heads = tuple(word + 1 if other else None for word, other in enumerate(is_other))
    return Parse(heads, (_NEXT,) * n_words)


def _best(accuracy: Float[Array, "S L H"]) -> tuple[int, int, int]:
    """Return the indices of the first maximum."""
    direction, layer, head = np.unravel_index(int(accuracy.argmax()), accuracy.shape)
    return int(direction), int(layer), int(head)


def _held_out(parts: Sequence[RelationScore]) -> float | None:
    """Return the accuracy on each half of the heads chosen on the other; None with fewer than two halves."""
    if len(parts) < 2:
        return None
    right = sum(
        float(tried.accuracy[_best(chosen.accuracy)]) * tried.count
        for chosen, tried in product(parts, parts)
        if chosen is not tried
    )
    return right / sum(part.count for part in parts)
