"""The front page: what attention is, one question, one picture, and the ways in: to this model and to all others."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.content.front import content
from attention.content.pane import missing
from attention.lesson.prose import lesson
from attention.lesson.steps import softmax
from attention.messages import message
from attention.models import ModelInfo, bundled, get_info
from attention.models.bundled import Bundled
from attention.pages import FRONT, STEP_BY_STEP
from attention.settings import BESIDE, CELL, FACTORS, FIRST_ANSWER, HEAD, LAYER, NEXT, PART, STEP
from attention.ui import drawing, frame, markup, state
from attention.view import View

__all__ = ["show"]

# The heading over so many other models.
_MORE = (
    "",
    message("One more model"),
    message("Two more models"),
    message("Three more models"),
    message("Four more models"),
    message("Five more models"),
    message("Six more models"),
    message("Seven more models"),
    message("Eight more models"),
    message("Nine more models"),
)


def show() -> None:
    """Draw the front page: one model's picture, and the ways to the others."""
    view = frame.begin(FRONT)
    st.title(message("See attention happen"), anchor=False)
    if not frame.has_input(view):
        return
    info = get_info(view.model)
    at_softmax = _start(info).but(STEP, softmax.STEP.key).but(FIRST_ANSWER, view[FIRST_ANSWER])
    pane = frame.open_pane(at_softmax, info)
    drawing.draw(content(at_softmax, pane), view)
    if pane.scene is None:
        drawing.draw(missing(pane.reason), view, "missing")
    _ways_to([each for each in bundled.MODELS if each.info is not info])
    frame.finish([pane])


def _ways_to(models: Sequence[Bundled]) -> None:
    """Draw links to the other models that come with the project."""
    if not models:
        return
    st.header(_MORE[len(models)], anchor=False)
    for entry, column in zip(models, st.columns(len(models), gap="large"), strict=True):
        info, invitation = entry.info, entry.invitation
        # No word of the text that a decoder writes has been in focus yet.
        start = _start(info).on(STEP_BY_STEP).having(PART, invitation.part).having(STEP, invitation.step)
        start = start.having(NEXT, invitation.next).having(FACTORS, invitation.factors)
        with column:
            st.subheader(info.name, anchor=False)
            markup.prose(lesson(invitation.lesson, summary=info.summary))
            with st.container(key=f"way_in_{info.model_id}"):
                st.page_link(STEP_BY_STEP.file, label=f"{invitation.label} ▸", query_params=start.to_query())


def _start(info: ModelInfo) -> View:
    """Return the view with which a model begins: its default layer and head, no open cell, no model beside it."""
    return state.seen_with(info.model_id).without(LAYER, HEAD, CELL, BESIDE)
