"""All heads of a model on one text: their weights as they are looked at, what each one does, and their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.figures.atlas import Group, Head, Tiles, by_layer
from attention.figures.format import number
from attention.figures.head_view import MAX_HEADS, HeadLines, HeadView
from attention.figures.matrix import Matrix
from attention.lesson.scene import Scene
from attention.patterns import PATTERN_NAMES, HeadSummary, head_distance, summarise_weights
from attention.trace import LayerTrace, Token, Trace
from attention.words import Word, hide_tokens, is_punctuation, merge_words, words_of

__all__ = [
    "HIDE_NAMES",
    "SORT_NAMES",
    "Hidden",
    "Look",
    "Order",
    "Sorting",
    "Survey",
    "head_matrix",
    "layer_lines",
    "order",
    "place",
    "survey",
]

Sorting = Literal["layer", "entropy", "pattern", "similarity"]
SORT_NAMES: tuple[Sorting, ...] = get_args(Sorting)
Hidden = Literal["nothing", "special", "punctuation"]
HIDE_NAMES: tuple[Hidden, ...] = get_args(Hidden)


@dataclass(frozen=True, slots=True)
class Look:
    """How weights are looked at: between pieces or whole words, with what hidden, rows made to sum to 1 again or not.

    ``hide`` is "nothing", "special" ([CLS], [SEP] and padding), or "punctuation" (those, and punctuation marks).
    """

    words: bool = False
    hide: Hidden = "nothing"
    renormalise: bool = False

    def units(self, tokens: Sequence[Token]) -> Sequence[Token | Word]:
        """Return what the rows and columns stand for: tokens or words."""
        return words_of(tokens) if self.words else tokens

    def weights(self, layer: LayerTrace, tokens: Sequence[Token]) -> Float[Array, "H U U"]:
        """Return all heads' weights of a layer, looked at in this way."""
        weights = layer.steps().weights
        if self.words:
            weights, _ = merge_words(weights, tokens)
        if self.hide == "nothing":
            return weights
        return hide_tokens(weights, self.kept(tokens), self.renormalise)

    def kept(self, tokens: Sequence[Token]) -> Bool[Array, " U"]:
        """Return which tokens or words are not hidden."""
        return np.array([not self._hides(unit) for unit in self.units(tokens)])

    def _hides(self, unit: Token | Word) -> bool:
        if self.hide == "nothing":
            return False
        return unit.is_special or (self.hide == "punctuation" and is_punctuation(unit))


@dataclass(frozen=True, slots=True)
class Survey:
    """All heads at one look: their small pictures, and what each one does (always on all tokens, nothing hidden)."""

    tiles: Tiles
    summaries: tuple[HeadSummary, ...]

    def summary(self, head: Head) -> HeadSummary:
        """Return what one head does."""
        return next(summary for summary in self.summaries if place(summary) == head)


@dataclass(frozen=True, slots=True)
class Order:
    """The heads in the order of a sorting: groups with titles, and the number that each is sorted by."""

    groups: tuple[Group, ...]
    badges: Mapping[Head, str] = field(default_factory=dict)


def survey(trace: Trace, look: Look) -> Survey:
    """Look at all heads of a trace: pictures by this look, numbers by the weights between all tokens or words."""
    whole = Look(words=look.words)
    units = whole.units(trace.tokens)
    pictures: list[Float[Array, "H U U"]] = []
    summaries: list[HeadSummary] = []
    for index, layer in enumerate(trace.layers):
        weights = whole.weights(layer, trace.tokens)
        # Merged words have no additive mask of their own; a hidden cell has a weight of 0 all the same.
        summaries += summarise_weights(weights, units, None if look.words else layer.mask, index)
        pictures.append(weights if look == whole else look.weights(layer, trace.tokens))
    return Survey(Tiles.of(pictures), tuple(summaries))


def head_matrix(scene: Scene, look: Look, head: int) -> Matrix:
    """Return the weights of one head of the scene's layer as a matrix to draw."""
    units = look.units(scene.tokens)
    labels = tuple(unit.text for unit in units)
    return Matrix(
        name="weights",
        title=f"Weights of head {head + 1}",
        values=look.weights(scene.attention, scene.tokens)[head],
        row_labels=labels,
        column_labels=labels,
        row_axis="queries (who asks)",
        column_axis="keys (who is asked)",
        palette="weights",
        alt=f"The weights of layer {scene.layer + 1}, head {head + 1}: {len(labels)} queries by {len(labels)} keys.",
        row_role="query",
        column_role="key",
        focus_row=max(row for row, unit in enumerate(units) if unit.position <= scene.word),
    )


def layer_lines(scene: Scene, look: Look, head: int, *, is_mean: bool) -> HeadView:
    """Return the heads of the scene's layer as lines, one of them on at first; or the mean of all."""
    weights = look.weights(scene.attention, scene.tokens)
    labels = tuple(unit.text for unit in look.units(scene.tokens))
    if is_mean:
        heads: tuple[HeadLines, ...] = (HeadLines(f"mean of {len(weights)} heads", weights.mean(axis=0)),)
        shown = 0
    elif len(weights) > MAX_HEADS:
        heads, shown = (HeadLines(f"Head {head + 1}", weights[head]),), 0
    else:
        heads = tuple(HeadLines(f"Head {i + 1}", one, i) for i, one in enumerate(weights))
        shown = head
    return HeadView(
        title=f"Layer {scene.layer + 1}: who looks at whom",
        row_labels=labels,
        column_labels=labels,
        heads=heads,
        alt=f"Lines between {len(labels)} tokens or words, as thick as layer {scene.layer + 1} has weights.",
        shown=(shown,),
    )


def place(summary: HeadSummary) -> Head:
    """Return where a head is."""
    return summary.layer, summary.head


def order(sorting: Sorting, surveyed: Survey, trace: Trace, look: Look, current: Head) -> Order:
    """Return the heads in an order; only by similarity does it depend on the current head."""
    if sorting == "entropy":
        return _by_entropy(surveyed)
    if sorting == "pattern":
        return _by_pattern(surveyed)
    if sorting == "similarity":
        return _by_similarity(trace, Look(words=look.words), current)
    return Order(by_layer(surveyed.tiles))


def _by_entropy(surveyed: Survey) -> Order:
    sharpest_first = sorted(surveyed.summaries, key=lambda summary: summary.entropy)
    title = "From the sharpest to the broadest (entropy in nats)"
    badges = {place(summary): number(summary.entropy) for summary in sharpest_first}
    return Order(((title, [place(summary) for summary in sharpest_first]),), badges)


def _by_pattern(surveyed: Survey) -> Order:
    groups: list[Group] = []
    badges: dict[Head, str] = {}
    for name in PATTERN_NAMES:
        alike = [summary for summary in surveyed.summaries if summary.pattern.label == name]
        alike.sort(key=lambda summary: -summary.pattern.as_dict()[name])
        if alike:
            groups.append((name.capitalize(), [place(summary) for summary in alike]))
            badges |= {place(summary): number(summary.pattern.as_dict()[name]) for summary in alike}
    return Order(tuple(groups), badges)


def _by_similarity(trace: Trace, look: Look, current: Head) -> Order:
    counted = np.array([not unit.is_padding for unit in look.units(trace.tokens)])
    wanted = look.weights(trace.layers[current[0]], trace.tokens)[current[1]]
    distances = {
        (layer, head): head_distance(wanted, weights, counted)
        for layer, record in enumerate(trace.layers)
        for head, weights in enumerate(look.weights(record, trace.tokens))
    }
    title = f"From the most to the least like layer {current[0] + 1}, head {current[1] + 1} (Jensen–Shannon distance)"
    badges = {head: number(distance) for head, distance in distances.items()}
    return Order(((title, sorted(distances, key=distances.__getitem__)),), badges)
