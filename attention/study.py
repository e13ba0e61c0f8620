r"""What every head of a model does over many sentences: the means of what it does on each.

``attention.patterns`` looks at one text; here whole batches of texts are measured at once, and only sums are
kept, so that memory does not grow with the number of sentences. The weights are those that ``attention.steps``
derives. Axis letters: ``L`` layers, ``B`` texts of one batch, ``H`` heads, ``T`` tokens, ``P`` positions.
Nothing is masked here but what a decoder hides by itself, and no text is padded: the texts of a batch are equally
long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

from attention.models.base import Batch, Encoded, Model
from attention.patterns import (
    CLASSIFIERS,
    EVEN,
    MIXED,
    PATTERN_NAMES,
    SEPARATORS,
    HeadSummary,
    PatternName,
    PatternScores,
    by_offset,
    lift,
    pattern_indices,
)
from attention.trace import Difference, ModelInfo, Token
from attention.words import folded, is_punctuation, special_names

__all__ = ["MAX_POSITIONS", "AlignedMean", "Collector", "Run", "Study", "StudyResult"]

# The averaged picture of a head has at most so many positions: as many as have room for their numbers.
MAX_POSITIONS = 24
# ... and only those that at least this part of the sentences has: a mean over a few long ones says little.
MIN_SHARE = 0.1

# So many texts are cut into tokens at a time, so that texts of one length meet and memory stays flat ...
WINDOW = 512
# ... and so many tokens are run at a time: a batch takes about a tenth of a second, and others get their turn.
MAX_BATCH_TOKENS = 512
MAX_BATCH_TEXTS = 32
# So many weights are measured at a time: what the processor's cache holds.
CHUNK = 2**18


class Collector(Protocol):
    """What takes the batches of a run and makes something of them."""

    def add(self, batch: Batch) -> None:
        """Take one batch."""


class Run:
    """A model that goes through texts batch by batch; between two batches it can stay where it is for ever.

    Texts of equal length are run together, those of one window in a mixed order, so that the first half of
    the batches is not the shorter half of the texts.
    """

    def __init__(self, model: Model, texts: Sequence[str], collector: Collector) -> None:
        """Prepare; nothing is run yet."""
        self.collector = collector
        self.n_texts = len(texts)
        self.n_done = 0
        self.n_unreadable = 0
        self.n_cut = 0
        self._model = model
        self._batches = self._make_batches(texts)

    @property
    def is_finished(self) -> bool:
        """Tell whether there is nothing left to run."""
        return self.n_done + self.n_unreadable == self.n_texts

    def step(self) -> None:
        """Run the next batch, if there is one, and give it to the collector."""
        texts = next(self._batches, None)
        if texts is not None:
            self.collector.add(self._model.trace_batch(texts))
            self.n_done += len(texts)
            self.n_cut += sum(text.cut is not None for text in texts)

    def _make_batches(self, texts: Sequence[str]) -> Iterator[list[Encoded]]:
        for start in range(0, len(texts), WINDOW):
            encoded = sorted(self._encode(texts[start : start + WINDOW]), key=_length)
            batches = [batch for n_tokens, alike in groupby(encoded, _length) for batch in _cut(list(alike), n_tokens)]
            # Always the same order, so that the same texts give the same numbers.
            np.random.default_rng(0).shuffle(batches)
            yield from batches

    def _encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        for text in texts:
            try:
                yield self._model.encode(text)
            except ValueError:
                self.n_unreadable += 1


def _length(text: Encoded) -> int:
    return len(text.tokens)


def _cut(texts: list[Encoded], n_tokens: int) -> Iterator[list[Encoded]]:
    size = min(MAX_BATCH_TEXTS, max(1, MAX_BATCH_TOKENS // n_tokens))
    return (texts[start : start + size] for start in range(0, len(texts), size))


# ------------------------------------------------------------------------------------- the measures

# The measures that are means over a sentence, in the words of HeadSummary.
_MEASURES = (
    "entropy",
    "normalised_entropy",
    "mean_distance",
    "mean_offset",
    "previous",
    "itself",
    "next",
    "first",
    "classifier",
    "separator",
    "punctuation",
    "positional",
)
_PATTERNS = ("vertical", "diagonal", "vertical_and_diagonal", "block", "heterogeneous")


@dataclass(frozen=True, slots=True)
class AlignedMean:
    """The mean weights of every head, sentences laid on each other at their first or at their last token.

    ``weights[l, h, i, j]`` is the mean over those sentences that have both positions, ``counts[i, j]`` of them.
    A name is that of the token which all sentences have at a position; else it is empty.
    """

    weights: Float[Array, "L H P P"]
    counts: Int[Array, "P P"]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What every head did over so many sentences.

    Each number of a summary is the mean over the sentences of what ``patterns.summarise`` says of one; only
    ``same_word`` is taken over the ``n_repeating`` sentences in which a word comes twice. ``pattern_counts``
    says in how many sentences a head had which of ``PATTERN_NAMES``; ``special`` are the special tokens that came.
    """

    info: ModelInfo
    n_sentences: int
    n_tokens: int
    n_repeating: int
    summaries: tuple[HeadSummary, ...]
    pattern_counts: Int[Array, "L H 5"]
    from_start: AlignedMean
    from_end: AlignedMean
    difference: Difference
    largest_row_error: float
    special: tuple[str, ...] = ()

    def measure(self, name: str) -> Float[Array, "L H"]:
        """Return one measure of all heads."""
        values = np.array([getattr(summary, name) for summary in self.summaries])
        return values.reshape(self.info.n_layers, self.info.n_heads)

    def commonest_pattern(self, layer: int, head: int) -> tuple[PatternName, int]:
        """Return the pattern that a head has most often, and in how many sentences."""
        counts = self.pattern_counts[layer, head]
        return PATTERN_NAMES[int(counts.argmax())], int(counts.max())


class Study:
    """Adds up what the heads do, batch by batch; a result can be had after any of them."""

    def __init__(self, info: ModelInfo) -> None:
        """Begin with nothing."""
        self._info = info
        heads = (info.n_layers, info.n_heads)
        self._sums = {name: np.zeros(heads) for name in (*_MEASURES, *_PATTERNS, "same_word")}
        self._pattern_counts = np.zeros((*heads, len(PATTERN_NAMES)), np.int64)
        self._lengths: Counter[int] = Counter()
        self._n_repeating = 0
        self._from_start, self._from_end = (np.zeros((*heads, MAX_POSITIONS, MAX_POSITIONS)) for _ in range(2))
        self._first_names: set[str] = set()
        self._last_names: set[str] = set()
        self._difference, self._largest_row_error = Difference(), 0.0
        self._special: dict[str, None] = {}

    def add(self, batch: Batch) -> None:
        """Measure all heads on all texts of a batch."""
        marks = _Marks.of([text.tokens for text in batch.texts], self._info.is_decoder)
        n_texts, n_tokens = marks.special.shape
        self._lengths[n_tokens] += n_texts
        self._n_repeating += marks.n_repeating
        self._special |= dict.fromkeys(special_names(token for text in batch.texts for token in text.tokens))
        self._first_names |= {_name(text.tokens[0]) for text in batch.texts}
        self._last_names |= {_name(text.tokens[-1]) for text in batch.texts}
        per_layer = n_texts * self._info.n_heads * n_tokens**2
        step = max(1, CHUNK // per_layer)
        for start in range(0, self._info.n_layers, step):
            layers = slice(start, min(start + step, self._info.n_layers))
            self._add_layers(layers, self._weights(batch, layers), marks)

    def _weights(self, batch: Batch, layers: slice) -> Float[Array, "L B H T T"]:
        """Derive the weights of some layers, and compare what follows from them with the model's own output."""
        derived = []
        for layer in batch.layers[layers]:
            steps = layer.steps()
            self._difference = self._difference.worst(Difference.between(steps.head_outputs, layer.model_output))
            derived.append(steps.weights)
        n_tokens = derived[0].shape[-1]
        return np.stack(derived).reshape(-1, len(batch.texts), self._info.n_heads, n_tokens, n_tokens)

    def _add_layers(self, layers: slice, weights: Float[Array, "L B H T T"], marks: _Marks) -> None:
        row_error = np.abs(np.einsum("...qk->...q", weights) - 1).max()
        # NumPy's maximum, since Python's passes over NaN, and the proof must not.
        self._largest_row_error = float(np.maximum(self._largest_row_error, row_error))
        measured = _measure(weights, marks)
        for name, values in measured.items():
            self._sums[name][layers] += values.sum(axis=1)
        self._sums["same_word"][layers] += marks.same_word(weights)
        labels = pattern_indices(*(measured[name] for name in _PATTERNS[:-1]))
        self._pattern_counts[layers] += (labels[..., None] == np.arange(len(PATTERN_NAMES))).sum(axis=1)
        n = min(weights.shape[-1], MAX_POSITIONS)
        self._from_start[layers, :, :n, :n] += weights[..., :n, :n].sum(axis=1)
        self._from_end[layers, :, -n:, -n:] += weights[..., -n:, -n:].sum(axis=1)

    def result(self) -> StudyResult | None:
        """Return the means over all sentences so far; None if there was none."""
        n = self._lengths.total()
        if not n:
            return None
        means = {name: sums / n for name, sums in self._sums.items()}
        means["same_word"] = self._sums["same_word"] / max(self._n_repeating, 1)
        return StudyResult(
            info=self._info,
            n_sentences=n,
            n_tokens=sum(length * count for length, count in self._lengths.items()),
            n_repeating=self._n_repeating,
            summaries=tuple(_summary(means, layer, head) for layer, head in np.ndindex(means["entropy"].shape)),
            pattern_counts=self._pattern_counts.copy(),
            from_start=self._aligned(self._from_start, slice(None), self._first_names, 0),
            from_end=self._aligned(self._from_end[..., ::-1, ::-1], slice(None, None, -1), self._last_names, -1),
            difference=self._difference,
            largest_row_error=self._largest_row_error,
            special=tuple(self._special),
        )

    def _aligned(self, sums: Array, order: slice, names: set[str], named: int) -> AlignedMean:
        """Divide sums, whose first position is the one that all sentences share, and put them in reading order."""
        n_having = np.array(
            [sum(n for length, n in self._lengths.items() if length > i) for i in range(MAX_POSITIONS)], np.int64
        )
        shown = int((n_having >= max(1, MIN_SHARE * n_having[0])).sum())
        counts = np.minimum(n_having[:shown, None], n_having[:shown])[order, order]
        weights = sums[..., :shown, :shown][..., order, order] / counts
        labels = [""] * shown
        labels[named] = names.copy().pop() if len(names) == 1 else ""
        return AlignedMean(weights.astype(np.float32), counts, tuple(labels))


def _name(token: Token) -> str:
    """Return the name of a special token; other words may be alike by chance."""
    return token.text if token.is_special else ""


def _summary(means: dict[str, Float[Array, "L H"]], layer: int, head: int) -> HeadSummary:
    values = {name: float(mean[layer, head]) for name, mean in means.items()}
    pattern = PatternScores(*(values.pop(name) for name in _PATTERNS))
    return HeadSummary(layer=layer, head=head, pattern=pattern, **values)


@dataclass(frozen=True, slots=True)
class _Even:
    """Weights spread evenly over all that each token may see, as the shares of cells that a head is compared with.

    Of everything visible, ``columns`` is the share of each token looked at, ``near`` the part of it that comes from
    the token itself and its two neighbours.
    """

    n_visible: Int[Array, " T"]
    columns: Float[Array, " T"]
    near: Float[Array, " T"]

    @classmethod
    def over(cls, n_tokens: int, *, is_causal: bool) -> _Even:
        visible = np.ones((n_tokens, n_tokens))
        if is_causal:
            visible = np.tril(visible)
        n_visible = visible.sum(axis=-1)
        even = visible / n_visible[:, None]
        return cls(n_visible.astype(np.int64), even.sum(axis=0) / n_tokens, _near_columns(even) / n_tokens)


def _measure(weights: Float[Array, "L B H T T"], marks: _Marks) -> dict[str, Float[Array, "L B H"]]:
    """Measure every head on every text; see ``HeadSummary`` and ``PatternScores`` for what each number is.

    All that depends on the offset of two tokens follows from the weights added up by offset, and all that
    depends on the token looked at from those added up by column, so that few sums go over all weights.
    """
    n_tokens = weights.shape[-1]
    offsets = np.arange(1 - n_tokens, n_tokens)
    by_distance = by_offset(weights).astype(np.float64) / n_tokens  # (L, B, H, 2T-1), adding up to 1
    columns = np.einsum("...qk->...k", weights).astype(np.float64) / n_tokens  # (L, B, H, T), adding up to 1
    entropies = _entropies(weights)
    even = _Even.over(n_tokens, is_causal=marks.is_causal)
    zeros = np.zeros(weights.shape[:3])
    previous, itself, following = (
        by_distance[..., n_tokens - 1 + offset] if abs(offset) < n_tokens else zeros for offset in (-1, 0, 1)
    )
    return {
        "entropy": entropies.mean(axis=-1),
        "normalised_entropy": _normalised(entropies, even.n_visible) if n_tokens > 1 else zeros,
        "mean_distance": by_distance @ np.abs(offsets),
        "mean_offset": by_distance @ offsets,
        "previous": previous,
        "itself": itself,
        "next": following,
        "first": columns[..., 0],
        "classifier": _share(columns, marks.classifier),
        "separator": _share(columns, marks.separator),
        "punctuation": _share(columns, marks.punctuation),
        "positional": _positional(weights, by_distance * n_tokens, is_causal=marks.is_causal),
        **_pattern_scores(weights, columns, previous + itself + following, marks.special, even),
    }


def _entropies(weights: Float[Array, "L B H T T"]) -> Float[Array, "L B H T"]:
    """Return the entropy of every row: ``−Σ a ln a``, where ``0 ln 0 = 0``."""
    logarithms = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    per_row = np.einsum("...k,...k->...", weights, logarithms)
    return np.maximum(-per_row.astype(np.float64), 0)


def _normalised(entropies: Float[Array, "L B H T"], n_visible: Int[Array, " T"]) -> Float[Array, "L B H"]:
    """Return the mean entropy as a part of the most it could be, over the rows that have a choice."""
    has_choice = n_visible > 1
    return np.minimum(entropies[..., has_choice] / np.log(n_visible[has_choice]), 1).mean(axis=-1)


def _share(columns: Float[Array, "L B H T"], marked: Bool[Array, "B T"]) -> Float[Array, "L B H"]:
    return np.einsum("lbht,bt->lbh", columns, marked)


def _positional(weights: Array, sums: Float[Array, "L B H 2T-1"], *, is_causal: bool) -> Float[Array, "L B H"]:
    """Return how well the offset alone predicts the weights; see ``patterns.positional_score``."""
    n_tokens = weights.shape[-1]
    n_cells = n_tokens - np.abs(np.arange(1 - n_tokens, n_tokens))
    if is_causal:
        # What a decoder sees is at offsets up to 0.
        n_cells, sums = n_cells[:n_tokens], sums[..., :n_tokens]
    n, p = int(n_cells.sum()), n_cells.size
    correction = sums.sum(axis=-1) ** 2 / n
    squares = np.einsum("...qk,...qk->...", weights, weights).astype(np.float64)
    variation = squares - correction
    explained = (sums**2 / n_cells).sum(axis=-1) - correction
    can_tell = (variation > n * EVEN**2) & (n > p)
    unexplained = (variation - explained) / np.where(can_tell, variation, 1)
    adjusted = 1 - unexplained * (n - 1) / max(n - p, 1)
    return np.where(can_tell, np.clip(adjusted, 0, 1), 0)


def _pattern_scores(
    weights: Float[Array, "L B H T T"],
    columns: Float[Array, "L B H T"],
    near: Float[Array, "L B H"],
    special: Bool[Array, "B T"],
    even: _Even,
) -> dict[str, Float[Array, "L B H"]]:
    """Score the patterns of every head on every text; see ``patterns.PatternScores``.

    With one text there is no second segment: no block.
    """
    n_tokens = weights.shape[-1]
    even_elsewhere = even.columns - even.near
    elsewhere = columns - _near_columns(weights) / n_tokens
    even_near = even.near.sum()

    special_share, special_elsewhere = _share(columns, special)[..., None], _share(elsewhere, special)[..., None]
    even_special = (special @ even.columns)[:, None, None]
    even_special_elsewhere = (special @ even_elsewhere)[:, None, None]
    diagonal = lift(near, even_near)
    # First all special tokens together, then every token by itself.
    lifts = np.concatenate([lift(special_share, even_special), lift(columns, even.columns)], axis=-1)
    united = np.concatenate(
        [
            lift(near[..., None] + special_elsewhere, even_near + even_special_elsewhere),
            lift(near[..., None] + elsewhere, even_near + even_elsewhere),
        ],
        axis=-1,
    )
    chosen = lifts.argmax(axis=-1)[..., None]
    vertical, mixed = (np.take_along_axis(values, chosen, axis=-1)[..., 0] for values in (lifts, united))
    mixed = np.where(np.minimum(vertical, diagonal) >= MIXED, mixed, 0)
    return {
        "vertical": vertical,
        "diagonal": diagonal,
        "vertical_and_diagonal": mixed,
        "block": np.zeros_like(vertical),
        "heterogeneous": 1 - np.maximum(np.maximum(vertical, diagonal), mixed),
    }


def _near_columns(weights: Float[Array, "*H T T"]) -> Float[Array, "*H T"]:
    """Add up in each column the weights of the token itself and of its two neighbours."""
    near = weights.diagonal(axis1=-2, axis2=-1).astype(np.float64)
    if weights.shape[-1] > 1:
        near[..., :-1] += weights.diagonal(-1, axis1=-2, axis2=-1)
        near[..., 1:] += weights.diagonal(1, axis1=-2, axis2=-1)
    return near


@dataclass(frozen=True, slots=True)
class _Marks:
    """Which tokens of the texts of a batch are which, and where a word is the same as another of its text."""

    special: Bool[Array, "B T"]
    classifier: Bool[Array, "B T"]
    separator: Bool[Array, "B T"]
    punctuation: Bool[Array, "B T"]
    # For each pair of the same words: the text, the query, the key, and one over the number of such queries in it.
    pairs: Float[Array, "N 4"]
    n_repeating: int
    is_causal: bool

    @classmethod
    def of(cls, texts: Sequence[Sequence[Token]], is_causal: bool) -> _Marks:
        special = np.array([[token.is_special for token in text] for text in texts], bool)
        names = [[token.text for token in text] for text in texts]
        classifier, separator = (
            np.array([[name in known for name in text] for text in names], bool) & special
            for known in (CLASSIFIERS, SEPARATORS)
        )
        punctuation = np.array([[is_punctuation(token) for token in text] for text in texts], bool)
        found = [(text, *pair) for text, tokens in enumerate(texts) for pair in _same_words(tokens, is_causal)]
        pairs = np.array(found, np.float64).reshape(-1, 4)
        n_repeating = len({text for text, *_ in found})
        return cls(special, classifier, separator, punctuation, pairs, n_repeating, is_causal)

    def same_word(self, weights: Float[Array, "L B H T T"]) -> Float[Array, "L H"]:
        """Add up over the texts what rows that see the same word elsewhere give to it, in the mean."""
        texts, queries, keys = self.pairs[:, :3].T.astype(np.int64)
        found = weights[:, texts, :, queries, keys]  # (N, L, H): indices stand first
        return np.einsum("nlh,n->lh", found, self.pairs[:, 3])


def _same_words(tokens: Sequence[Token], is_causal: bool) -> list[tuple[int, int, float]]:
    """Return the pairs of a query and a key that are the same word, each with its part in the mean over queries.

    Where later tokens are hidden, a query is asked about those before it.
    """
    places: dict[str, list[int]] = {}
    for position, token in enumerate(tokens):
        if not token.is_special:
            places.setdefault(folded(token), []).append(position)
    pairs = [
        (query, key)
        for group in places.values()
        for query in group
        for key in group
        if key < query or (key > query and not is_causal)
    ]
    n_queries = len({query for query, _ in pairs})
    return [(query, key, 1 / n_queries) for query, key in pairs]
