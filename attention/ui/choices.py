"""Streamlit's widgets, each for a parameter: its value, its check and what takes another one follow from that.

Every widget of a page that changes the view is drawn by one of these: they note what is offered
(:mod:`attention.ui.state`), and what a browser says is taken only if it was offered.

A widget shows the view's value, or the ``value`` that is given where that is the model's own or follows from what was
run. Its key is the parameter's name unless another one is given, and ``take`` is for choices that mean more than one
parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.parameters import Parameter
from attention.ui import state

__all__ = ["cell_of", "one_of", "opening", "select", "switch"]

T = TypeVar("T")


def switch(
    parameter: Parameter[bool],
    label: str,
    *,
    key: str = "",
    take: Callable[[bool], None] | None = None,
    **look: Any,
) -> None:
    """Draw a switch that is on or off."""
    value = state.current()[parameter]
    check = _checked((False, True), take or state.setter(parameter))
    _draw(st.toggle, key or parameter.name, value, check, {"value": value}, label, **look)


def select(
    parameter: Parameter[T],
    label: str,
    options: Sequence[T],
    *,
    value: T | None = None,
    key: str = "",
    take: Callable[[T], None] | None = None,
    **look: Any,
) -> None:
    """Draw a list that opens, of which one option is chosen."""
    shown = _value(parameter, value)
    check = _checked(options, take or state.setter(parameter))
    first = {"index": options.index(shown)}
    _draw(st.selectbox, key or parameter.name, shown, check, first, label, options, **look)


def one_of(
    parameter: Parameter[Any],
    label: str,
    options: Sequence[T],
    *,
    value: T | None = None,
    key: str = "",
    take: Callable[[T], None] | None = None,
    **look: Any,
) -> None:
    """Draw options side by side, of which one is chosen always."""
    shown = _value(parameter, value)
    check = _checked(options, take or state.setter(parameter))
    first = {"default": shown}
    _draw(st.segmented_control, key or parameter.name, shown, check, first, label, options, required=True, **look)


def opening(
    parameter: Parameter[Any], label: str, *, value: bool | None = None, key: str = "", **look: Any
) -> DeltaGenerator | None:
    """Draw what opens and return the place inside; None where it is shut, since what is in it need not be made."""
    key, is_open = key or parameter.name, _value(parameter, value)
    is_to_be_said = state.offer(key, is_open, _checked((False, True), state.setter(parameter)))
    # A widget that begins open would be another one than that which begins shut: it is told, even in a new session.
    if is_to_be_said and (is_open or not state.is_new()):
        st.session_state[key] = is_open
    place = st.expander(label, key=key, on_change="rerun", **look)
    if state.is_new() and not is_open:
        state.probe(key, place.open)
    return place if place.open else None


def cell_of(table: Mapping[str, Sequence[Any]], *, key: str, take: Callable[[int], None], **look: Any) -> None:
    """Draw a table of which one cell can be selected; ``take`` is given its row, however the table is sorted."""
    n_rows = len(next(iter(table.values()), ()))

    def check(selected: Any) -> None:
        for row, _ in selected["selection"]["cells"]:
            if 0 <= row < n_rows:
                take(row)

    nothing: Mapping[str, Mapping[str, list[Any]]] = {"selection": {"rows": [], "columns": [], "cells": []}}
    state.offer(key, nothing, check, keeps=True)
    st.dataframe(table, hide_index=True, key=key, selection_mode="single-cell", on_select="rerun", **look)


def _value(parameter: Parameter[Any], value: Any) -> Any:
    return state.current()[parameter] if value is None else value


def _checked(options: Sequence[T], take: Callable[[T], None]) -> Callable[[object], None]:
    """Return what takes an option that there is; one of another sentence or model comes as text."""
    known = list(options)

    def check(chosen: Any) -> None:
        for option in known:
            if type(chosen) is type(option) and chosen == option:
                take(option)

    return check


def _draw(
    widget: Callable[..., Any],
    key: str,
    value: Any,
    take: Callable[[Any], None],
    first: dict[str, Any],
    *arguments: Any,
    **look: Any,
) -> None:
    """Draw a widget with this value; in a new session, what the browser says already is heard first."""
    _, *options = arguments
    form = look.get("format_func", str)
    is_to_be_said = state.offer(key, value, take, options=[form(option) for each in options for option in each])
    if state.is_new():
        state.probe(key, widget(*arguments, key=key, **first, **look))
        return
    if is_to_be_said:
        st.session_state[key] = value
    widget(*arguments, key=key, **look)
