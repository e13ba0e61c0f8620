"""The components of a page: a script and a style sheet from ``assets/components`` each, and its data.

Data from a browser is checked first (``attention.figures.drawn``); invalid choices are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from attention.figures.drawn import Drawn, Parts
from attention.figures.large import AskAt, Large

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
    data: Drawn,
    take: Callable[[Parts], None] | None,
    *,
    is_selectable: bool | None = None,
    ask_at: AskAt | None = None,
) -> tuple[dict[str, Any], dict[str, Act]]:
    """Return the data of a figure, and a handler for each kind of press.

    ``take`` is called with the parts of the pressed element, as written in a link; ``ask_at`` gives the address of a
    large figure's numbers (see ``Large.payload``).
    """
    payload = data.payload(ask_at) if isinstance(data, Large) else data.payload()
    if "selectable" in payload:
        payload["selectable"] = take is not None if is_selectable is None else is_selectable
    return payload, {} if take is None else {act: partial(_pressed, data, act, take) for act in data.acts}


def _pressed(figure: Drawn, act: str, take: Callable[[Parts], None], value: object) -> None:
    parts = figure.said(act, value)
    if parts is not None:
        take(parts)
