"""The five patterns of Kovaleva et al. 2019, by a rule of this project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, Self, get_args

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

from attention.core.messages import message
from attention.measures.marks import Marks, share
from attention.measures.offsets import EVEN
from attention.measures.rows import Rows, on_cells, sum_columns, sum_rows

PatternName = Literal["vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous"]
PATTERN_TITLES: Mapping[PatternName, str] = {
    "vertical": message("vertical"),
    "diagonal": message("diagonal"),
    "vertical + diagonal": message("vertical + diagonal"),
    "block": message("block"),
    "heterogeneous": message("irregular"),
}
PATTERN_MEANINGS: Mapping[PatternName, str] = {
    "vertical": message("Vertical: every row attends to the same one or two columns"),
    "diagonal": message("Diagonal: each row attends to its own position and its neighbours"),
    "vertical + diagonal": message("Vertical + diagonal: one or two columns, plus each row’s own position"),
    "block": message("Block: each sentence attends to itself"),
    "heterogeneous": message("Irregular: none of these shapes"),
}
PATTERN_NAMES: tuple[PatternName, ...] = get_args(PatternName)

# Thresholds of this project.
DOMINANT = 0.5  # the least lift that makes a pattern
MIXED = 0.2  # ... and that each part of a mixed pattern needs
BLOCK = 0.3  # lower for blocks, in which special tokens and neighbours are not counted


@dataclass(frozen=True, slots=True)
class PatternScores:
    """How clearly a head shows each of the five patterns of Kovaleva et al. 2019 (section 4.1), from 0 to 1.

    They labelled pictures by hand and did not publish the labels, so this rule is a heuristic of this project. Let
    *lift* = ``(share − even)/(1 − even)`` be the share of weight on some cells in excess of the share under uniform
    weights. Then:

        vertical: the lift of the columns of all special tokens, or of a single column, whichever is higher
        diagonal: the lift of each token itself and its two neighbours
        vertical + diagonal: the lift of both sets of cells together; 0 unless each alone reaches ``MIXED`` = 0.2
        block: for two segments only; of the weight on ordinary tokens more than one position away, the excess within
            the segment over its size: ``(within − even · elsewhere)/(1 − even)``
        heterogeneous: 1 minus the highest of the others (near-uniform weights too)

    The label is vertical + diagonal if that reaches ``DOMINANT`` = 0.5; else the higher of vertical and diagonal if
    that reaches 0.5; else block if that reaches ``BLOCK`` = 0.3; else heterogeneous. With fewer than about eight
    tokens, patterns arise by chance.
    """

    vertical: float
    diagonal: float
    vertical_and_diagonal: float
    block: float
    heterogeneous: float

    @property
    def label(self) -> PatternName:
        """The pattern that the rule chooses."""
        scores = np.array([self.vertical, self.diagonal, self.vertical_and_diagonal, self.block])
        return PATTERN_NAMES[int(pattern_indices(*scores))]

    def as_dict(self) -> dict[PatternName, float]:
        """Return the score of each pattern by name."""
        scores = (self.vertical, self.diagonal, self.vertical_and_diagonal, self.block, self.heterogeneous)
        return dict(zip(PATTERN_NAMES, scores, strict=True))


def pattern_indices(
    vertical: Float[Array, "*N"],
    diagonal: Float[Array, "*N"],
    vertical_and_diagonal: Float[Array, "*N"],
    block: Float[Array, "*N"],
) -> Int[Array, "*N"]:
    """Return the index in ``PATTERN_NAMES`` of the pattern that the rule of ``PatternScores`` chooses."""
    rules = [
        vertical_and_diagonal >= DOMINANT,
        (vertical >= DOMINANT) & (vertical >= diagonal),
        diagonal >= DOMINANT,
        block >= BLOCK,
    ]
    names: list[PatternName] = ["vertical + diagonal", "vertical", "diagonal", "block"]
    return np.select(rules, list(map(PATTERN_NAMES.index, names)), PATTERN_NAMES.index("heterogeneous"))


def pattern_scores(rows: Rows, columns: Float[Array, "*L B H T"], marks: Marks) -> dict[str, Float[Array, "*L B H"]]:
    """Score the patterns of every head from its weights and column shares; see ``PatternScores``."""
    even = rows.even()
    special = marks.special & ~marks.padding
    found = _Shares.of(rows.weights, columns, rows.n, special)
    expected = _Shares.of(even, sum_columns(even) / rows.n[..., None], rows.n, special)

    diagonal = lift(found.near, expected.near)
    lifts = lift(found.columns, expected.columns)  # (*L, B, H, C)
    chosen = lifts.argmax(axis=-1)[..., None]
    vertical = np.take_along_axis(lifts, chosen, axis=-1)[..., 0]
    mixed = lift(found.united(chosen), expected.united(chosen))
    mixed = np.where(np.minimum(vertical, diagonal) >= MIXED, mixed, 0)
    block = _block(rows, even, marks)
    highest = np.maximum(np.maximum(vertical, diagonal), np.maximum(mixed, block))
    return {
        "vertical": vertical,
        "diagonal": diagonal,
        "vertical_and_diagonal": mixed,
        "block": np.broadcast_to(block, vertical.shape),
        "heterogeneous": 1 - highest,
    }


def lift(
    shares: Float[Array, "*H"], even: Float[Array, "*1"], whole: Float[Array, "*H"] | float = 1
) -> Float[Array, "*H"]:
    """Return the excess of shares over uniform ones, relative to the maximum: ``(share − even · whole)/(1 − even)``.

    The shares are parts of ``whole``, which is all of a head's weight or some of it; ``even`` is a fraction of
    ``whole``.
    """
    room = 1 - even
    return np.clip((shares - even * whole) / np.where(room > EVEN, room, np.inf), 0, 1)


@dataclass(frozen=True, slots=True)
class _Shares:
    """The shares of a head's weight near the diagonal and in C sets of columns: in all, and away from the diagonal."""

    near: Float[Array, "*L B H"]
    columns: Float[Array, "*L B H C"]
    elsewhere: Float[Array, "*L B H C"]

    @classmethod
    def of(
        cls,
        weights: Float[Array, "*L B H T T"],
        columns: Float[Array, "*L B H T"],
        n_rows: Int[Array, "*1"],
        special: Bool[Array, "B T"],
    ) -> Self:
        near_columns = _near_columns(weights) / n_rows[..., None]
        return cls(sum_rows(near_columns), _sets(columns, special), _sets(columns - near_columns, special))

    def united(self, chosen: Int[Array, "*L B H 1"]) -> Float[Array, "*L B H"]:
        """Return the share near the diagonal or in the chosen set of columns."""
        return self.near + np.take_along_axis(self.elsewhere, chosen, axis=-1)[..., 0]


def _sets(columns: Float[Array, "*L B H T"], special: Bool[Array, "B T"]) -> Float[Array, "*L B H C"]:
    """Sum the candidate columns of a vertical pattern: all special tokens, then each single token."""
    together = share(columns, special)[..., None]
    return np.concatenate([together, np.broadcast_to(columns, (*together.shape[:-1], columns.shape[-1]))], axis=-1)


def _near_columns(weights: Float[Array, "*H T T"]) -> Float[Array, "*H T"]:
    """Sum, in each column, the weights of the token itself and its two neighbours."""
    near = weights.diagonal(axis1=-2, axis2=-1).astype(np.float64)
    if weights.shape[-1] > 1:
        near[..., :-1] += weights.diagonal(-1, axis1=-2, axis2=-1)
        near[..., 1:] += weights.diagonal(1, axis1=-2, axis2=-1)
    return near


def _block(rows: Rows, even: Float[Array, "*1 T T"], marks: Marks) -> Float[Array, "*L B H"]:
    """Score the block pattern; 0 for texts of one segment."""
    ordinary = ~marks.special
    is_pair = np.array([len(set(of_text[kept])) > 1 for of_text, kept in zip(marks.segments, ordinary, strict=True)])
    if not is_pair.any():
        return np.zeros(1)
    positions = np.arange(ordinary.shape[1])
    elsewhere = ordinary[:, None, :] & (np.abs(positions - positions[:, None]) > 1)  # (B, T, T)
    own = elsewhere & (marks.segments[:, :, None] == marks.segments[:, None, :])
    within, outside, even_within, even_outside = (
        sum_rows(on_cells(weights, cells[:, None])) / rows.n
        for weights, cells in product((rows.weights, even), (own, elsewhere))
    )
    expected = even_within / np.where(even_outside > 0, even_outside, 1)
    return np.where(is_pair[:, None], lift(within, expected, outside), 0)
