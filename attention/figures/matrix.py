"""A matrix to draw: its numbers, names, colours and marks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.figures.drawn import Parts, is_index
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

# The role of an axis colours its labels as in the formula.
Role = Literal["query", "key", "value", "plain"]
# "weights": one hue from 0 to 1. "signed": two hues around 0.
Palette = Literal["weights", "signed"]
# An elementwise or rowwise operation; "share" multiplies the rows by weights and sums them.
Operation = Literal["divide", "mask", "softmax", "share"]

# With more cells than this, a matrix is drawn as one image.
MAX_CELLS = 1200


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a step's matrix, with row and column counted from 0."""

    matrix: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Change:
    """The transition from another matrix of the same shape: the source, the operation, and its description.

    ``divisor`` divides all numbers; ``weights``, one for each row, multiply the rows. If the matrix is too large to
    animate every cell, only the row ``only_row`` may be sent, with its numbers ``after`` the change.
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
        """Whether each row changes independently."""
        return self.operation != "share"

    @property
    def came_from(self) -> str:
        """The name of the source or, for a weighted sum, of the weights."""
        return "weights" if self.operation == "share" else self.source.name

    def sent(self) -> Sent:
        """Return the source's differences and the operands."""
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
            # Not counting the row of the sum, which is still missing.
            before["shape"] = f"{weights.size}×{source.values.shape[1]}"
            parts["weights"] = packed(weights)
        if after is not None:
            parts |= {"onlyRow": row, "after": packed(after)}
        return Sent(before, parts)


@dataclass(frozen=True)
class Matrix(Large):
    """One matrix to draw: its numbers, the names of its rows and columns, its colours and its marks.

    Groups of rows or columns, such as two sentences, are pairs of a name and a first index, separated by a thin rule.
    NaN leaves a cell blank, and ``blank`` says why.

    Masked cells are hatched: scores of ``-inf`` or, after softmax, the weights marked in ``hidden`` (a weight of 0 need
    not be masked). Of a matrix without a mask, ``later`` describes what a causal mask would hide: the cells right of
    the diagonal are then grey, with their true numbers.

    A matrix with a ``change`` can be animated. If ``are_counts``, numbers are written without decimals. If several
    pictures show the same pairs, links call a cell of any of them ``known_as``. A table that ``has_heads`` has a row
    for each layer and a column for each head. The ``hint`` is shown while no cell is pointed at.

    It has no slots because cached properties need a ``__dict__``.
    """

    component: ClassVar[str] = "matrix"
    acts: ClassVar[tuple[str, ...]] = ("select",)

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
    hint: str = message("Press a cell.")

    def has(self, cell: Cell) -> bool:
        """Return whether a cell belongs to this matrix."""
        n_rows, n_columns = self.values.shape
        return cell.matrix == self.name and cell.row < n_rows and cell.column < n_columns

    @property
    def drawn(self) -> Float[Array, "R C"]:
        """The numbers with ``-inf`` in masked cells."""
        if self.hidden is None:
            return self.values
        return np.where(self.hidden & ~np.isnan(self.values), np.float32(-np.inf), self.values)

    @property
    def moves(self) -> bool:
        """Whether its change is animated."""
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
        change, row = self.change, self.focus_row
        if self.is_image and isinstance(change, Products):
            return replace(change, after=self.drawn[[change.row]])
        if row is None or not self.is_image or not isinstance(change, Change) or not change.goes_by_rows:
            return None
        return replace(change, only_row=row, after=self.drawn[[row]])

    @property
    def why_still(self) -> str:
        """The reason why it is not fully animated, if that is its size; otherwise empty."""
        if self._row_change is not None and self._differs:
            return message("Only the row in focus moves.")
        if not (self._is_too_large_to_turn and self._differs):
            return ""
        return message(
            "Not animated: {n} cells, more than {most}.",
            n=f"{self.values.size:,}",
            most=f"{MAX_CELLS:,}",
        )

    @property
    def is_image(self) -> bool:
        """Whether it has too many cells to be drawn one by one."""
        return self.values.size > MAX_CELLS

    @property
    def masked(self) -> str:
        """The content of a masked cell: a score of −∞ or, after softmax, a weight of 0."""
        return f"{MINUS}∞" if self.hidden is None else "0"

    @property
    def shape_text(self) -> str:
        """The shape, rows × columns, without the row of totals."""
        n_rows, n_columns = self.values.shape
        return f"{n_rows - self.has_total_row}×{n_columns}"

    @property
    def range_text(self) -> str:
        """The range of the unmasked numbers."""
        finite = self.drawn[np.isfinite(self.drawn)]
        if not finite.size:
            return message("all masked")
        return f"{self.written(finite.min())} … {self.written(finite.max())}"

    def written(self, value: float) -> str:
        """Format one of its numbers as in a cell."""
        return number(float(value), 0 if self.are_counts else decimals_of(self.colour_limit))

    @cached_property
    def colour_limit(self) -> float:
        """The number with the full colour: ``limit`` if given, 1 for weights, else from the numbers."""
        if self.limit is not None:
            return self.limit
        if self.palette == "weights":
            return 1.0
        return full_colour(self.values)

    @property
    def is_positive(self) -> bool:
        """Whether no number is negative, so that the legend needs half of the colours."""
        finite = self.drawn[np.isfinite(self.drawn)]
        return bool(finite.size and finite.min() >= 0)

    @cached_property
    def beyond(self) -> Bool[Array, "R C"]:
        """The numbers beyond the colour scale, which are marked; weights never are."""
        if self.palette == "weights":
            return np.zeros(self.values.shape, bool)
        drawn = self.drawn
        return np.isfinite(drawn) & (np.abs(drawn) > self.colour_limit)

    @property
    def beyond_text(self) -> str:
        """The legend of the marks beyond the colour scale; empty if there are none."""
        n = int(self.beyond.sum())
        if not n:
            return ""
        return messages(
            "{n} cell beyond ±{limit} (corner mark)",
            "{n} cells beyond ±{limit} (corner mark)",
            n,
            limit=number(self.colour_limit, decimals_of(self.colour_limit)),
        )

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pressed cell and its row, if it is in this matrix."""
        if act != "select" or not isinstance(value, dict) or value.get("matrix") != self.name:
            return None
        row, column = value.get("row"), value.get("column")
        if not (is_index(row, self.values.shape[0]) and is_index(column, self.values.shape[1])):
            return None
        if self.has_heads:
            return {"layer": str(row + 1), "head": str(column + 1)}
        return {"cell": f"{self.known_as or self.name}-{row}-{column}", "row": str(row)}

    @property
    def numbers(self) -> bytes:
        """The drawn numbers as little-endian float32, row by row."""
        return exact(self.drawn)

    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return the component's data; numbers are float32 in base64.

        With ``ask_at``, a matrix drawn as an image is sent as shades; the browser fetches the numbers once the user
        points at it.
        """
        return self.plain(
            "name title title_role row_axis column_axis row_role column_role masked palette is_positive focus_row "
            "focus_column selected block_width has_total_row blank are_counts later hint alt"
        ) | {
            "shape": self.shape_text,
            "range": self.range_text,
            "beyond": self.beyond_text,
            "rows": list(self.row_labels),
            "columns": named(self.column_labels),
            **self._number_data(ask_at),
            "limit": self.colour_limit,
            "rowGroups": [list(group) for group in self.row_groups],
            "columnGroups": [list(group) for group in self.column_groups],
            "showNumbers": max(self.values.shape) <= MAX_LABELLED,
            "change": self._change_data(),
            "selectable": False,
        }

    def _change_data(self) -> dict[str, Any] | None:
        change = self._row_change or self.change
        return None if change is None else said(change, is_seen=self.moves, why_not=self.why_still)

    def _number_data(self, ask_at: AskAt | None) -> dict[str, Any]:
        if ask_at is None or not self.is_image:
            return {"values": packed(self.drawn)}
        return {
            "shades": shades(self.drawn, self.colour_limit, is_signed=self.palette == "signed"),
            "areFew": are_many(self.values),
            "numbers": self.asked(ask_at),
            "selectedValue": None if self.selected is None else packed(self.drawn[self.selected]),
        }
