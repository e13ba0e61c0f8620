"""What came of the run, in a line under the choices: what was written, or what the picture was taken for."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.lesson.outcome import tell_alignment, tell_answer, tell_written
from attention.models.cards import card_of
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
            markup.prose(tell_answer(answer, pane.info.name, card_of(pane.info.model_id).digits))


def alignment(panes: Sequence[Pane]) -> None:
    """Say of a translator's cross-attention how often a head finds the right word."""
    for pane in panes:
        card = card_of(pane.info.model_id).translator
        if pane.scene is None or pane.address is None or card is None or card.part != pane.address.part:
            continue
        st.subheader("Which word does a row find?", anchor=False)
        markup.prose(tell_alignment(pane.scene, card))
