r"""What every head of a model does on average over many sentences.

Whole batches of equally long texts are measured with ``attention.measures``, on the weights from
``attention.core.steps``. Only sums are kept, so memory does not grow with the number of sentences. Axes: ``L`` layers,
``B`` texts of a batch, ``H`` heads, ``T`` tokens, ``P`` positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from attention.core.trace import Difference, LayerTrace, ModelInfo, Token
from attention.core.words import special_names
from attention.measures.five_patterns import PATTERN_NAMES, PatternName, pattern_indices
from attention.measures.marks import Marks
from attention.measures.rows import Rows, sum_rows
from attention.measures.summaries import MEASURES, PATTERN_MEASURES, HeadSummary, measure
from attention.models.base import Batch, Encoded, Model

# The most positions in a head's mean matrix, as many as have room for numbers ...
MAX_POSITIONS = 24
# ... and only those that at least this share of the sentences has: a mean over a few long ones says little.
MIN_SHARE = 0.1

# Texts tokenised at a time, so that equally long ones can be grouped and memory is bounded.
WINDOW = 512
# Tokens run at a time: a batch takes about a tenth of a second, so that other users get their turn.
MAX_BATCH_TOKENS = 512
MAX_BATCH_TEXTS = 32
# Weights measured at a time. With fewer, the overhead of NumPy calls dominates (an eighth takes a third longer in all);
# more take more memory and are no faster.
CHUNK = 2**19


class Collector(Protocol):
    """Receives the batches of a run."""

    def add(self, batch: Batch) -> None:
        """Process one batch."""


class Run:
    """A model's pass over texts, batch by batch; it can pause between batches for any length of time.

    Batches hold equally long texts and are shuffled within a window, so that the first half is not the shorter texts.
    The model reads the next batch while the collector processes the last.
    """

    def __init__(self, model: Model, texts: Sequence[str], collector: Collector) -> None:
        self.collector = collector
        self.n_texts = len(texts)
        self.n_done = 0
        self.n_unreadable = 0
        self.n_cut = 0
        self._model = model
        self._batches = self._make_batches(texts)
        # A batch read ahead, and texts to read again after a pause.
        self._read: Batch | None = None
        self._left: Sequence[Encoded] | None = None
        # One thread for the whole run: starting one for each batch adds up to a tenth to its time.
        self._other = ThreadPoolExecutor(1)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to run."""
        return self.n_done + self.n_unreadable == self.n_texts

    def step(self) -> None:
        """Pass the next batch, if any, to the collector."""
        batch, self._read = self._read or self._read_next(), None
        if batch is None:
            return
        texts = batch.texts
        taken = self._other.submit(self.collector.add, batch)
        # Only the collector refers to it now, so that its memory is free for the next batch early.
        del batch
        try:
            self._read = self._read_next()
        finally:
            taken.result()
            self.n_done += len(texts)
            self.n_cut += sum(text.cut is not None for text in texts)

    def rest(self) -> None:
        """Release large objects until the next step."""
        if self._read is not None:
            self._left, self._read = self._read.texts, None

    def _read_next(self) -> Batch | None:
        texts, self._left = self._left or next(self._batches, None), None
        return None if texts is None else self._model.trace_batch(texts)

    def _make_batches(self, texts: Sequence[str]) -> Iterator[list[Encoded]]:
        for start in range(0, len(texts), WINDOW):
            encoded = sorted(self._encode(texts[start : start + WINDOW]), key=_length)
            batches = [batch for n_tokens, alike in groupby(encoded, _length) for batch in _cut(list(alike), n_tokens)]
            # A fixed seed, so that the same texts give the same numbers.
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


@dataclass(frozen=True, slots=True)
class AlignedMean:
    """Every head's mean weights, with the sentences aligned at their first or at their last tokens.

    ``weights[l, h, i, j]`` is the mean over the ``counts[i, j]`` sentences that have both positions. A position is
    named if all sentences have the same token there.
    """

    weights: Float[Array, "L H P P"]
    counts: Int[Array, "P P"]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What every head does on average.

    Summaries are means over all sentences, but ``same_word`` only over the ``n_repeating`` sentences that repeat a
    word. ``pattern_counts`` are the numbers of sentences in which a head has each of ``PATTERN_NAMES``; ``special`` are
    the special tokens that occurred.
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
        """Return one measure for all heads."""
        values = np.array([getattr(summary, name) for summary in self.summaries])
        return values.reshape(self.info.n_layers, self.info.n_heads)

    def commonest_pattern(self, layer: int, head: int) -> tuple[PatternName, int]:
        """Return a head's most common pattern and the number of sentences with it."""
        counts = self.pattern_counts[layer, head]
        return PATTERN_NAMES[int(counts.argmax())], int(counts.max())


class Study:
    """Accumulates the measures of all heads; a result can be computed after any batch."""

    def __init__(self, info: ModelInfo) -> None:
        self._info = info
        heads = (info.n_layers, info.n_heads)
        self._sums = np.zeros((len(MEASURES), *heads))
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
        marks = Marks.of([text.tokens for text in batch.texts])
        n_texts, n_tokens = marks.special.shape
        self._lengths[n_tokens] += n_texts
        self._n_repeating += int(marks.same_word.any(axis=(1, 2)).sum())
        self._special |= dict.fromkeys(special_names(token for text in batch.texts for token in text.tokens))
        self._first_names |= {_name(text.tokens[0]) for text in batch.texts}
        self._last_names |= {_name(text.tokens[-1]) for text in batch.texts}
        per_layer = n_texts * self._info.n_heads * n_tokens**2
        step = max(1, CHUNK // per_layer)
        for start in range(0, self._info.n_layers, step):
            layers = slice(start, min(start + step, self._info.n_layers))
            self._add_layers(layers, self._rows(batch.layers[layers]), marks)

    def _rows(self, layers: Sequence[LayerTrace]) -> Rows:
        """Derive the weights of some layers and compare the outputs with the model's own."""
        derived = []
        for layer in layers:
            steps = layer.steps()
            self._difference = self._difference.worst(Difference.between(steps.head_outputs, layer.model_output))
            derived.append(steps.weights)
        weights = np.stack(derived)
        n_tokens = weights.shape[-2]
        # A sink comes after the tokens.
        rows = Rows.of(weights[..., :n_tokens], _masks(layers)[..., :n_tokens])
        # NumPy's maximum propagates NaN; Python's may drop it and hide a failed check.
        self._largest_row_error = float(np.maximum(self._largest_row_error, np.abs(sum_rows(weights) - 1).max()))
        return rows

    def _add_layers(self, layers: slice, rows: Rows, marks: Marks) -> None:
        measured = measure(rows, marks)
        self._sums[:, layers] += np.stack([measured[name] for name in MEASURES]).sum(axis=2)
        labels = pattern_indices(*(measured[name] for name in PATTERN_MEASURES[:-1]))
        self._pattern_counts[layers] += (labels[..., None] == np.arange(len(PATTERN_NAMES))).sum(axis=1)
        weights = rows.weights.sum(axis=1)
        n = min(weights.shape[-1], MAX_POSITIONS)
        self._from_start[layers, :, :n, :n] += weights[..., :n, :n]
        self._from_end[layers, :, -n:, -n:] += weights[..., -n:, -n:]

    def result(self) -> StudyResult | None:
        """Return the means over all sentences so far; None before the first."""
        n = self._lengths.total()
        if not n:
            return None
        means = {
            name: sums / (max(self._n_repeating, 1) if name == "same_word" else n)
            for name, sums in zip(MEASURES, self._sums, strict=True)
        }
        return StudyResult(
            info=self._info,
            n_sentences=n,
            n_tokens=sum(length * count for length, count in self._lengths.items()),
            n_repeating=self._n_repeating,
            summaries=tuple(self._summary(means, *at) for at in np.ndindex(self._pattern_counts.shape[:2])),
            pattern_counts=self._pattern_counts.copy(),
            from_start=self._aligned(self._from_start, slice(None), self._first_names, 0),
            from_end=self._aligned(self._from_end[..., ::-1, ::-1], slice(None, None, -1), self._last_names, -1),
            difference=self._difference,
            largest_row_error=self._largest_row_error,
            special=tuple(self._special),
        )

    @staticmethod
    def _summary(means: Mapping[str, Float[Array, "L H"]], layer: int, head: int) -> HeadSummary:
        return HeadSummary.of(layer, head, {name: float(mean[layer, head]) for name, mean in means.items()})

    def _aligned(self, sums: Array, order: slice, names: set[str], named: int) -> AlignedMean:
        """Turn sums, aligned at the position all sentences share, into means in reading order."""
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
    """Return the name of a special token, else empty: other words may coincide by chance."""
    return token.text if token.is_special else ""


def _masks(layers: Sequence[LayerTrace]) -> Float[Array, "L *1 *1 T T"]:
    """Return the layers' masks, broadcast only as far as they differ."""
    n_tokens = layers[0].queries.shape[-2]
    unmasked = np.zeros((1, 1, n_tokens, n_tokens))
    masks = (unmasked if layer.mask is None else layer.mask for layer in layers)
    return np.stack(np.broadcast_arrays(*(mask[(None,) * (4 - mask.ndim)] for mask in masks)))
