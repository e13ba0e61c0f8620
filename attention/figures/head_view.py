"""Which token attends to which, as the plain data of the head view: two columns of tokens, and lines between them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, UInt16
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.click_schema import Parts, indices, is_index
from attention.figures.large import AskAt, Large

__all__ = [
    "HEAD_COLOURS",
    "MAX_HEADS",
    "RESOLUTION",
    "THRESHOLDS",
    "HeadLines",
    "HeadView",
    "Side",
    "breaks",
    "quantise",
]

# The column of the tokens that attend, and that of the tokens attended to.
Side = Literal["query", "key"]

# The colours of each head's lines on the light page and on the dark one. The first is the purple of all
# weights; the others are lighter and darker hues of the palette of Okabe and Ito, chosen so that all twelve
# differ for colour-blind readers too (by at least 0.07 in OKLab; 0.1 for others), with a contrast of 3:1 to the page.
HEAD_COLOURS = (
    ("#7b4fa3", "#c9a2f2"),
    ("#bc5023", "#a76952"),
    ("#4178db", "#9cddfe"),
    ("#879c2f", "#b9c730"),
    ("#da597c", "#ec698e"),
    ("#10824d", "#7ca22a"),
    ("#439faf", "#25a9b7"),
    ("#75480d", "#f8dc8c"),
    ("#064985", "#177cd8"),
    ("#701812", "#e8aa93"),
    ("#0d5f4b", "#54ffcf"),
    ("#572856", "#a45aa1"),
)
MAX_HEADS = len(HEAD_COLOURS)

# The positions of the slider: lines for smaller weights are not drawn.
THRESHOLDS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
HIGHEST_DEFAULT = 0.1

# Weights are sent as integers from 0 to this number.
LEVELS = 65535
RESOLUTION = 1 / LEVELS
# The heads that are off come with the others if the weights of all take no more than so many bytes.
LIGHT = 4096
# Rounding in float32 can make a weight exceed 1 by this much; it then counts as 1.
SLACK = 1e-3


@dataclass(frozen=True, slots=True)
class HeadLines:
    """One head, or the mean of several: its name, its weights, and the index of its colour in ``HEAD_COLOURS``."""

    label: str
    weights: Float[Array, "Q K"]
    colour: int = 0


@dataclass(frozen=True, slots=True)
class TouchLines:
    """Tokens to pin, heads to switch on and off, and a threshold; ``starts`` are the positions of the first tokens."""

    sizes: dict[Side, int]
    starts: dict[Side, int]
    n_heads: int
    acts: tuple[str, ...] = ("pin", "heads", "threshold")

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pins, the heads that are on (counted from 1), or the smallest weight that has a line."""
        if act == "pin":
            return self._pins(value)
        if act == "heads":
            heads = indices(value, self.n_heads)
            return None if heads is None else {"on": "-".join(str(head + 1) for head in heads)}
        if act == "threshold" and is_index(value, len(THRESHOLDS)):
            return {"least": f"{THRESHOLDS[value]:g}"}
        return None

    def _pins(self, value: object) -> Parts | None:
        if not isinstance(value, dict):
            return None
        for side, size in self.sizes.items():
            positions = indices(value.get("positions"), size)
            if value.get("side") == side and positions is not None:
                written = [str(position + self.starts[side]) for position in positions]
                return {"pins": "-".join((side, *written)) if written else None}
        return None


@dataclass(frozen=True, slots=True)
class HeadView(Large):
    """Up to 12 heads, drawn as lines from the tokens that attend (rows, left) to those attended to (columns, right).

    ``row_breaks`` and ``column_breaks`` are the positions at which a new group, such as a second sentence, begins.
    ``row_start`` and ``column_start`` are the positions of the first row and column, if only a part of the whole is
    drawn. ``shown`` are the heads that are on at first, None for all; ``threshold``, one of :data:`THRESHOLDS`, is the
    smallest weight that has a line at first; ``pinned`` are the tokens that stay highlighted, or None to leave the
    choice to the user. ``hidden`` marks what the mask hides in every one of the heads.
    """

    component: ClassVar[str] = "head_view"

    title: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    heads: tuple[HeadLines, ...]
    alt: str
    row_axis: str = message("queries: who asks")
    column_axis: str = message("keys: who is asked")
    row_breaks: tuple[int, ...] = ()
    column_breaks: tuple[int, ...] = ()
    row_start: int = 0
    column_start: int = 0
    shown: tuple[int, ...] | None = None
    threshold: float | None = None
    pinned: tuple[Side, tuple[int, ...]] | None = None
    hidden: Bool[Array, "Q K"] | None = None

    def __post_init__(self) -> None:
        """Refuse data that cannot be drawn.

        Raises:
            ValueError: there are no heads or too many, the labels do not match the weights, a colour does not
                exist, or a number is not a weight; the message says what came.
        """
        if not 1 <= len(self.heads) <= MAX_HEADS:
            raise ValueError(f"there must be between 1 and {MAX_HEADS} heads, got {len(self.heads)}")
        wanted = (len(self.row_labels), len(self.column_labels))
        if self.hidden is not None and self.hidden.shape != wanted:
            raise ValueError(f"hidden must have shape {wanted} to match the labels, got {self.hidden.shape}")
        for head in self.heads:
            if head.weights.shape != wanted:
                raise ValueError(f"weights must have shape {wanted} to match the labels, got {head.weights.shape}")
            if not 0 <= head.colour < MAX_HEADS:
                raise ValueError(f"colour must be between 0 and {MAX_HEADS - 1}, got {head.colour}")
            if not ((head.weights >= -SLACK) & (head.weights <= 1 + SLACK)).all():
                raise ValueError(f"weights must be between 0 and 1, those of {head.label!r} are not")

    @property
    def touch(self) -> TouchLines:
        """Pins, heads and the threshold."""
        sizes: dict[Side, int] = {"query": len(self.row_labels), "key": len(self.column_labels)}
        return TouchLines(sizes, {"query": self.row_start, "key": self.column_start}, len(self.heads))

    @property
    def numbers(self) -> bytes:
        """The weights of all heads as integers from :func:`quantise`, little-endian, head by head and row by row."""
        return self._integers(range(len(self.heads)))

    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return what the browser needs to draw it; weights are sent as integers from :func:`quantise`, in base64.

        With ``ask_at``, which gives the address of the weights with a fingerprint, many weights are sent only of the
        heads that are on. The browser asks for all of them once another one is switched on.
        """
        every = range(len(self.heads))
        shown = _inside(every if self.shown is None else self.shown, len(self.heads))
        n_bytes = len(self.heads) * self.heads[0].weights.size * np.dtype(np.uint16).itemsize
        held = None if ask_at is None or n_bytes <= LIGHT or len(shown) == len(self.heads) else shown
        return {
            "title": self.title,
            "rows": list(self.row_labels),
            "columns": list(self.column_labels),
            "rowAxis": self.row_axis,
            "columnAxis": self.column_axis,
            "rowBreaks": _inside(self.row_breaks, len(self.row_labels)),
            "columnBreaks": _inside(self.column_breaks, len(self.column_labels)),
            "rowStart": self.row_start,
            "columnStart": self.column_start,
            "heads": [{"label": head.label, "colours": list(HEAD_COLOURS[head.colour])} for head in self.heads],
            "shown": shown,
            "values": base64.b64encode(self._integers(every if held is None else held)).decode("ascii"),
            "held": held,
            "numbers": None if held is None or ask_at is None else self.asked(ask_at),
            "levels": LEVELS,
            "hidden": self._hidden(),
            "thresholds": list(THRESHOLDS),
            "threshold": self._threshold_index(),
            "pinned": self._pins(),
            "alt": self.alt,
        }

    def _integers(self, heads: Sequence[int]) -> bytes:
        return b"".join(quantise(self.heads[head].weights).astype("<u2").tobytes() for head in heads)

    def _hidden(self) -> str | None:
        """Return what the mask hides as bits, row by row, the highest bit of each byte first, in base64."""
        if self.hidden is None:
            return None
        return base64.b64encode(np.packbits(self.hidden).tobytes()).decode("ascii")

    def _threshold_index(self) -> int:
        """Return the index of the threshold; the default is small enough to show weights that are all equal."""
        n_columns = max(1, len(self.column_labels))
        wanted = min(HIGHEST_DEFAULT, 0.5 / n_columns) if self.threshold is None else self.threshold
        return max(index for index, level in enumerate(THRESHOLDS) if level <= max(0.0, wanted))

    def _pins(self) -> dict[str, Any] | None:
        """Return those pinned tokens that exist here: a link may have been made for another sentence."""
        if self.pinned is None:
            return None
        side, positions = self.pinned
        size = len(self.row_labels if side == "query" else self.column_labels)
        return {"side": side, "positions": _inside(positions, size)}


def quantise(weights: Float[Array, "*shape"]) -> UInt16[Array, "*shape"]:
    """Return weights as integer multiples of ``RESOLUTION``, with an error of less than one step.

    This is usually the nearest multiple. If that would round to another number of two or three decimals
    than the weight itself, it is the multiple on the other side, so that what is written stays true.

    >>> quantise(np.array([0.0, 0.25, 1.0]))
    array([    0, 16384, 65535], dtype=uint16)
    """
    exact = np.clip(weights.astype(np.float64), 0, 1)
    steps = exact * LEVELS
    nearest = np.rint(steps)
    other = np.where(nearest > steps, np.floor(steps), np.ceil(steps))
    is_true = np.logical_and.reduce(
        [_rounded(nearest / LEVELS, decimals) == _rounded(exact, decimals) for decimals in (2, 3)]
    )
    return np.where(is_true, nearest, other).astype(np.uint16)


def _rounded(values: Float[Array, "*shape"], decimals: int) -> Float[Array, "*shape"]:
    """Round as the browser does: halves are rounded up."""
    return np.floor(values * 10**decimals + 0.5)


def breaks(groups: Sequence[object]) -> tuple[int, ...]:
    """Return the positions at which a new group begins.

    >>> breaks(["A", "A", "B", "B", "C"])
    (2, 4)
    """
    return tuple(index for index, (before, group) in enumerate(pairwise(groups), 1) if group != before)


def _inside(positions: Sequence[int], size: int) -> list[int]:
    return sorted({position for position in positions if 0 <= position < size})
