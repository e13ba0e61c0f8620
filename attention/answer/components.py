"""The components of a page: a script and a style sheet from ``assets/components`` each, and its data.

Data from a browser is checked first (``attention.figures.click_schema``); invalid choices are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from attention.figures.click_schema import ClickSchema, Parts
from attention.figures.large import AskAt, Large
from attention.page.blocks import Figure

# Handles data from a component's script, which may be anything.
Act = Callable[[object], None]


@dataclass(frozen=True, slots=True)
class Part:
    """A component, its key on the page, its data, and a handler for each kind of press."""

    name: str
    key: str
    data: Any
    acts: Mapping[str, Act] = field(default_factory=dict)


def of_figure(
    data: Figure,
    take: Callable[[Parts], None] | None,
    *,
    is_selectable: bool | None = None,
    ask_at: AskAt | None = None,
) -> tuple[dict[str, Any], dict[str, Act]]:
    """Return the data of a figure, and a handler for each kind of press.

    ``take`` is called with the parts of the pressed element, as written in a link; ``ask_at`` gives the address of a
    large figure's numbers (see ``Large.payload``).
    """
    payload, touch = data.payload(ask_at) if isinstance(data, Large) else data.payload(), data.touch
    if "selectable" in payload:
        payload["selectable"] = take is not None if is_selectable is None else is_selectable
    acts: dict[str, Act] = {}
    if take is not None and touch is not None:
        acts = {act: partial(_pressed, touch, act, take) for act in touch.acts}
    return payload, acts


def _pressed(touch: ClickSchema, act: str, take: Callable[[Parts], None], value: object) -> None:
    parts = touch.said(act, value)
    if parts is not None:
        take(parts)
