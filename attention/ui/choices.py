"""What opens and shuts: what is noted of it, and Streamlit's own widget where it cannot be on a sheet.

What is offered is noted (:mod:`attention.ui.state`), and what a browser says is taken only if it was offered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.blocks import Fold
from attention.parameters import Keys
from attention.settings import OPEN
from attention.ui import state
from attention.view import View

__all__ = ["opening", "turning"]


def opening(block: Fold, view: View) -> DeltaGenerator | None:
    """Draw a fold and return the place inside; None where it is shut, since what is in it need not be made."""
    take, key, is_open = turning(block), block.key, view.arranged.is_open(block)

    def check(is_to_be_open: object) -> None:
        if isinstance(is_to_be_open, bool):
            take(is_to_be_open)

    is_to_be_said = state.offer(key, is_open, check)
    # A widget that begins open would be another one than that which begins shut: it is told, even in a new session.
    if is_to_be_said and (is_open or not state.is_new()):
        st.session_state[key] = is_open
    place = st.expander(block.title, key=key, on_change="rerun")
    if state.is_new() and not is_open:
        state.probe(key, place.open)
    return place if place.open else None


def turning(block: Fold) -> Callable[[bool], None]:
    """Return what notes that a fold was opened or shut."""
    if block.parameter is not None:
        return state.setter(block.parameter)
    return partial(_turn, block.key, block.is_open)


def _turn(key: str, begins_open: bool, is_open: bool) -> None:
    state.set(OPEN, Keys.turned(state.current()[OPEN], key, is_in=is_open != begins_open))
