"""The head view: two columns of tokens, and a line for every weight between them.

A component like those of :mod:`attention.ui.components`, with the same rules.
"""

from __future__ import annotations

from collections.abc import Callable

from attention.figures.head_view import THRESHOLDS, HeadView, Side
from attention.ui.components import _is_index, mount
from attention.ui.files import component

__all__ = ["head_view"]

_HEAD_VIEW = component("head_view")


def head_view(
    data: HeadView,
    *,
    key: str,
    on_pin: Callable[[Side, tuple[int, ...]], None] | None = None,
    on_heads: Callable[[tuple[int, ...]], None] | None = None,
    on_threshold: Callable[[float], None] | None = None,
) -> None:
    """Draw the head view; ``on_pin`` is called when a person pins tokens, or lets go of them.

    It gets the column, ``query`` or ``key``, and the positions that are now pinned in it, in order;
    without any, nothing is pinned in either column. Give them back as ``data.pinned``. ``on_heads`` gets
    the heads that are on, of ``data.heads``, and ``on_threshold`` the smallest weight that has a line.
    """
    sizes: dict[Side, int] = {"query": len(data.row_labels), "key": len(data.column_labels)}
    n_heads = len(data.heads)

    def pin(value: object) -> None:
        pins = _pins(value, sizes)
        if on_pin is not None and pins is not None:
            on_pin(*pins)

    def switch(value: object) -> None:
        heads = _indices(value, n_heads)
        if on_heads is not None and heads is not None:
            on_heads(heads)

    def limit(value: object) -> None:
        if on_threshold is not None and _is_index(value, len(THRESHOLDS)):
            on_threshold(THRESHOLDS[value])

    mount(_HEAD_VIEW, key, data.payload(), pin=pin, heads=switch, threshold=limit)


def _pins(value: object, sizes: dict[Side, int]) -> tuple[Side, tuple[int, ...]] | None:
    """Return the column and the positions, if there are such."""
    if not isinstance(value, dict):
        return None
    for side, size in sizes.items():
        positions = _indices(value.get("positions"), size)
        if value.get("side") == side and positions is not None:
            return side, positions
    return None


def _indices(value: object, size: int) -> tuple[int, ...] | None:
    """Return a list of indices in order, each once, if it is one."""
    if not isinstance(value, list) or not all(_is_index(index, size) for index in value):
        return None
    return tuple(sorted(set(value)))
