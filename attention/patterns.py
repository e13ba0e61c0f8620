r"""What a head does, in numbers: how broadly it looks, how far, at what, and like which other head.

Everything here follows from weights that ``attention.steps`` derived. Axis letters as there: ``L`` layers,
``H`` heads, ``Q`` query positions, ``K`` key positions, ``T`` tokens, ``W`` words, ``N`` heads of all layers;
``*H`` stands for any axes in front, or none. Sums are taken in float64.

An average over rows counts the rows that look at anything (masked rows are 0 throughout) and that are not
padding. Special tokens' rows count, as they do in Clark et al. 2019, "What Does BERT Look At?".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

from attention.trace import LayerTrace, Token, Trace
from attention.words import Word, folded, is_punctuation

__all__ = [
    "ALL_RELATIONS",
    "BEHAVIOUR_RULES",
    "OFFSETS",
    "PATTERN_NAMES",
    "SPECIAL_MEASURES",
    "Behaviour",
    "BehaviourRule",
    "Cells",
    "CrossSummary",
    "HeadSummary",
    "OffsetScore",
    "Parse",
    "PatternName",
    "PatternScores",
    "RelationScore",
    "best_offset",
    "by_offset",
    "cells_of",
    "dependency_accuracy",
    "entropy",
    "head_distance",
    "head_distances",
    "lift",
    "mean_distance",
    "mean_offset",
    "normalised_entropy",
    "pattern_indices",
    "pattern_scores",
    "positional_score",
    "rollout",
    "share",
    "summarise",
    "summarise_cross",
    "summarise_weights",
    "trace_head_distances",
    "trace_rollout",
    "value_norms",
    "weighted_norms",
]

# ------------------------------------------------------------------------------------- thresholds
# From the code that Clark et al. 2019 published with their paper (General_Analysis.ipynb, figure 6).

NEIGHBOUR = 0.5  # previous and next token
SINK = 0.6  # [CLS] and [SEP]
# They call a head broad above 3.8 nats, with inputs of 128 tokens. No row of 44 tokens or fewer could pass that:
# we keep the proportion, 3.8 of the ln 128 = 4.85 that is the most there.
BROAD_NATS, CLARK_TOKENS = 3.8, 128
BROAD = BROAD_NATS / math.log(CLARK_TOKENS)  # 0.783

# Ours.
SAME_WORD = 0.5  # as for neighbours
POSITIONAL = 0.5  # more than half of the variance
DOMINANT = 0.5  # half of what is left above an even spread makes a pattern
MIXED = 0.2  # ... and this much of each, a mixed one
BLOCK = 0.3  # blocks hold less: special tokens and neighbours are not counted in

# Weights that differ by less than this (root mean square) are all one number, and offsets explain nothing.
EVEN = 1e-5

# The token that a sequence begins with and the one that parts and ends sequences, by model family.
CLASSIFIERS = frozenset({"[CLS]", "<s>"})
SEPARATORS = frozenset({"[SEP]", "</s>"})
# What HeadSummary calls the weight on them.
SPECIAL_MEASURES = {"classifier": CLASSIFIERS, "separator": SEPARATORS}

# -------------------------------------------------------------------------------- of rows and heads


def entropy(weights: Float[Array, "*H Q K"]) -> Float[Array, "*H Q"]:
    """Return how widely each row spreads its weight, in nats: ``−Σ a ln a``, where ``0 ln 0 = 0``.

    0 is all on one token, ``ln K`` is even over K tokens (Clark et al. 2019, section 3.3).
    """
    exact = weights.astype(np.float64)
    logarithms = np.log(np.where(exact > 0, exact, 1))
    return np.maximum(0 - np.einsum("...k,...k->...", exact, logarithms), 0)


def normalised_entropy(
    weights: Float[Array, "*H Q K"], mask: Float[Array, "*H_Q_K"] | None = None
) -> Float[Array, "*H Q"]:
    """Return each row's entropy as a part of the most it could be: ``entropy / ln K``, from 0 to 1.

    K is the number of keys that the row may see under the additive mask. A row that may see one key, or
    none, has no choice: 0.
    """
    n_visible = _visible(mask, weights.shape).sum(axis=-1)
    highest = np.log(np.maximum(n_visible, 2))
    return np.where(n_visible > 1, np.minimum(entropy(weights) / highest, 1), 0)[()]


def mean_distance(weights: Float[Array, "*H Q K"], rows: Bool[Array, " Q"] | None = None) -> Float[Array, "*H"]:
    """Return how many tokens away a head looks: ``Σ_k a_qk |k − q|``, averaged over rows."""
    return _total(weights, rows, np.abs(_offsets(*weights.shape[-2:])))


def mean_offset(weights: Float[Array, "*H Q K"], rows: Bool[Array, " Q"] | None = None) -> Float[Array, "*H"]:
    """Return how far forward a head looks, backward being negative: ``Σ_k a_qk (k − q)``, averaged over rows."""
    return _total(weights, rows, _offsets(*weights.shape[-2:]))


def share(
    weights: Float[Array, "*H Q K"], cells: Bool[Array, "Q K"], rows: Bool[Array, " Q"] | None = None
) -> Float[Array, "*H"]:
    """Return the part of a head's weight that lies on the marked cells: ``Σ_k a_qk [cell qk]``, averaged over rows.

    A row without such a cell (the first has no previous token) counts as 0, so that the shares of cells
    that do not overlap add up to 1 at most (Clark et al. 2019, sections 3.1 and 3.2).

    Raises:
        ValueError: the cells are not those of the weights.
    """
    if cells.shape != weights.shape[-2:]:
        raise ValueError(f"cells must have shape {weights.shape[-2:]}, as the weights have, got {cells.shape}")
    return _total(weights, rows, cells)


def positional_score(
    weights: Float[Array, "*H Q K"],
    mask: Float[Array, "*H_Q_K"] | None = None,
    rows: Bool[Array, " Q"] | None = None,
) -> Float[Array, "*H"]:
    """Return how well the offset alone predicts the weights, from 0 to 1.

    Each visible weight is predicted by the mean of all weights at its offset ``k − q``; the score is the
    variance that this explains, adjusted for the number of offsets (few tokens have nearly as many
    offsets as cells, and would be explained by chance): ``1 − (1 − R²)(n − 1)/(n − p)`` for n cells and
    p offsets, and 0 where that is negative. Even weights give 0: there is nothing to explain. Ours.
    """
    seen = _visible(mask, weights.shape) & _counted(weights, rows)[..., None]
    exact = np.where(seen, weights, 0).astype(np.float64)
    n_cells, sums = by_offset(seen.astype(np.float64)), by_offset(exact)  # (*H, Q + K - 1)
    n, p = n_cells.sum(axis=-1), (n_cells > 0).sum(axis=-1)

    correction = sums.sum(axis=-1) ** 2 / np.maximum(n, 1)  # n times the mean's square
    variation = np.einsum("...qk,...qk->...", exact, exact) - correction
    explained = (sums**2 / np.maximum(n_cells, 1)).sum(axis=-1) - correction
    can_tell = (n > p) & (variation > n * EVEN**2)
    unexplained = (variation - explained) / np.where(can_tell, variation, 1)
    adjusted = 1 - unexplained * (n - 1) / np.where(n > p, n - p, 1)
    return np.where(can_tell, np.clip(adjusted, 0, 1), 0)[()]  # a number, not an array, for one head


def _visible(mask: Array | None, shape: tuple[int, ...]) -> Bool[Array, "*H Q K"]:
    return np.broadcast_to(np.bool_(True) if mask is None else ~np.isneginf(mask), shape)


def _counted(weights: Array, rows: Array | None) -> Bool[Array, "*H Q"]:
    """Mark the rows that an average is taken over: those asked for that look at anything."""
    looking = np.asarray(weights.any(axis=-1))
    return looking if rows is None else looking & rows


def _row_mean(per_row: Float[Array, "*H Q"], counted: Bool[Array, "*H Q"]) -> Float[Array, "*H"]:
    n_rows = np.broadcast_to(counted, per_row.shape).sum(axis=-1)
    return np.where(counted, per_row, 0).sum(axis=-1) / np.maximum(n_rows, 1)


def _portions(weights: Float[Array, "*H Q K"], counted: Bool[Array, "*H Q"]) -> Float[Array, "*H Q K"]:
    """Divide each weight by the number of rows counted: over all cells of a head they sum to 1."""
    return weights * (counted / np.maximum(counted.sum(axis=-1, keepdims=True), 1))[..., None]


def _total(weights: Array, rows: Array | None, per_cell: Array) -> Float[Array, "*H"]:
    return np.einsum("...qk,qk->...", _portions(weights, _counted(weights, rows)), per_cell)


def _offsets(n_queries: int, n_keys: int) -> Int[Array, "Q K"]:
    return np.arange(n_keys) - np.arange(n_queries)[:, None]


def by_offset(cells: Float[Array, "*H Q K"]) -> Float[Array, "*H Q+K-1"]:
    """Add up the cells of each offset ``k − q``, from ``−(Q − 1)`` to ``K − 1``.

    With the rows in reverse, each one place further right than the one above, offsets stand in columns;
    rows that are padded to Q + K and read again as rows of Q + K − 1 do just that.
    """
    *heads, n_queries, n_keys = cells.shape
    padded = np.zeros((*heads, n_queries, n_queries + n_keys), cells.dtype)
    padded[..., :n_keys] = cells[..., ::-1, :]
    width = n_queries + n_keys - 1
    slanted = padded.reshape(*heads, -1)[..., : n_queries * width]
    return slanted.reshape(*heads, n_queries, width).sum(axis=-2)


# ------------------------------------------------------------------------------- what is looked at


@dataclass(frozen=True, slots=True)
class Cells:
    """Which cells of a matrix of weights are which: queries in rows, keys in columns."""

    previous: Bool[Array, "T T"]
    itself: Bool[Array, "T T"]
    next: Bool[Array, "T T"]
    first: Bool[Array, "T T"]
    classifier: Bool[Array, "T T"]
    separator: Bool[Array, "T T"]
    punctuation: Bool[Array, "T T"]
    same_word: Bool[Array, "T T"]


def cells_of(tokens: Sequence[Token | Word]) -> Cells:
    """Tell which cells lie on the previous, the same and the next token, on special ones, and so on.

    ``same_word`` is the same token, in lower case, at another position; special tokens are no words.
    """
    offsets = _offsets(len(tokens), len(tokens))
    names = list(map(folded, tokens))
    numbers = np.array([-1 - i if token.is_special else names.index(names[i]) for i, token in enumerate(tokens)])
    return Cells(
        previous=offsets == -1,
        itself=offsets == 0,
        next=offsets == 1,
        first=_columns(position == 0 for position in range(len(tokens))),
        classifier=_columns(token.is_special and token.text in CLASSIFIERS for token in tokens),
        separator=_columns(token.is_special and token.text in SEPARATORS for token in tokens),
        punctuation=_columns(map(is_punctuation, tokens)),
        same_word=(numbers[:, None] == numbers) & (offsets != 0),
    )


def _columns(is_marked: Iterable[bool]) -> Bool[Array, "T T"]:
    row = np.array(list(is_marked), bool)
    return np.broadcast_to(row, (row.size, row.size))


def _no_padding(tokens: Sequence[Token | Word]) -> Bool[Array, " T"]:
    return np.array([not token.is_padding for token in tokens], bool)


# ------------------------------------------------------------------------------------ head to head


def head_distance(
    first: Float[Array, "Q K"], second: Float[Array, "Q K"], rows: Bool[Array, " Q"] | None = None
) -> float:
    """Return how differently two heads look, from 0 to 1; see ``head_distances``."""
    return float(head_distances(np.stack([first, second]), rows)[0, 1])


def head_distances(weights: Float[Array, "N Q K"], rows: Bool[Array, " Q"] | None = None) -> Float[Array, "N N"]:
    """Return the Jensen–Shannon distance of every two heads: 0 for equal ones, 1 where no token gets weight from both.

    ``√(mean over rows of JS(p, q))`` with ``JS(p, q) = H((p + q)/2) − (H(p) + H(q))/2`` in bits. Clark et al.
    2019, section 6, compare heads by the sum of JS over tokens, in nats; the order of the pairs is theirs.
    The mean makes texts of any length comparable, base 2 makes 1 the most, and the root makes it a metric
    (Endres & Schindelin 2003). Rows in which some head looks at nothing do not count.
    """
    counted = _counted(weights, rows).all(axis=0)
    n_heads, n_rows = len(weights), int(counted.sum())
    cells = weights[:, counted].reshape(n_heads, -1)  # (N, rows of cells)
    divergences = np.zeros((n_heads, n_heads))
    # As many cells at a time as the processor's cache holds for all heads.
    chunk = max(1, 2**17 // max(n_heads, 1))
    for start in range(0, cells.shape[1], chunk):
        _add_divergences(divergences, cells[:, start : start + chunk].astype(np.float64))
    divergences = np.maximum(divergences + divergences.T, 0) / max(n_rows, 1)
    return np.minimum(np.sqrt(divergences), 1)


def _add_divergences(divergences: Float[Array, "N N"], cells: Float[Array, "N C"]) -> None:
    """Add what these cells contribute to the divergence of every two heads, above the diagonal."""
    halves = _bits(cells) / 2
    for head in range(len(cells) - 1):
        middle = _bits((cells[head] + cells[head + 1 :]) / 2)
        # Cell by cell, so that equal heads differ by exactly 0.
        divergences[head, head + 1 :] += (halves[head] + halves[head + 1 :] - middle).sum(axis=1)


def _bits(p: Array) -> Array:
    """Return ``p log₂ p``, where ``0 log₂ 0 = 0``."""
    return p * np.log2(np.where(p > 0, p, 1))


def trace_head_distances(trace: Trace) -> Float[Array, "L*H L*H"]:
    """Return the distance of every two heads of a trace, layer by layer; see ``head_distances``."""
    weights = np.concatenate([layer.steps().weights for layer in trace.layers])
    return head_distances(weights, _no_padding(trace.tokens))


# ---------------------------------------------------------------------------------------- patterns

PatternName = Literal["vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous"]
PATTERN_NAMES: tuple[PatternName, ...] = get_args(PatternName)


@dataclass(frozen=True, slots=True)
class PatternScores:
    """How much of each of the five patterns of Kovaleva et al. 2019 (section 4.1) a head shows, from 0 to 1.

    They labelled pictures by hand and did not publish the labels, so this rule is a heuristic of ours. With
    *lift* = ``(share − even)/(1 − even)``, the share of weight on some cells above what weights spread evenly
    over all visible keys would put there:

        vertical: the lift of the columns of all special tokens, or of one column, whichever is more
        diagonal: the lift of each token itself and its two neighbours
        vertical + diagonal: the lift of both sets of cells together; 0 unless each alone has ``MIXED`` = 0.2
        block: for two segments; of the weight that goes to ordinary tokens more than one away, how much more
            stays within the segment than its size would give: ``(within − even · elsewhere)/(1 − even)``
        heterogeneous: 1 less the highest of the others (very even weights are of this kind too)

    The label is vertical + diagonal if that has ``DOMINANT`` = 0.5; else the higher of vertical and diagonal
    if it has 0.5; else block if that has ``BLOCK`` = 0.3; else heterogeneous. Below eight tokens or so, chance
    alone makes patterns.
    """

    vertical: float
    diagonal: float
    vertical_and_diagonal: float
    block: float
    heterogeneous: float

    @property
    def label(self) -> PatternName:
        """The one pattern that the rule decides for."""
        if self.vertical_and_diagonal >= DOMINANT:
            return "vertical + diagonal"
        if max(self.vertical, self.diagonal) >= DOMINANT:
            return "vertical" if self.vertical >= self.diagonal else "diagonal"
        return "block" if self.block >= BLOCK else "heterogeneous"

    def as_dict(self) -> dict[PatternName, float]:
        """Return the score of each pattern by its name."""
        scores = (self.vertical, self.diagonal, self.vertical_and_diagonal, self.block, self.heterogeneous)
        return dict(zip(PATTERN_NAMES, scores, strict=True))


def pattern_indices(
    vertical: Float[Array, "*N"],
    diagonal: Float[Array, "*N"],
    vertical_and_diagonal: Float[Array, "*N"],
    block: Float[Array, "*N"],
) -> Int[Array, "*N"]:
    """Return which of ``PATTERN_NAMES`` the rule of ``PatternScores`` decides for, for many heads at once."""
    rules = [
        vertical_and_diagonal >= DOMINANT,
        (vertical >= DOMINANT) & (vertical >= diagonal),
        diagonal >= DOMINANT,
        block >= BLOCK,
    ]
    names: list[PatternName] = ["vertical + diagonal", "vertical", "diagonal", "block"]
    return np.select(rules, list(map(PATTERN_NAMES.index, names)), PATTERN_NAMES.index("heterogeneous"))


def pattern_scores(
    weights: Float[Array, "H T T"], tokens: Sequence[Token | Word], mask: Float[Array, "*H_Q_K"] | None = None
) -> tuple[PatternScores, ...]:
    """Return each head's patterns; see ``PatternScores`` for the rule.

    Raises:
        ValueError: the weights are not between these tokens.
    """
    _check_tokens(weights, tokens)
    counted = _counted(weights, _no_padding(tokens))
    visible = _visible(mask, weights.shape)
    even = visible / np.maximum(visible.sum(axis=-1, keepdims=True), 1)
    return _pattern_scores(_portions(weights, counted), _portions(even, counted), tokens)


def _pattern_scores(
    portions: Float[Array, "H T T"], even: Float[Array, "H T T"], tokens: Sequence[Token | Word]
) -> tuple[PatternScores, ...]:
    near = np.abs(_offsets(len(tokens), len(tokens))) <= 1
    both = np.stack([portions, even])  # (2, H, T, T): everything below is done to the head and to even weights
    elsewhere = both * ~near
    near_share = both.sum(axis=(-2, -1)) - elsewhere.sum(axis=(-2, -1))  # (2, H)
    diagonal = lift(*near_share)

    sets = _column_sets(tokens)  # (C, T)
    lifts = lift(*(both.sum(axis=-2) @ sets.T))  # (H, C)
    united = lift(*(near_share[..., None] + elsewhere.sum(axis=-2) @ sets.T))
    chosen = lifts.argmax(axis=-1)[:, None]
    vertical, mixed = (np.take_along_axis(values, chosen, axis=-1)[:, 0] for values in (lifts, united))
    mixed = np.where(np.minimum(vertical, diagonal) >= MIXED, mixed, 0)

    block = _block(elsewhere, tokens)
    heterogeneous = 1 - np.max([vertical, diagonal, mixed, block], axis=0)
    columns = (vertical, diagonal, mixed, block, heterogeneous)
    return tuple(PatternScores(*scores) for scores in zip(*(column.tolist() for column in columns), strict=True))


def lift(shares: Array, even: Array) -> Array:
    """Return the part of what even weights leave that the shares take, from 0 to 1: ``(share − even)/(1 − even)``."""
    room = 1 - even
    return np.clip((shares - even) / np.where(room > EVEN, room, np.inf), 0, 1)


def _column_sets(tokens: Sequence[Token | Word]) -> Float[Array, "C T"]:
    """Return the sets of columns that may make a vertical pattern: all special tokens, or any one token."""
    special = [[float(token.is_special and not token.is_padding) for token in tokens]]
    return np.concatenate([special, np.eye(len(tokens))])


def _block(elsewhere: Float[Array, "2 H T T"], tokens: Sequence[Token | Word]) -> Float[Array, " H"]:
    segments = np.array([token.segment for token in tokens])
    ordinary = np.array([not token.is_special for token in tokens], bool)
    if len(set(segments[ordinary].tolist())) < 2:
        return np.zeros(elsewhere.shape[1])
    outside, outside_even = np.einsum("shqk,k->sh", elsewhere, ordinary)
    is_within = (segments[:, None] == segments) & ordinary
    within, within_even = np.einsum("shqk,qk->sh", elsewhere, is_within)
    even = within_even / np.where(outside_even > 0, outside_even, 1)
    room = 1 - even
    return np.clip((within - even * outside) / np.where(room > EVEN, room, np.inf), 0, 1)


def _check_tokens(weights: Array, tokens: Sequence[Token | Word]) -> None:
    if weights.ndim != 3 or weights.shape[1:] != (len(tokens), len(tokens)):
        raise ValueError(
            f"weights must have shape (heads, {len(tokens)}, {len(tokens)}) for {len(tokens)} tokens, "
            f"got {weights.shape}"
        )


# --------------------------------------------------------------------------------------- summaries


@dataclass(frozen=True, slots=True)
class BehaviourRule:
    """A named behaviour: a head shows it if the measure of this name in its summary exceeds the threshold."""

    name: str
    measure: str
    threshold: float
    meaning: str
    source: str


CLARK = "Clark et al. 2019"
BEHAVIOUR_RULES = (
    BehaviourRule("previous token", "previous", NEIGHBOUR, "share of weight on the token before", CLARK),
    BehaviourRule("next token", "next", NEIGHBOUR, "share of weight on the token after", CLARK),
    BehaviourRule("same word", "same_word", SAME_WORD, "share of weight on the same word elsewhere", "ours"),
    BehaviourRule("separator sink", "separator", SINK, "share of weight on what ends a text, in BERT [SEP]", CLARK),
    BehaviourRule(
        "start sink", "first", SINK, "share of weight on the first token, in BERT [CLS]", f"{CLARK}, for [CLS]"
    ),
    BehaviourRule(
        "broad",
        "normalised_entropy",
        BROAD,
        "entropy, as a share of the highest possible (ln K for K tokens),",
        f"{CLARK}, 3.8 nats of ln 128",
    ),
    BehaviourRule("positional", "positional", POSITIONAL, "variance that the offset alone explains", "ours"),
)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a rule says of one head."""

    rule: BehaviourRule
    score: float

    @property
    def name(self) -> str:
        """The behaviour's name."""
        return self.rule.name

    @property
    def passes(self) -> bool:
        """Whether the head shows it."""
        return self.score > self.rule.threshold


@dataclass(frozen=True, slots=True)
class HeadSummary:
    """What one head does on one text; layer and head count from 0.

    Entropy is in nats, distance and offset in tokens, all else from 0 to 1. ``previous`` to ``punctuation``
    are shares of all its weight (see ``share``). ``same_word`` is averaged over the rows that see the same
    word elsewhere, else it would measure the text; it is 0 if there are none. ``normalised_entropy`` is
    averaged over the rows that see more than one token.
    """

    layer: int
    head: int
    entropy: float
    normalised_entropy: float
    mean_distance: float
    mean_offset: float
    previous: float
    itself: float
    next: float
    first: float
    classifier: float
    separator: float
    punctuation: float
    same_word: float
    positional: float
    pattern: PatternScores

    @property
    def behaviours(self) -> tuple[Behaviour, ...]:
        """What every rule says of the head, in the order of ``BEHAVIOUR_RULES``."""
        return tuple(Behaviour(rule, float(getattr(self, rule.measure))) for rule in BEHAVIOUR_RULES)

    @property
    def behaviour_names(self) -> tuple[str, ...]:
        """The names of the behaviours that the head shows."""
        return tuple(behaviour.name for behaviour in self.behaviours if behaviour.passes)


def summarise(trace: Trace) -> tuple[HeadSummary, ...]:
    """Return what every head of a trace does, layer by layer.

    Raises:
        ValueError: a layer's weights are not between the trace's tokens.
    """
    measures = _linear_measures(trace.tokens)
    return tuple(
        summary
        for number, layer in enumerate(trace.layers)
        for summary in _summaries(layer.steps().weights, trace.tokens, layer.mask, number, measures)
    )


def summarise_weights(
    weights: Float[Array, "H T T"],
    tokens: Sequence[Token | Word],
    mask: Float[Array, "*H_Q_K"] | None = None,
    layer: int = 0,
) -> tuple[HeadSummary, ...]:
    """Return what the heads of one layer do, from their weights alone; words serve as well as tokens.

    The mask is over what the weights are over: from tokens merged into words, a mask of words.

    Raises:
        ValueError: the weights are not between these tokens.
    """
    return _summaries(weights, tokens, mask, layer, _linear_measures(tokens))


@dataclass(frozen=True, slots=True)
class CrossSummary:
    """What one head of cross-attention does on one text; layer and head count from 0.

    Rows and columns are different tokens there, so that no distance and no diagonal means anything. Entropy is in
    nats, all else from 0 to 1: ``largest`` is the largest weight of a row, ``special`` the share of weight on
    special tokens that were read, ``vertical`` the lift of the column that gets most (see ``PatternScores``).
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
    """Return what the heads of one layer of cross-attention do, from the tokens that are written to those read.

    Raises:
        ValueError: the weights are not between these tokens.
    """
    if weights.shape[1:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"weights must have shape (heads, {len(tokens)}, {len(key_tokens)}) for {len(tokens)} tokens that look "
            f"at {len(key_tokens)}, got {weights.shape}"
        )
    counted = _counted(weights, _no_padding(tokens))
    visible = _visible(mask, weights.shape)
    even = visible / np.maximum(visible.sum(axis=-1, keepdims=True), 1)
    columns, even_columns = (_portions(cells, counted).sum(axis=-2) for cells in (weights, even))  # (H, K)
    is_special = np.array([token.is_special for token in key_tokens], bool)
    numbers = (
        _row_mean(entropy(weights), counted),
        _row_mean(normalised_entropy(weights, mask), counted & (visible.sum(axis=-1) > 1)),
        _row_mean(weights.max(axis=-1), counted),
        columns @ is_special,
        lift(columns, even_columns).max(axis=-1),
    )
    return tuple(CrossSummary(layer, head, *map(float, row)) for head, row in enumerate(zip(*numbers, strict=True)))


# The measures that are sums over cells, each weight times a number that depends on the cell alone: one product
# of matrices gives them all.
_LINEAR = (
    "mean_distance",
    "mean_offset",
    "previous",
    "itself",
    "next",
    "first",
    "classifier",
    "separator",
    "punctuation",
)


def _linear_measures(tokens: Sequence[Token | Word]) -> Float[Array, "S T*T"]:
    offsets, cells = _offsets(len(tokens), len(tokens)), cells_of(tokens)
    per_cell = [np.abs(offsets), offsets, *(getattr(cells, name) for name in _LINEAR[2:])]
    # Last, for a measure that is averaged over rows of its own.
    return np.stack([*per_cell, cells.same_word]).reshape(len(per_cell) + 1, -1).astype(np.float64)


def _summaries(
    weights: Array, tokens: Sequence[Token | Word], mask: Array | None, layer: int, measures: Array
) -> tuple[HeadSummary, ...]:
    _check_tokens(weights, tokens)
    n_heads = len(weights)
    rows = _no_padding(tokens)
    counted = _counted(weights, rows)
    visible = _visible(mask, weights.shape)
    even = visible / np.maximum(visible.sum(axis=-1, keepdims=True), 1)
    portions = _portions(weights, counted)

    same_word = measures[-1].reshape(weights.shape[1:]) > 0
    numbers = {
        "entropy": _row_mean(entropy(weights), counted),
        "normalised_entropy": _row_mean(normalised_entropy(weights, mask), counted & (visible.sum(axis=-1) > 1)),
        **dict(zip(_LINEAR, (portions.reshape(n_heads, -1) @ measures[:-1].T).T, strict=True)),
        "same_word": _row_mean(
            np.einsum("hqk,qk->hq", weights, same_word), counted & (same_word & visible).any(axis=-1)
        ),
        "positional": positional_score(weights, mask, rows),
    }
    patterns = _pattern_scores(portions, _portions(even, counted), tokens)
    return tuple(
        HeadSummary(layer=layer, head=head, pattern=pattern, **{name: float(v[head]) for name, v in numbers.items()})
        for head, pattern in enumerate(patterns)
    )


# ------------------------------------------------------------------------------- through the layers


def rollout(weights: Float[Array, "L T T"]) -> Float[Array, "L T T"]:
    """Return how much of each input token is in each position's vector after each layer, if weights told all.

    ``R_l = Â_l R_{l−1}`` with ``Â = (A + I)`` divided by its rows' sums, where I stands for the residual
    connection and ``R_0 = I`` (Abnar & Zuidema 2020, section 3). A holds one matrix per layer: the mean of
    its heads. Even weights over 4 tokens, unmasked, give after 3 layers .34375 for a token itself and
    .21875 for each other one: ``Â = ½ I + ½ · ¼``, so ``⅞ · ¼`` to every token and ``⅛`` more to itself.

    Raises:
        ValueError: the weights are not square matrices, one per layer.
    """
    if weights.ndim != 3 or weights.shape[1] != weights.shape[2]:
        raise ValueError(f"weights must have shape (layers, tokens, tokens), got {weights.shape}")
    identity = np.eye(weights.shape[1])
    rolled, current = np.empty(weights.shape), identity
    for layer, layer_weights in enumerate(weights):
        with_residual = layer_weights + identity
        current = with_residual / with_residual.sum(axis=-1, keepdims=True) @ current
        rolled[layer] = current
    return rolled


def trace_rollout(trace: Trace) -> Float[Array, "L T T"]:
    """Return the rollout of a trace, from the mean of each layer's heads; see ``rollout``."""
    return rollout(np.stack([layer.steps().weights.mean(axis=0, dtype=np.float64) for layer in trace.layers]))


def value_norms(layer: LayerTrace) -> Float[Array, "H K"]:
    """Return how long the vector is that each token has to give through each head: ``‖f(x)‖``.

    ``f(x) = (x W_V + b_V) W_O``, with the rows of W_O that belong to the head (Kobayashi et al. 2020,
    "Attention is Not Only a Weight"). The bias b_O belongs to no token and is not in it.

    Raises:
        ValueError: the model's output projection is not known.
    """
    if layer.projections is None:
        raise ValueError("the projections of this architecture are not known, so W_O cannot be applied")
    n_heads = len(layer.queries)
    values = layer.values.repeat(n_heads // len(layer.values), axis=0)  # (H, K, Dv)
    outputs = layer.projections.W_O.reshape(n_heads, values.shape[-1], -1)  # (H, Dv, M)
    return np.linalg.norm(values @ outputs, axis=-1)


def weighted_norms(layer: LayerTrace) -> Float[Array, "H Q K"]:
    """Return how long the vector is that each token does give to each other: ``‖α f(x)‖ = α ‖f(x)‖``.

    A large weight on a token with little to give, as [SEP] often is, moves little (Kobayashi et al. 2020).

    Raises:
        ValueError: the model's output projection is not known.
    """
    return layer.steps().weights * value_norms(layer)[:, None, :]


# ------------------------------------------------------------------------------------ dependencies

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
