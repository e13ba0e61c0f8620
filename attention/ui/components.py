"""The interactive pictures, as Streamlit components.

Each is a script and a style sheet from ``assets/components``, mounted with plain data. A press is handed on once, when
the page next runs. What a browser sends is checked first (``attention.figures.touch``): a choice that does not exist
is ignored.

A session keeps the callbacks for a while, so they refer to names and sizes only, never to the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import streamlit as st

from attention.blocks import Figure
from attention.figures.large import AskAt, Large
from attention.figures.touch import Parts, Touch
from attention.ui import state
from attention.ui.files import component

__all__ = ["Act", "Part", "figure", "mount", "of_figure", "stepper"]

# What is done with what a component's script sends; a browser can say anything.
Act = Callable[[object], None]

# A component is registered when it is first drawn, which one page does at a time.
_component = cache(component)


@dataclass(frozen=True, slots=True)
class Part:
    """A component with its place on a page, its key; what it draws, and what is done on each kind of press in it."""

    name: str
    key: str
    data: Any
    acts: Mapping[str, Act] = field(default_factory=dict)


def figure(data: Figure, *, key: str, take: Callable[[Parts], None] | None = None) -> None:
    """Draw a figure; ``take`` is called with the parts of what was pressed, as they are written in a link."""
    payload, acts = of_figure(data, take)
    mount(Part(data.component, key, payload, acts))


def of_figure(
    data: Figure,
    take: Callable[[Parts], None] | None,
    *,
    is_selectable: bool | None = None,
    ask_at: AskAt | None = None,
) -> tuple[dict[str, Any], dict[str, Act]]:
    """Return the data of a figure, and what is done on each kind of press in it.

    ``take`` is called with the parts of what was pressed, as they are written in a link; ``ask_at`` gives the address
    of the numbers of a large figure (see ``Large.payload``).
    """
    payload, touch = data.payload(ask_at) if isinstance(data, Large) else data.payload(), data.touch
    if "selectable" in payload:
        payload["selectable"] = take is not None if is_selectable is None else is_selectable
    acts: dict[str, Act] = {}
    if take is not None and touch is not None:
        acts = {act: partial(_pressed, touch, act, take) for act in touch.acts}
    return payload, acts


def _pressed(touch: Touch, act: str, take: Callable[[Parts], None], value: object) -> None:
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
    """Return the steps, given as pairs of key and name; ``on_choose`` is called with the key of the chosen one.

    Anywhere on the page, the left and right arrow keys lead to the previous and the next step, and the key P shows the
    step to a room, where a presenter's remote leads on: ``on_present`` is called with whether it is shown so.
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


def mount(part: Part) -> None:
    """Draw a component; what its script sends under the name of an act is passed to that act, once."""
    for event, act in part.acts.items():
        state.offer(f"{part.key}.{event}", None, act, is_press=True)
    # The data is in a list, because Streamlit would search a dict for tables to send separately. The number of the run
    # has a browser draw it even if it is what the server sent last: meanwhile, it may have drawn something by itself.
    _component(part.name)(key=part.key, data=[part.data, part.key, state.run_number()])
    if state.is_new():
        said = st.session_state.get(part.key)
        for event in part.acts:
            state.probe(f"{part.key}.{event}", said.get(event) if isinstance(said, Mapping) else None)
