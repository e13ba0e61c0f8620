"""The head view: two columns of tokens, and a line for every weight between them.

A component like those of :mod:`attention.ui.components`, with the same rules.
"""

from __future__ import annotations

from collections.abc import Callable

from streamlit.components.v2 import component

from attention.figures.head_view import HeadView
from attention.ui.components import _css, _is_index, _read, _told

__all__ = ["head_view"]

_HEAD_VIEW = component("attention_head_view", css=_css("head_view"), js=_read("base.js", "colours.js", "head_view.js"))


def head_view(data: HeadView, *, key: str, on_pin: Callable[[str, tuple[int, ...]], None] | None = None) -> None:
    """Draw the head view; ``on_pin`` is called when a person pins tokens, or lets go of them.

    It gets the column, ``query`` or ``key``, and the positions that are now pinned in it, in order;
    without any, nothing is pinned in either column. Give them back as ``data.pinned``.
    """
    sizes = {"query": len(data.row_labels), "key": len(data.column_labels)}

    def pin(value: object) -> None:
        pins = _pins(value, sizes)
        if on_pin is not None and pins is not None:
            on_pin(*pins)

    _HEAD_VIEW(key=key, data=data.payload(), on_pin_change=_told(key, "pin", pin))


def _pins(value: object, sizes: dict[str, int]) -> tuple[str, tuple[int, ...]] | None:
    """Return the column and the positions, if there are such."""
    if not isinstance(value, dict):
        return None
    side, positions = value.get("side"), value.get("positions")
    if not isinstance(side, str) or side not in sizes or not isinstance(positions, list):
        return None
    if not all(_is_index(position, sizes[side]) for position in positions):
        return None
    return side, tuple(sorted(set(positions)))
