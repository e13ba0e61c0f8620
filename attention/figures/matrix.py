"""A matrix as the plain data of the matrix component: what it contains, and how it is to be drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.figures.click_schema import Parts, is_index
from attention.figures.format import (
    MAX_LABELLED,
    MINUS,
    are_many,
    decimals_of,
    exact,
    full_colour,
    named,
    number,
    packed,
    shades,
)
from attention.figures.large import AskAt, Large
from attention.figures.transition import Products, Sent, Turn, said

__all__ = ["Cell", "Change", "Matrix", "Operation", "Palette", "Role"]

# The role of an axis, which gives its labels their colour: the same as in the formula.
Role = Literal["query", "key", "value", "plain"]
# "weights": one hue from 0 to 1. "signed": two hues around 0.
Palette = Literal["weights", "signed"]
# What is done to each number of a matrix, or to each row: divide it by one number, add a mask, take the softmax, or
# multiply it by a weight and add all rows up.
Operation = Literal["divide", "mask", "softmax", "share"]

# Above this many cells, they are drawn as one image.
MAX_CELLS = 1200


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of one matrix of a step, with its row and column counted from 0."""

    matrix: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class TouchCell:
    """A cell of the matrix with this name, which a link knows by the name ``known_as``, or by the same.

    In a table of heads, which ``has_heads``, the cell is a layer and a head.
    """

    name: str
    shape: tuple[int, ...]
    known_as: str = ""
    has_heads: bool = False
    acts: tuple[str, ...] = ("select",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the cell that was pressed and its row, if it is a cell of this matrix and not of an earlier one."""
        if act not in self.acts or not isinstance(value, dict) or value.get("matrix") != self.name:
            return None
        row, column = value.get("row"), value.get("column")
        if not (is_index(row, self.shape[0]) and is_index(column, self.shape[1])):
            return None
        if self.has_heads:
            return {"layer": str(row + 1), "head": str(column + 1)}
        return {"cell": f"{self.known_as or self.name}-{row}-{column}", "row": str(row)}


@dataclass(frozen=True, slots=True)
class Change:
    """How another matrix became this one: what it was, what was done to it, and in words what was kept and changed.

    The two have the same rows and columns. ``divisor`` is the number that everything is divided by; ``weights``, one
    for each row, is what the rows are multiplied by. Of a matrix that is too large to see each of its cells move, only
    one row may be sent, ``only_row``, with what it is ``after`` the change.
    """

    needs_cells: ClassVar[bool] = True

    source: Matrix
    operation: Operation
    told: str
    divisor: float = 1.0
    weights: Float[Array, " R"] | None = None
    only_row: int | None = None
    after: Float[Array, "1 C"] | None = None

    @property
    def goes_by_rows(self) -> bool:
        """Tell whether each row is changed by itself."""
        return self.operation != "share"

    @property
    def came_from(self) -> str:
        """The matrix that it was; where values are added up, the weights."""
        return "weights" if self.operation == "share" else self.source.name

    def sent(self) -> Sent:
        """Return the source as far as it differs, and what was done to it."""
        source, weights, row, after = self.source, self.weights, self.only_row, self.after
        before = {
            "name": source.name,
            "title": source.title,
            "range": source.range_text,
            "values": packed(source.drawn if row is None else source.drawn[[row]]),
            "palette": source.palette,
            "limit": source.colour_limit,
            "isPositive": source.is_positive,
            "masked": source.masked,
            "beyond": source.beyond_text,
        }
        parts: dict[str, Any] = {"divisor": self.divisor}
        if weights is not None:
            # The row of the sum is not there yet.
            before["shape"] = f"{weights.size}×{source.values.shape[1]}"
            parts["weights"] = packed(weights)
        if after is not None:
            parts |= {"onlyRow": row, "after": packed(after)}
        return Sent(before, parts)


@dataclass(frozen=True)
class Matrix(Large):
    """One matrix to draw: its numbers, the names of its rows and columns, its colours and its marks.

    What follows from them and takes long is computed once, for which it needs a ``__dict__``.

    Groups of rows or columns, such as two sentences, are pairs of a name and a first index; they are
    separated by a thin rule. A cell whose number is NaN is left blank, and ``blank`` says why.

    What the mask hides is drawn hatched. Before softmax, that is a score of ``-inf``; after it, a weight of exactly 0,
    and ``hidden`` marks those cells, because a weight that is merely small is a number like any other.

    Of a matrix without a mask, ``later`` may say what a causal mask would hide: all that is right of the diagonal is
    drawn grey, with its true numbers.

    A matrix with a ``change`` can be seen turning into what it is from what it was. If ``are_counts``, its numbers are
    whole, and are written without decimals.

    Where several pictures show the same pairs, a link knows a cell of all of them by one name, ``known_as``. A table
    that ``has_heads`` has a row for each layer and a column for each head.
    """

    component: ClassVar[str] = "matrix"

    name: str
    title: str
    values: Float[Array, "R C"]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_axis: str
    column_axis: str
    palette: Palette
    alt: str
    row_role: Role = "plain"
    column_role: Role = "plain"
    title_role: Role = "plain"
    limit: float | None = None
    focus_row: int | None = None
    focus_column: int | None = None
    selected: tuple[int, int] | None = None
    block_width: int | None = None
    has_total_row: bool = False
    row_groups: tuple[tuple[str, int], ...] = ()
    column_groups: tuple[tuple[str, int], ...] = ()
    blank: str = "not a number"
    hidden: Bool[Array, "R C"] | None = None
    later: str = ""
    change: Turn | None = None
    are_counts: bool = False
    known_as: str = ""
    has_heads: bool = False

    def __post_init__(self) -> None:
        """Refuse labels, marks of hidden cells, or a matrix that this one was, that do not match the numbers.

        Raises:
            ValueError: the shapes differ; the message gives the shape of the labels and the one that came.
        """
        wanted = (len(self.row_labels), len(self.column_labels))
        if self.values.shape != wanted:
            raise ValueError(f"values must have shape {wanted} to match the labels, got {self.values.shape}")
        if self.hidden is not None and self.hidden.shape != wanted:
            raise ValueError(f"hidden must have shape {wanted} to match the labels, got {self.hidden.shape}")
        if isinstance(self.change, Change) and self.change.source.values.shape != wanted:
            raise ValueError(f"a matrix of {wanted} cannot come from one of {self.change.source.values.shape}")

    def has(self, cell: Cell) -> bool:
        """Tell whether a cell belongs to this matrix."""
        n_rows, n_columns = self.values.shape
        return cell.matrix == self.name and cell.row < n_rows and cell.column < n_columns

    @property
    def drawn(self) -> Float[Array, "R C"]:
        """Return the numbers as they are drawn, with ``-inf`` for masked cells."""
        if self.hidden is None:
            return self.values
        return np.where(self.hidden & ~np.isnan(self.values), np.float32(-np.inf), self.values)

    @property
    def moves(self) -> bool:
        """Tell whether it can be seen turning into what it is: it was something else, and is drawn as that needs it."""
        return self.change is not None and self._differs and not self._is_too_large_to_turn

    @property
    def _differs(self) -> bool:
        change = self.change
        return not (isinstance(change, Change) and np.array_equal(change.source.drawn, self.drawn))

    @property
    def _is_too_large_to_turn(self) -> bool:
        return self.change is not None and self.change.needs_cells and self.is_image and self._row_change is None

    @property
    def _row_change(self) -> Turn | None:
        """The change of the row in focus alone, where all cells are too many to be seen moving."""
        change, row = self.change, self.focus_row
        if self.is_image and isinstance(change, Products):
            return replace(change, after=self.drawn[[change.row]])
        if row is None or not self.is_image or not isinstance(change, Change) or not change.goes_by_rows:
            return None
        return replace(change, only_row=row, after=self.drawn[[row]])

    @property
    def why_still(self) -> str:
        """Say why not all of it is seen turning into what it is, where that is because of its size; empty otherwise."""
        if self._row_change is not None and self._differs:
            return message("Only the row in focus moves.")
        if not (self._is_too_large_to_turn and self._differs):
            return ""
        return message(
            "Nothing moves here: the picture has {n} cells, and up to {most} are moved one by one.",
            n=f"{self.values.size:,}",
            most=f"{MAX_CELLS:,}",
        )

    @property
    def is_image(self) -> bool:
        """Tell whether it has too many cells to be drawn one by one."""
        return self.values.size > MAX_CELLS

    @property
    def masked(self) -> str:
        """Return what a masked cell contains: a score of −∞ or, after softmax, a weight of 0."""
        return f"{MINUS}∞" if self.hidden is None else "0"

    @property
    def shape_text(self) -> str:
        """Return the shape as it is shown: rows × columns, without the row of totals, which is none of the matrix."""
        n_rows, n_columns = self.values.shape
        return f"{n_rows - self.has_total_row}×{n_columns}"

    @property
    def range_text(self) -> str:
        """Return the range of the numbers that are not masked, from the smallest to the largest."""
        finite = self.drawn[np.isfinite(self.drawn)]
        if not finite.size:
            return message("all masked")
        return f"{self.written(finite.min())} … {self.written(finite.max())}"

    def written(self, value: float) -> str:
        """Return one of its numbers as it is written in a cell."""
        return number(float(value), 0 if self.are_counts else decimals_of(self.colour_limit))

    @cached_property
    def colour_limit(self) -> float:
        """Return the number with the full colour: ``limit`` or, if None, 1 for weights, else by the numbers."""
        if self.limit is not None:
            return self.limit
        if self.palette == "weights":
            return 1.0
        return full_colour(self.values)

    @property
    def is_positive(self) -> bool:
        """Tell whether none of its numbers is negative, so that half of the colours are not there to be explained."""
        finite = self.drawn[np.isfinite(self.drawn)]
        return bool(finite.size and finite.min() >= 0)

    @cached_property
    def beyond(self) -> Bool[Array, "R C"]:
        """Return which numbers lie beyond the colour scale: each is marked. Weights never do."""
        if self.palette == "weights":
            return np.zeros(self.values.shape, bool)
        drawn = self.drawn
        return np.isfinite(drawn) & (np.abs(drawn) > self.colour_limit)

    @property
    def beyond_text(self) -> str:
        """Return what is said of numbers beyond the colour scale; empty if there are none."""
        n = int(self.beyond.sum())
        if not n:
            return ""
        return messages(
            "{n} cell beyond ±{limit} has a corner",
            "{n} cells beyond ±{limit} have a corner",
            n,
            limit=number(self.colour_limit, decimals_of(self.colour_limit)),
        )

    @property
    def touch(self) -> TouchCell:
        """A cell: its place, and its row; in a table of heads, the layer and the head."""
        return TouchCell(self.name, self.values.shape, self.known_as, self.has_heads)

    @property
    def numbers(self) -> bytes:
        """The numbers as they are drawn, as little-endian float32, row by row."""
        return exact(self.drawn)

    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return what the browser needs to draw it, with nothing to select; numbers are sent as float32 in base64.

        With ``ask_at``, which gives the address of the numbers with a fingerprint, a matrix that is drawn as an image
        is sent in shades. The browser asks for the numbers as soon as the user points at the picture.
        """
        return {
            "name": self.name,
            "title": self.title,
            "titleRole": self.title_role,
            "shape": self.shape_text,
            "range": self.range_text,
            "beyond": self.beyond_text,
            "rows": list(self.row_labels),
            "columns": named(self.column_labels),
            "rowAxis": self.row_axis,
            "columnAxis": self.column_axis,
            "rowRole": self.row_role,
            "columnRole": self.column_role,
            **self._sent(ask_at),
            "masked": self.masked,
            "palette": self.palette,
            "limit": self.colour_limit,
            "isPositive": self.is_positive,
            "focusRow": self.focus_row,
            "focusColumn": self.focus_column,
            "selected": None if self.selected is None else list(self.selected),
            "blockWidth": self.block_width,
            "hasTotalRow": self.has_total_row,
            "rowGroups": [list(group) for group in self.row_groups],
            "columnGroups": [list(group) for group in self.column_groups],
            "showNumbers": max(self.values.shape) <= MAX_LABELLED,
            "blank": self.blank,
            "areCounts": self.are_counts,
            "later": self.later,
            "alt": self.alt,
            "change": self._said_change(),
            "selectable": False,
        }

    def _said_change(self) -> dict[str, Any] | None:
        change = self._row_change or self.change
        return None if change is None else said(change, is_seen=self.moves, why_not=self.why_still)

    def _sent(self, ask_at: AskAt | None) -> dict[str, Any]:
        """Return the numbers, or their shades and the one number that is read at once: that of the selected cell."""
        if ask_at is None or not self.is_image:
            return {"values": packed(self.drawn)}
        return {
            "shades": shades(self.drawn, self.colour_limit, is_signed=self.palette == "signed"),
            "areFew": are_many(self.values),
            "numbers": self.asked(ask_at),
            "selectedValue": None if self.selected is None else packed(self.drawn[self.selected]),
        }
