"""What came of the run, in a line under the choices: what was written, or what the picture was taken for."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.lesson.outcome import tell_alignment, tell_answer, tell_written
from attention.models.cards import digits_card, translator_card
from attention.models.weights import DIGITS, TRANSLATOR
from attention.ui import markup
from attention.ui.cache import answer_of
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["alignment", "show"]


def show(view: View, panes: Sequence[Pane]) -> None:
    """Say for each pane what its model made of what it read, where it makes anything of it."""
    for pane in panes:
        if pane.whole is None or pane.address is None:
            continue
        if pane.whole.decoder is not None:
            markup.prose(tell_written(pane.whole, is_given=bool(view.pair)))
        answer = answer_of(pane.address.run, pane.whole)
        if answer is not None:
            card = digits_card() if pane.info.model_id == DIGITS.model_id else None
            markup.prose(tell_answer(answer, pane.info.name, card))


def alignment(panes: Sequence[Pane]) -> None:
    """Say of the translator's cross-attention how often a head finds the right word."""
    for pane in panes:
        if pane.scene is not None and pane.scene.is_cross and pane.info.model_id == TRANSLATOR.model_id:
            st.subheader("Which word does a row find?", anchor=False)
            markup.prose(tell_alignment(pane.scene, translator_card()))
