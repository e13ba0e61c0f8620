"""The front page: one sentence, two models, one heatmap each, and the way in, also to the other models.

Users who come from a model that reads something else find that model here, with what it read.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.content.pane import Pane, missing
from attention.lesson.prose import lesson, word
from attention.lesson.steps import softmax
from attention.messages import message
from attention.models import ModelInfo, bundled, get_info
from attention.models.bundled import Bundled
from attention.pages import FRONT, STEP_BY_STEP
from attention.settings import BESIDE, CELL, HEAD, LAYER, PART, STEP
from attention.ui import components, drawing, frame, markup, state
from attention.view import View

__all__ = ["show"]

# How many models are shown at once: those that are ready first.
MAX_SHOWN = 2
_NUMBERS = ("", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def show() -> None:
    """Draw the front page; the toy's picture is there at once, BERT's as soon as it is loaded."""
    view = frame.begin(FRONT)
    st.title(message("See attention happen"), anchor=False)
    info = get_info(view.model)
    markup.prose(lesson(info.reading.lesson("front/intro"), model=word(info.name)))
    if not frame.has_input(view):
        return
    panes = []
    shown = [each for each in bundled.infos() if each.reading.is_same(info.reading)][:MAX_SHOWN]
    for each, column in zip(shown, st.columns(MAX_SHOWN, gap="large"), strict=False):
        with column:
            st.subheader(each.name, anchor=False)
            st.caption(f"{each.summary} {each.note}")
            at_softmax = _start(each).but(STEP, softmax.STEP.key)
            pane = frame.open_pane(at_softmax, each)
            panes.append(pane)
            _first_picture(at_softmax, pane)
    _ways_to([each for each in bundled.MODELS if each.info not in shown])
    frame.finish(panes)


def _ways_to(models: Sequence[Bundled]) -> None:
    """Draw links to the other models that come with the project."""
    if not models:
        return
    st.header(f"{_NUMBERS[len(models)]} more model{'' if len(models) == 1 else 's'}", anchor=False)
    for entry, column in zip(models, st.columns(len(models), gap="large"), strict=True):
        info, invitation = entry.info, entry.invitation
        # No word of the text that a decoder writes has been in focus yet.
        start = _start(info).on(STEP_BY_STEP).having(PART, invitation.part).having(STEP, invitation.step)
        with column:
            st.subheader(info.name, anchor=False)
            markup.prose(lesson(invitation.lesson, summary=info.summary))
            with st.container(key=f"way_in_{info.model_id}"):
                st.page_link(STEP_BY_STEP.file, label=f"{invitation.label} ▸", query_params=start.to_query())


def _start(info: ModelInfo) -> View:
    """Return the view with which a model begins: its default layer and head, no open cell, no model beside it."""
    return state.seen_with(info.model_id).without(LAYER, HEAD, CELL, BESIDE)


def _first_picture(view: View, pane: Pane) -> None:
    if pane.scene is None:
        drawing.draw(missing(pane.reason), drawing.Source(view))
        return
    place = f"layer {pane.scene.layer + 1}, head {pane.scene.head + 1}"
    components.matrix(softmax.STEP.matrices(pane.scene)[0], key=f"front_{pane.info.model_id}")
    markup.prose(softmax.tell_weights(pane.scene))
    start = view.on(STEP_BY_STEP).without(STEP).to_query()
    with st.container(key=f"way_in_{pane.info.model_id}"):
        st.page_link(
            STEP_BY_STEP.file,
            label=message(
                "Step through it with {name}, from the first token to {place} ▸", name=pane.info.name, place=place
            ),
            query_params=start,
        )
