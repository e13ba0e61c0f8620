"""What comes next, for the models that say so: the likeliest tokens, each a button, and a row for every layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.figures.chart import candidates_chart
from attention.lesson.next_token import Candidate, Forecast, formula, lens_table, tell_lens, tell_next
from attention.lesson.scene import Scene
from attention.lesson.steps import step_of
from attention.settings import TEXT
from attention.ui import components, markup, state
from attention.ui.cache import Address, forecast_of
from attention.ui.downloads import GoneError, Table, csv_button
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["show"]


def show(view: View, panes: Sequence[Pane]) -> None:
    """Draw what comes next, at the step that it belongs to, for each pane whose model is a decoder."""
    if "next token" not in step_of(view.step).extras:
        return
    for pane in panes:
        if pane.scene is None or pane.address is None or not pane.info.build.says_next:
            continue
        trace = pane.scene.trace
        found = forecast_of(pane.address.run, trace)
        if found is None:
            continue
        st.subheader(f"{pane.info.name}: what comes next", anchor=False)
        left, right = st.columns(2, gap="large")
        with left:
            with st.container(key=f"formula_next_{pane.name}"):
                st.latex(formula(trace))
            markup.prose(tell_next(found, trace), is_aside=True)
            _buttons(found.candidates, pane, is_whole=trace.cut is None)
        with right:
            _bars(found.candidates, pane)
        _lens(found, pane.name, pane.address)


def _buttons(candidates: Sequence[Candidate], pane: Pane, *, is_whole: bool) -> None:
    row = [
        components.Button(
            f"{candidate.label} {candidate.probability:.2f}",
            "" if candidate.text is not None else "This is no text that could be added to a sentence.",
            is_off=candidate.text is None or not is_whole,
        )
        for candidate in candidates
    ]
    additions = [candidate.text for candidate in candidates]
    take = partial(_add, additions, state.current().text)
    components.buttons(row, key=f"{pane.name}_next", label="The likeliest next tokens", on_press=take)


def _add(additions: Sequence[str | None], sentence: str, index: int) -> None:
    """Let the sentence that was read go on with a token; pressed twice before the answer, it is added once."""
    addition = additions[index]
    if addition is not None and state.current().text == sentence:
        state.set(TEXT, sentence + addition)


def _bars(candidates: Sequence[Candidate], pane: Pane) -> None:
    labels = [candidate.label for candidate in candidates]
    probabilities = [candidate.probability for candidate in candidates]
    components.chart(candidates_chart(labels, probabilities), key=f"{pane.name}_next_bars")


def _lens(found: Forecast, pane_name: str, address: Address) -> None:
    st.subheader("Layer by layer", anchor=False)
    markup.prose(tell_lens(found), is_aside=True)
    st.dataframe(lens_table(found), hide_index=True, key=f"{pane_name}_lens")
    csv_button("next-token", partial(_lens_table, address), address, key=f"{pane_name}_lens_csv")


def _lens_table(address: Address, scene: Scene) -> Table:
    found = forecast_of(address.run, scene.trace)
    if found is None:
        raise GoneError(f"{scene.info.name} is not here at the moment: load the page anew.")
    return lens_table(found)
