"""Streamlit's own widget that changes the view: what opens and shuts.

It notes what is offered (:mod:`attention.ui.state`), and what a browser says is taken only if it was offered.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.parameters import Parameter
from attention.ui import state

__all__ = ["opening"]


def opening(parameter: Parameter[Any], label: str, *, is_open: bool, key: str) -> DeltaGenerator | None:
    """Draw what opens and return the place inside; None where it is shut, since what is in it need not be made."""
    take = state.setter(parameter)

    def check(is_to_be_open: object) -> None:
        if isinstance(is_to_be_open, bool):
            take(is_to_be_open)

    is_to_be_said = state.offer(key, is_open, check)
    # A widget that begins open would be another one than that which begins shut: it is told, even in a new session.
    if is_to_be_said and (is_open or not state.is_new()):
        st.session_state[key] = is_open
    place = st.expander(label, key=key, on_change="rerun")
    if state.is_new() and not is_open:
        state.probe(key, place.open)
    return place if place.open else None
