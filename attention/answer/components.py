"""The components of a page: a script and a style sheet from ``assets/components`` each, and its data.

Data from a browser is checked first (``attention.figures.click_schema``); invalid choices are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


def stepper(
    steps: Sequence[tuple[str, str]],
    current: str,
    *,
    key: str,
    on_choose: Callable[[str], None],
    is_presented: bool,
    on_present: Callable[[bool], None],
) -> Part:
    """Return the stepper for (key, name) pairs; ``on_choose`` is called with the key of the chosen step.

    The left and right arrow keys go to the previous and next step, as a presenter's remote does. P toggles the
    presentation: ``on_present`` is called with the new state.
    """
    known = {step for step, _ in steps}

    def choose(step: object) -> None:
        if isinstance(step, str) and step in known:
            on_choose(step)

    def present(is_wanted: object) -> None:
        if isinstance(is_wanted, bool):
            on_present(is_wanted)

    named = [{"key": step, "name": name} for step, name in steps]
    data = {"steps": named, "current": current, "present": is_presented}
    return Part("stepper", key, data, {"choose": choose, "present": present})
