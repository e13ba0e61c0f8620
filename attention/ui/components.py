"""The pictures that a person can touch: the matrix, the heads, the steps and the tokens.

Each is a Streamlit component: a script and a style sheet from ``assets/components``, mounted with
plain data. What a person chooses calls ``on_…`` once, when the page runs next. What comes from a browser is
checked first: a choice that does not exist is no choice.

A session keeps what takes a choice for a while, so that holds on to names and sizes, never to the numbers
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

import streamlit as st

from attention.figures.chart import Chart
from attention.figures.heads import HeadThumb
from attention.figures.matrix import Cell, Matrix
from attention.segments import groups
from attention.trace import Token
from attention.ui import state
from attention.ui.files import component

__all__ = ["Button", "buttons", "chart", "head_grid", "matrix", "mount", "stepper", "token_strip"]

_MATRIX = component("matrix")
_CHART = component("chart")
_HEADS = component("head_grid")
_STEPPER = component("stepper")
_BUTTONS = component("buttons")
_TOKENS = component("tokens")


def matrix(data: Matrix, *, key: str, on_select: Callable[[Cell], None] | None = None) -> None:
    """Draw a matrix; ``on_select`` is called with the cell that a person clicks, or chooses with Enter."""
    name, shape = data.name, data.values.shape

    def select(value: object) -> None:
        cell = _cell(name, shape, value)
        if on_select is not None and cell is not None:
            on_select(cell)

    payload = {**data.payload(), "selectable": on_select is not None}
    mount(_MATRIX, key, payload, select=select)


def chart(data: Chart, *, key: str) -> None:
    """Draw a chart; nothing in it is chosen."""
    mount(_CHART, key, data.payload())


def head_grid(
    heads: Sequence[HeadThumb],
    current: int,
    *,
    key: str,
    on_choose: Callable[[int], None],
    label: str = "Heads of this layer",
) -> None:
    """Draw all heads of a layer as small heatmaps; ``on_choose`` is called with the index of one."""
    n_heads = len(heads)

    def choose(index: object) -> None:
        if _is_index(index, n_heads):
            on_choose(index)

    data = {"label": label, "heads": [head.payload() for head in heads], "current": current}
    mount(_HEADS, key, data, choose=choose)


@dataclass(frozen=True, slots=True)
class Button:
    """A button: what stands on it, what is said to those who point at it, and whether it does nothing now."""

    text: str
    title: str = ""
    is_off: bool = False


def buttons(row: Sequence[Button], *, key: str, label: str, on_press: Callable[[int], None]) -> None:
    """Draw buttons in a row; ``on_press`` is called with the index of one."""
    are_on = [not button.is_off for button in row]

    def press(index: object) -> None:
        if _is_index(index, len(are_on)) and are_on[index]:
            on_press(index)

    data = [{"text": button.text, "title": button.title, "isOff": button.is_off} for button in row]
    mount(_BUTTONS, key, {"label": label, "buttons": data}, press=press)


def stepper(steps: Sequence[tuple[str, str]], current: str, *, key: str, on_choose: Callable[[str], None]) -> None:
    """Draw the steps, pairs of key and name; ``on_choose`` is called with the key of one.

    The left and right arrow keys of the whole page lead to the step before and to the next.
    """
    known = {step for step, _ in steps}

    def choose(step: object) -> None:
        if isinstance(step, str) and step in known:
            on_choose(step)

    data = {"steps": [{"key": step, "name": name} for step, name in steps], "current": current}
    mount(_STEPPER, key, data, choose=choose)


def token_strip(
    tokens: Sequence[Token],
    focus: int | None,
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    titles: Sequence[str] | None = None,
    label: str = "Tokens",
) -> None:
    """Draw the tokens as chips, the pieces of a word together; ``on_choose`` is called with a position.

    A title says what a token is, to those who point at it and to those who cannot see it.
    """
    n_tokens = len(tokens)

    def choose(position: object) -> None:
        if on_choose is not None and _is_index(position, n_tokens):
            on_choose(position)

    titles = [_title(token) for token in tokens] if titles is None else titles
    sentences = {start: name for name, start in groups(tokens)}
    chips = [
        {
            "text": token.text,
            "position": token.position,
            # A patch of a picture is in no vocabulary, nor is a word that the toy makes something of by its ending.
            "id": None if token.token_id < 0 else token.token_id,
            "kind": "padding" if token.is_padding else "special" if token.is_special else "word",
            "group": group,
            "title": title,
            "sentence": sentences.get(token.position),
        }
        for token, group, title in zip(tokens, _groups(tokens), titles, strict=True)
    ]
    data = {"label": label, "chips": chips, "focus": focus, "selectable": on_choose is not None}
    mount(_TOKENS, key, data, choose=choose)


def mount(component: Callable[..., Any], key: str, data: Any, **acts: Callable[[object], None]) -> None:
    """Draw a component of ours; what its script sends under the name of an act is handed to that act, once."""
    for name, act in acts.items():
        state.offer(f"{key}.{name}", None, act, is_press=True)
    # Streamlit keeps what a script sends where it was given a callback; ours does nothing.
    component(key=key, data=data, **{f"on_{name}_change": _nothing for name in acts})
    if state.is_new():
        said = st.session_state.get(key)
        for name in acts:
            state.probe(f"{key}.{name}", said.get(name) if isinstance(said, Mapping) else None)


def _nothing() -> None:
    pass


def _cell(matrix: str, shape: tuple[int, ...], event: object) -> Cell | None:
    """Return the cell that was clicked, if the matrix of this name is the one that was clicked and has it."""
    if not isinstance(event, dict) or event.get("matrix") != matrix:
        return None
    row, column = event.get("row"), event.get("column")
    if not (_is_index(row, shape[0]) and _is_index(column, shape[1])):
        return None
    return Cell(matrix, row, column)


def _is_index(value: object, size: int) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < size


def _title(token: Token) -> str:
    kind = "padding, " if token.is_padding else "special token, " if token.is_special else ""
    number = f", id {token.token_id}" if token.token_id >= 0 else ""
    return f"{token.text}: {kind}position {token.position}{number}"


def _groups(tokens: Sequence[Token]) -> list[int]:
    """Number the words: pieces of one word, side by side in one segment, get the same number."""
    groups = [0] if tokens else []
    for before, token in pairwise(tokens):
        is_same = token.word is not None and (token.word, token.segment) == (before.word, before.segment)
        groups.append(groups[-1] + (not is_same))
    return groups
