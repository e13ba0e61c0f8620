"""The head view: two columns of tokens, with attention weights as lines between them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, UInt16
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.drawn import Parts, indices, is_index
from attention.figures.large import AskAt, Large

# Left: the tokens that attend; right: the tokens attended to.
Side = Literal["query", "key"]

# Each head's colour on the light and on the dark page. The first is the purple of all weights; the others are lighter
# and darker hues of the Okabe-Ito palette. All twelve differ for colour-blind readers too (by at least 0.07 in OKLab;
# 0.1 for others) and have a contrast of 3:1 to the page.
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

# The stops of the slider: smaller weights get no line.
THRESHOLDS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
HIGHEST_DEFAULT = 0.1

# Weights are sent as integers from 0 to this.
LEVELS = 65535
RESOLUTION = 1 / LEVELS
# Heads that are off are sent at once if all weights together take at most this many bytes.
LIGHT = 4096
# Float32 rounding can make a weight exceed 1 by this much; it is clipped.
SLACK = 1e-3


@dataclass(frozen=True, slots=True)
class HeadLines:
    """One head, or the mean of several; ``colour`` is an index into ``HEAD_COLOURS``."""

    label: str
    weights: Float[Array, "Q K"]
    colour: int = 0


@dataclass(frozen=True, slots=True)
class HeadView(Large):
    """Up to 12 heads, drawn as lines from the tokens that attend (rows, left) to those attended to (columns, right).

    A new group, such as a second sentence, begins at each of the ``row_breaks`` and ``column_breaks``. ``row_start``
    and ``column_start`` are the positions of the first row and column of a section. ``shown`` are the heads visible at
    first, None for all; ``threshold``, one of ``THRESHOLDS``, is the smallest weight with a line at first; ``pinned``
    tokens stay highlighted (None leaves the choice to the browser). ``hidden`` are the cells masked in every head.
    """

    component: ClassVar[str] = "head_view"
    acts: ClassVar[tuple[str, ...]] = ("pin", "heads", "threshold")

    title: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    heads: tuple[HeadLines, ...]
    alt: str
    row_axis: str = message("queries: attending")
    column_axis: str = message("keys: attended to")
    row_breaks: tuple[int, ...] = ()
    column_breaks: tuple[int, ...] = ()
    row_start: int = 0
    column_start: int = 0
    shown: tuple[int, ...] | None = None
    threshold: float | None = None
    pinned: tuple[Side, tuple[int, ...]] | None = None
    hidden: Bool[Array, "Q K"] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a weight is invalid."""
        for head in self.heads:
            if not ((head.weights >= -SLACK) & (head.weights <= 1 + SLACK)).all():
                raise ValueError(f"weights must be between 0 and 1, those of {head.label!r} are not")

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pinned tokens, the visible heads (counted from 1), or the threshold."""
        if act == "pin":
            return self._pressed_pins(value)
        if act == "heads":
            heads = indices(value, len(self.heads))
            return None if heads is None else {"on": "-".join(str(head + 1) for head in heads)}
        if act == "threshold" and is_index(value, len(THRESHOLDS)):
            return {"least": f"{THRESHOLDS[value]:g}"}
        return None

    def _pressed_pins(self, value: object) -> Parts | None:
        if not isinstance(value, dict):
            return None
        sides: tuple[tuple[Side, int, int], ...] = (
            ("query", len(self.row_labels), self.row_start),
            ("key", len(self.column_labels), self.column_start),
        )
        for side, size, start in sides:
            positions = indices(value.get("positions"), size)
            if value.get("side") == side and positions is not None:
                written = [str(position + start) for position in positions]
                return {"pins": "-".join((side, *written)) if written else None}
        return None

    @property
    def numbers(self) -> bytes:
        """The weights as integers (see ``quantise``), little-endian, by head and row."""
        return self._integers(range(len(self.heads)))

    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return the component's data; weights are integers from ``quantise`` in base64.

        With ``ask_at``, if there are many weights, only those of the visible heads are sent; the browser fetches the
        others once one is shown.
        """
        every = range(len(self.heads))
        shown = _inside(every if self.shown is None else self.shown, len(self.heads))
        n_bytes = len(self.heads) * self.heads[0].weights.size * np.dtype(np.uint16).itemsize
        held = None if ask_at is None or n_bytes <= LIGHT or len(shown) == len(self.heads) else shown
        return self.plain("title row_axis column_axis row_start column_start alt") | {
            "rows": list(self.row_labels),
            "columns": list(self.column_labels),
            "rowBreaks": _inside(self.row_breaks, len(self.row_labels)),
            "columnBreaks": _inside(self.column_breaks, len(self.column_labels)),
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
        }

    def _integers(self, heads: Sequence[int]) -> bytes:
        return b"".join(quantise(self.heads[head].weights).astype("<u2").tobytes() for head in heads)

    def _hidden(self) -> str | None:
        """Return the masked cells as bits, row by row, the highest bit of each byte first, in base64."""
        if self.hidden is None:
            return None
        return base64.b64encode(np.packbits(self.hidden).tobytes()).decode("ascii")

    def _threshold_index(self) -> int:
        """Return the index of the threshold; the default is low enough to show uniform weights."""
        n_columns = max(1, len(self.column_labels))
        wanted = min(HIGHEST_DEFAULT, 0.5 / n_columns) if self.threshold is None else self.threshold
        return max(index for index, level in enumerate(THRESHOLDS) if level <= max(0.0, wanted))

    def _pins(self) -> dict[str, Any] | None:
        """Return the pinned tokens that exist here: the link may be of another sentence."""
        if self.pinned is None:
            return None
        side, positions = self.pinned
        size = len(self.row_labels if side == "query" else self.column_labels)
        return {"side": side, "positions": _inside(positions, size)}


def quantise(weights: Float[Array, "*shape"]) -> UInt16[Array, "*shape"]:
    """Round weights to integer multiples of ``RESOLUTION``, with an error of less than one step.

    If the nearest multiple rounds to another number of two or three decimals than the weight itself, the multiple on
    the other side is taken, so that displayed numbers stay true.

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
    """Round half up, as the browser does."""
    return np.floor(values * 10**decimals + 0.5)


def _inside(positions: Sequence[int], size: int) -> list[int]:
    return sorted({position for position in positions if 0 <= position < size})
