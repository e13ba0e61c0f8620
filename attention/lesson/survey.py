"""All heads of a model on one text: thumbnails, descriptions and sort orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.reading import TEXT, Reading
from attention.core.trace import LayerTrace, Token, Trace
from attention.core.words import Word, hide_tokens, is_punctuation, merge_hidden, merge_words, special_names, words_of
from attention.figures.atlas import Group, Head, Tiles, by_layer
from attention.figures.format import number
from attention.figures.head_view import MAX_HEADS, HeadLines, HeadView, Side
from attention.figures.heatmaps import atlas_heatmap
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.head_words import Gaze, gazes, in_words, tell_groups
from attention.lesson.matrices import between
from attention.lesson.prose import listed
from attention.measures.cross import CrossSummary, summarise_cross
from attention.measures.five_patterns import PATTERN_MEANINGS, PATTERN_NAMES, PatternName
from attention.measures.likeness import head_distance
from attention.measures.segments import SENTENCES, Block, block_shares, groups, is_pair, span
from attention.measures.summaries import HeadSummary, summarise_weights

Sorting = Literal["layer", "entropy", "pattern", "similarity", "across"]
SORT_NAMES: tuple[Sorting, ...] = get_args(Sorting)
Hidden = Literal["nothing", "special", "punctuation"]
HIDE_NAMES: tuple[Hidden, ...] = get_args(Hidden)

# Patterns as the table of heads lists them: where a head looks tells more than that it looks at one token.
_CLEAREST: tuple[PatternName, ...] = ("diagonal", "vertical + diagonal", "block", "vertical", "heterogeneous")


@dataclass(frozen=True, slots=True)
class Look:
    """How weights are shown: between tokens or words, which of them are hidden, and whether rows are renormalised.

    ``hide`` is "nothing", "special" ([CLS], [SEP] and padding), or "punctuation" (those, and punctuation marks).
    """

    words: bool = False
    hide: Hidden = "nothing"
    renormalise: bool = False

    def units(self, tokens: Sequence[Token]) -> Sequence[Token | Word]:
        """Return the tokens or words of rows and columns."""
        return words_of(tokens) if self.words else tokens

    def weights(self, layer: LayerTrace, trace: Trace) -> Float[Array, "H U V"]:
        """Return the weights of all heads of a layer, with this look applied."""
        weights = layer.steps().weights
        if self.words:
            weights, _ = merge_words(weights, trace.tokens, trace.key_tokens)
        if self.hide == "nothing":
            return weights
        return hide_tokens(weights, self.kept(trace.tokens), self.renormalise, self.kept(trace.key_tokens))

    def hidden(self, layer: LayerTrace, trace: Trace, head: int) -> Bool[Array, "U V"]:
        """Return which cells of a head the mask hides; between merged words, those whose pieces are all hidden."""
        hidden = layer.hidden(head)
        return merge_hidden(hidden, trace.tokens, trace.key_tokens) if self.words else hidden

    def pictured(self, layer: LayerTrace, trace: Trace, weights: Float[Array, "H U V"]) -> Float[Array, "H U V"]:
        """Return weights with this look applied, and ``-inf`` for cells that the mask hides."""
        if layer.mask is None:
            return weights
        return np.where(self._hidden(layer, trace), np.float32(-np.inf), weights)

    def hidden_everywhere(self, layer: LayerTrace, trace: Trace) -> Bool[Array, "U V"]:
        """Return which cells the mask hides in every head of a layer."""
        return np.logical_and.reduce(self._hidden(layer, trace))

    def _hidden(self, layer: LayerTrace, trace: Trace) -> Bool[Array, "*H U V"]:
        """Return which cells the mask hides, without the head axis if all heads share the mask."""
        is_one = layer.mask is None or layer.mask.ndim < 3 or len(layer.mask) == 1
        return np.stack([self.hidden(layer, trace, head) for head in range(1 if is_one else len(layer.queries))])

    def kept(self, tokens: Sequence[Token]) -> Bool[Array, " U"]:
        """Mark the tokens or words that are not hidden."""
        return np.array([not self._hides(unit) for unit in self.units(tokens)])

    def _hides(self, unit: Token | Word) -> bool:
        if self.hide == "nothing":
            return False
        return unit.is_special or (self.hide == "punctuation" and is_punctuation(unit))


@dataclass(frozen=True, slots=True)
class Lines:
    """The user's settings in the head view; None is the default.

    ``heads`` are the heads shown, counted from 0; ``threshold`` is the smallest weight that has a line, one of
    ``THRESHOLDS``; ``pinned`` is a column and the positions of tokens (or words) in it; ``mean`` shows the mean of the
    layer's heads.
    """

    heads: tuple[int, ...] | None = None
    threshold: float | None = None
    pinned: tuple[Side, tuple[int, ...]] | None = None
    mean: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """All heads at a glance: thumbnails, and measures from all tokens, with nothing hidden.

    For two sentences, ``shares`` is the weight within and between them for each head, special tokens included, and
    ``word_shares`` the same between words only (see ``block_shares``). ``special`` are the names of the special tokens.
    ``gazes`` are empty for cross-attention.
    """

    tiles: Tiles
    summaries: tuple[HeadSummary | CrossSummary, ...]
    shares: Float[Array, "N 2 2"] | None = None
    word_shares: Float[Array, "N 2 2"] | None = None
    special: tuple[str, ...] = ()
    gazes: tuple[Gaze, ...] = ()

    def in_words(self, head: Head, reading: Reading = TEXT) -> str:
        """Return one head's behaviour in a few plain words."""
        index = self.index(head)
        return in_words(self.summaries[index], self.gazes[index] if self.gazes else None, reading, self.special)

    def in_groups(self, reading: Reading = TEXT) -> str:
        """Return how many heads do what; empty for cross-attention."""
        alike = [each for each in self.summaries if isinstance(each, HeadSummary)]
        return tell_groups(alike, self.gazes, reading, self.special) if alike else ""

    def by_clarity(self) -> list[int]:
        """Return the indices of the heads: those that find a pronoun's noun, then by pattern, irregular ones last."""

        def rank(index: int) -> int:
            summary = self.summaries[index]
            if isinstance(summary, CrossSummary) or (self.gazes and self.gazes[index].pronoun_pair is not None):
                return -1
            return _CLEAREST.index(summary.pattern.label)

        return sorted(range(len(self.summaries)), key=rank)

    def summary(self, head: Head) -> HeadSummary | CrossSummary:
        """Return one head's measures."""
        return self.summaries[self.index(head)]

    def index(self, head: Head) -> int:
        """Return the index of a head among the summaries.

        Raises:
            ValueError: there is no such head.
        """
        return [place(summary) for summary in self.summaries].index(head)


@dataclass(frozen=True, slots=True)
class Order:
    """The heads in the chosen order: titled groups, and each head's sort key."""

    groups: tuple[Group, ...]
    badges: Mapping[Head, str] = field(default_factory=dict)


def survey(trace: Trace, look: Look) -> Survey:
    """Survey all heads of a trace; the look applies to the thumbnails, while measures use all tokens or words."""
    if trace.memory is not None:
        return _cross_survey(trace, look)
    whole = Look(words=look.words)
    units = whole.units(trace.tokens)
    summaries: list[HeadSummary] = []
    seen: list[Gaze] = []
    shares: list[tuple[Float[Array, "H 2 2"], Float[Array, "H 2 2"]]] = []

    def summarised() -> Iterator[Float[Array, "H U U"]]:
        """Yield each layer's weights before the next layer's are derived: a long text's are large."""
        for index, layer in enumerate(trace.layers):
            if not layer.has_attention:
                yield np.zeros((0, len(units), len(whole.units(trace.key_tokens))), np.float32)
                continue
            weights = whole.weights(layer, trace)
            # Merged words have no additive mask, but a hidden cell's weight is 0 anyway.
            summaries.extend(summarise_weights(weights, units, None if look.words else layer.mask, index))
            seen.extend(gazes(weights, units, trace.tokens))
            if is_pair(units):
                shares.append((block_shares(weights, units), block_shares(weights, units, special=False)))
            yield look.pictured(layer, trace, weights if look == whole else look.weights(layer, trace))

    tiles = Tiles.of(summarised())
    special = special_names(trace.tokens)
    if not shares:
        return Survey(tiles, tuple(summaries), special=special, gazes=tuple(seen))
    with_special, of_words = map(np.concatenate, zip(*shares, strict=True))
    return Survey(tiles, tuple(summaries), with_special, of_words, special, tuple(seen))


def _cross_survey(trace: Trace, look: Look) -> Survey:
    whole = Look(words=look.words)
    units, key_units = whole.units(trace.tokens), whole.units(trace.key_tokens)
    summaries: list[CrossSummary] = []
    for index, layer in enumerate(trace.layers):
        mask = None if look.words else layer.mask
        summaries += summarise_cross(whole.weights(layer, trace), units, key_units, mask, index)
    pictures = (look.pictured(layer, trace, look.weights(layer, trace)) for layer in trace.layers)
    return Survey(Tiles.of(pictures), tuple(summaries), special=special_names(trace.key_tokens))


def head_matrix(scene: HeadContext, look: Look, head: int) -> Matrix:
    """Return the weights of one head of the scene's layer as a matrix."""
    units, key_units = look.units(scene.tokens), look.units(scene.key_tokens)
    labels, key_labels = (tuple(unit.text for unit in side) for side in (units, key_units))
    place = message("layer {layer}, head {head}", layer=scene.layer + 1, head=head + 1)
    alt = message(
        "Weights of {place}: {n_labels} queries by {n_key_labels} keys.",
        place=place,
        n_labels=len(labels),
        n_key_labels=len(key_labels),
    )
    return between(
        "weights",
        message("Weights of head {head}", head=head + 1),
        _shown(look, look.weights(scene.attention, scene.trace)[head], scene.trace),
        labels,
        alt,
        key_labels=key_labels,
        blank=message("hidden"),
        hidden=look.hidden(scene.attention, scene.trace, head),
        focus_row=max(row for row, unit in enumerate(units) if unit.position <= scene.word),
        row_groups=groups(units),
        column_groups=groups(key_units),
    )


def heads_heatmap(scene: HeadContext, look: Look, title: str) -> go.Figure:
    """Return the weights of all heads of all layers as one Plotly heatmap."""
    trace = scene.trace
    return atlas_heatmap(
        [_shown(look, look.weights(layer, trace), trace) for layer in trace.attended.values()],
        [unit.text for unit in look.units(scene.tokens)],
        [unit.text for unit in look.units(scene.key_tokens)],
        title,
        layer_numbers=list(trace.attended),
        head_numbers=range(trace.info.n_heads),
    )


def _shown(look: Look, weights: Float[Array, "*H U V"], trace: Trace) -> Float[Array, "*H U V"]:
    """Return the weights with NaN for hidden tokens, since those weights are not 0."""
    return np.where(look.kept(trace.tokens)[:, None] & look.kept(trace.key_tokens), weights, np.float32(np.nan))


def layer_lines(scene: HeadContext, look: Look, head: int, lines: Lines = Lines(), block: Block = "all") -> HeadView:
    """Return the heads of the scene's layer as lines: one head unless ``lines`` says otherwise, or their mean.

    For two sentences, ``block`` keeps only the lines from one given sentence to another; rows then no longer sum to 1.
    """
    weights = look.weights(scene.attention, scene.trace)
    units, key_units = look.units(scene.tokens), look.units(scene.key_tokens)
    (row, row_end), (column, column_end) = _block_spans(units, key_units, block)
    weights = weights[:, row:row_end, column:column_end]
    hidden = look.hidden_everywhere(scene.attention, scene.trace)[row:row_end, column:column_end]
    labels, key_labels = (tuple(unit.text for unit in side) for side in (units, key_units))
    starts = [start for _, start in groups(units)]
    shown: tuple[int, ...] = (0,)
    if lines.mean:
        heads: tuple[HeadLines, ...] = (
            HeadLines(messages("mean of {n} head", "mean of {n} heads", len(weights)), weights.mean(axis=0)),
        )
    elif len(weights) > MAX_HEADS:
        heads = (HeadLines(message("Head {head}", head=head + 1), weights[head]),)
    else:
        heads = tuple(HeadLines(message("Head {head}", head=i + 1), one, i) for i, one in enumerate(weights))
        shown = (head,) if lines.heads is None else lines.heads
    return HeadView(
        title=message("Layer {layer}: attention as lines", layer=scene.layer + 1),
        row_labels=labels[row:row_end],
        column_labels=key_labels[column:column_end],
        heads=heads,
        alt=message(
            "Lines between {n_labels} tokens or words; thickness shows the weights of layer {layer}.",
            n_labels=len(labels),
            layer=scene.layer + 1,
        ),
        row_breaks=tuple(start - row for start in starts if row < start < row_end),
        column_breaks=tuple(start - column for start in starts if column < start < column_end),
        row_start=row,
        column_start=column,
        shown=shown,
        threshold=lines.threshold,
        pinned=_pins_from(lines, row, column),
        hidden=hidden if hidden.any() else None,
    )


def _pins_from(lines: Lines, row: int, column: int) -> tuple[Side, tuple[int, ...]]:
    """Return the pins counted from the first row or column that is drawn."""
    if lines.pinned is None:
        return "query", ()
    side, positions = lines.pinned
    start = row if side == "query" else column
    return side, tuple(position - start for position in positions)


def _block_spans(
    units: Sequence[Token | Word], key_units: Sequence[Token | Word], block: Block
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the rows and columns of a block; all of them if there is only one sentence."""
    if block == "all" or not is_pair(units):
        return (0, len(units)), (0, len(key_units))
    return span(units, block[0]), span(units, block[1])


def place(summary: HeadSummary | CrossSummary) -> Head:
    """Return a head's layer and number."""
    return summary.layer, summary.head


def order(sorting: Sorting, surveyed: Survey, trace: Trace, look: Look, current: Head) -> Order:
    """Return the heads in an order; only the order by similarity depends on the current head."""
    if sorting == "entropy":
        return _by_entropy(surveyed)
    if sorting == "pattern" and trace.use.has_patterns:
        return _by_pattern(surveyed)
    if sorting == "similarity":
        return _by_similarity(trace, Look(words=look.words), current)
    if sorting == "across" and surveyed.shares is not None:
        return _by_share(surveyed, surveyed.shares)
    return Order(by_layer(surveyed.tiles, trace.info.layer_kinds))


def _by_entropy(surveyed: Survey) -> Order:
    sharpest_first = sorted(surveyed.summaries, key=lambda summary: summary.entropy)
    title = message("From focused to spread (entropy, nats)")
    badges = {place(summary): number(summary.entropy) for summary in sharpest_first}
    return Order(((title, [place(summary) for summary in sharpest_first]),), badges)


def _by_pattern(surveyed: Survey) -> Order:
    groups: list[Group] = []
    badges: dict[Head, str] = {}
    for name in PATTERN_NAMES:
        # Cross-attention has no patterns.
        alike = [s for s in surveyed.summaries if isinstance(s, HeadSummary) and s.pattern.label == name]
        alike.sort(key=lambda summary: -summary.pattern.as_dict()[name])
        if alike:
            groups.append((PATTERN_MEANINGS[name], [place(summary) for summary in alike]))
            badges |= {place(summary): number(summary.pattern.as_dict()[name]) for summary in alike}
    return Order(tuple(groups), badges)


def _by_share(surveyed: Survey, shares: Float[Array, "N 2 2"]) -> Order:
    first, second = SENTENCES
    across = dict(zip(map(place, surveyed.summaries), shares[:, 0, 1].tolist(), strict=True))
    title = message("By weight from {first} to {second}, largest first", first=first, second=second)
    if surveyed.special:
        title = message("{title} (with {special})", title=title, special=listed(surveyed.special))
    heads = sorted(across, key=lambda head: -across[head])
    return Order(((title, heads),), {head: number(share) for head, share in across.items()})


def _by_similarity(trace: Trace, look: Look, current: Head) -> Order:
    counted = np.array([not unit.is_padding for unit in look.units(trace.tokens)])
    wanted = look.weights(trace.layers[current[0]], trace)[current[1]]
    distances = {
        (layer, head): head_distance(wanted, weights, counted)
        for layer, record in trace.attended.items()
        for head, weights in enumerate(look.weights(record, trace))
    }
    title = message(
        "By similarity to layer {layer}, head {head} (Jensen–Shannon distance)",
        layer=current[0] + 1,
        head=current[1] + 1,
    )
    badges = {head: number(distance) for head, distance in distances.items()}
    return Order(((title, sorted(distances, key=distances.__getitem__)),), badges)
