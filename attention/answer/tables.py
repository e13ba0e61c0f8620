"""Tables that can be sorted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from attention.answer import components, state
from attention.figures.click_schema import Parts
from attention.figures.table import Columns, SortableTable, read_order
from attention.page.parameters import Sorts
from attention.page.settings import ROWS
from attention.page.view import View


def part_of(
    key: str,
    columns: Columns,
    view: View,
    is_whole: bool = False,
    is_narrow: bool = False,
    *,
    choose: Callable[[int], None] | None = None,
    chosen: int | None = None,
) -> components.Part:
    """Return a table, sorted as in the view.

    ``choose`` is called with the original index of a pressed row; ``chosen`` is the index of the row shown on the page.
    """
    order = None if is_whole else view.arranged.orders.get(key)
    table = SortableTable(columns, order, is_whole, is_narrow, choose is not None, chosen)
    payload, acts = components.of_figure(table, partial(_take, key, choose))
    return components.Part(table.component, key, payload, acts)


def _take(key: str, choose: Callable[[int], None] | None, parts: Parts) -> None:
    if "row" in parts and choose is not None:
        choose(int(str(parts["row"])))
    if "order" in parts:
        written: Any = parts["order"]
        order = None if written is None else read_order(written)
        state.choose(ROWS, Sorts.with_value(state.current()[ROWS], key, order))
