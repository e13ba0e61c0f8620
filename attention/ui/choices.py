"""Streamlit's widgets, each with the value that the view gives it and with what takes another one.

Every widget of a page that changes the view is drawn by one of these: they note what is offered
(:mod:`attention.ui.state`), and what a browser says is taken only if it was offered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from attention.ui import state

__all__ = ["cell_of", "field", "one_of", "pills", "select", "switch"]

T = TypeVar("T")


def field(label: str, *, key: str, value: str, take: Callable[[str], None], **look: Any) -> None:
    """Draw a field to type in."""

    def check(typed: object) -> None:
        if isinstance(typed, str):
            take(typed)

    _draw(st.text_input, key, value, check, {"value": value}, label, **look)


def switch(label: str, *, key: str, value: bool, take: Callable[[bool], None], **look: Any) -> None:
    """Draw a switch that is on or off."""

    def check(is_on: object) -> None:
        if isinstance(is_on, bool):
            take(is_on)

    _draw(st.toggle, key, value, check, {"value": value}, label, **look)


def select(label: str, options: Sequence[T], *, key: str, value: T, take: Callable[[T], None], **look: Any) -> None:
    """Draw a list that opens, of which one option is chosen."""
    place = options.index(value)
    _draw(st.selectbox, key, value, _checked(options, take), {"index": place}, label, options, **look)


def one_of(label: str, options: Sequence[T], *, key: str, value: T, take: Callable[[T], None], **look: Any) -> None:
    """Draw options side by side, of which one is chosen always."""
    check = _checked(options, take)
    _draw(st.segmented_control, key, value, check, {"default": value}, label, options, required=True, **look)


def pills(
    label: str, options: Sequence[T], *, key: str, value: T | None, take: Callable[[T], None], **look: Any
) -> None:
    """Draw options of which one may be chosen; to let go of it changes nothing."""
    _draw(st.pills, key, value, _checked(options, take), {"default": value}, label, options, **look)


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
