"""A table whose rows can be sorted by a column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

from attention.core.messages import message
from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import readable

# Columns by heading; shorter ones are padded with blanks.
Columns = Mapping[str, Sequence[object]]
# The column to sort by, counted from 0, and whether to sort in descending order.
Order = tuple[int, bool]

_BLANK = (None, "", "–")
_ORDER = re.compile("([1-9][0-9]{0,2})(up|down)")
# A number at the beginning of a cell, such as 1,024 or 12.5% or 3 (of 6); the component's script has the same pattern.
_NUMBER = re.compile(r"[-−+]?[0-9][0-9,]*(\.[0-9]+)?(e[-+]?[0-9]+)?", re.ASCII)


def rows_of(columns: Columns) -> int:
    """Return the length of the longest column."""
    return max(map(len, columns.values()), default=0)


def written_order(order: Order) -> str:
    """Return an order as it stands in a link: the column counted from 1, and the direction.

    >>> written_order((4, True))
    '5down'
    """
    column, is_down = order
    return f"{column + 1}{'down' if is_down else 'up'}"


def read_order(written: str) -> Order:
    """Parse an order from a link; raise ValueError if it is malformed."""
    found = _ORDER.fullmatch(written)
    if found is None:
        raise ValueError(written)
    return int(found[1]) - 1, found[2] == "down"


def in_order(columns: Columns, order: Order | None) -> dict[str, list[object]]:
    """Sort the rows stably by a column: numerically if every cell has a number, else alphabetically, blanks last.

    An order by a missing column is ignored.

    >>> in_order({"head": ["a", "b", "c"], "weight": [0.5, None, 12]}, (1, True))
    {'head': ['c', 'a', 'b'], 'weight': [12, 0.5, None]}
    """
    if order is None or order[0] >= len(columns):
        return {name: list(column) for name, column in columns.items()}
    rows = list(zip_longest(*columns.values()))
    at, is_down = order
    filled, blank = ([row for row in rows if (row[at] in _BLANK) is is_blank] for is_blank in (False, True))
    numbers = [_number(row[at]) for row in filled]
    keys: Sequence[Any] = [str(row[at]) for row in filled] if None in numbers else numbers
    ordered = sorted(range(len(filled)), key=keys.__getitem__, reverse=is_down)
    arranged = [filled[place] for place in ordered] + blank
    return {name: [row[column] for row in arranged] for column, name in enumerate(columns)}


def _number(cell: object) -> float | None:
    if isinstance(cell, int | float):
        return float(cell)
    found = _NUMBER.match(str(cell))
    return None if found is None else float(found[0].replace(",", "").replace("−", "-"))


@dataclass(frozen=True, slots=True)
class SortableTable(Drawn):
    """A table whose numbers are shown to five significant digits.

    Unless it ``is_whole``, it can be sorted, and scrolls if it is long. If one ``can_choose`` a row, ``chosen`` is its
    index in the columns. ``is_narrow`` tables are as wide as their content.
    """

    component: ClassVar[str] = "table"
    acts: ClassVar[tuple[str, ...]] = ("order", "choose")

    columns: Columns
    order: Order | None = None
    is_whole: bool = False
    is_narrow: bool = False
    can_choose: bool = False
    chosen: int | None = None

    def said(self, act: str, value: object) -> Parts | None:
        """Return the order, None for the table's own, or the index of the chosen row."""
        if act == "choose":
            return {"row": str(value)} if self.can_choose and is_index(value, rows_of(self.columns)) else None
        if act != "order" or self.is_whole:
            return None
        if value is None:
            return {"order": None}
        if not isinstance(value, list) or len(value) != 2 or not is_index(value[0], len(self.columns)):
            return None
        return {"order": written_order((value[0], value[1]))} if isinstance(value[1], bool) else None

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        return self.plain("is_whole is_narrow can_choose chosen") | {
            "label": message("Table"),
            "names": list(self.columns),
            "cells": [[_as_json(cell) for cell in column] for column in readable(self.columns).values()],
            "order": None if self.order is None or self.order[0] >= len(self.columns) else list(self.order),
        }


def _as_json(cell: object) -> str | int | float | None:
    """Return a cell as JSON: numbers and blanks as they are, all else as text."""
    if cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)):
        return cell
    return str(cell)
