"""The front door: one sentence, two models, one heatmap each, and the way in, to a third model too."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.lesson.pictures import matrices
from attention.lesson.prose import lesson, word
from attention.lesson.telling import tell_weights
from attention.models import ModelInfo, list_models
from attention.ui import components, frame, step_view, text
from attention.ui.frame import Pane
from attention.view import Pane as Place
from attention.view import View

__all__ = ["show"]


def show() -> None:
    """Draw the front door; the toy's picture is there at once, BERT's as soon as it is loaded."""
    view = frame.begin("See attention")
    st.title("See attention happen", anchor=False)
    text.prose(lesson("front"))
    if not view.text:
        text.invitation()
        return
    panes = []
    toy, bert, decoder, *_ = list_models()
    for info, column in zip((toy, bert), st.columns(2, gap="large"), strict=True):
        with column:
            st.subheader(info.name, anchor=False)
            st.caption(info.summary)
            at_softmax = replace(view, model=info.model_id, step="softmax", beside=False, word=None, pane=Place())
            pane = frame.open_pane(at_softmax, info)
            panes.append(pane)
            _first_picture(at_softmax, pane)
    _way_to(view, decoder)
    frame.finish(panes)


def _way_to(view: View, info: ModelInfo) -> None:
    """Lead to a model that takes too long to load for a first look."""
    text.prose(lesson("front-decoder", model=word(info.name), summary=info.summary))
    start = replace(view, model=info.model_id, step="tokens", beside=False, word=None, pane=Place())
    with st.container(key=f"way_in_{info.model_id}"):
        st.page_link(
            "pages/step_by_step.py", label=f"See what {info.name} says comes next ▸", query_params=start.to_query()
        )


def _first_picture(view: View, pane: Pane) -> None:
    if pane.scene is None:
        step_view.unavailable(pane)
        return
    place = f"layer {pane.scene.layer + 1}, head {pane.scene.head + 1}"
    components.matrix(matrices("softmax", pane.scene)[0], key=f"front_{pane.info.model_id}")
    text.prose(tell_weights(pane.scene))
    start = replace(view, step="tokens").to_query()
    with st.container(key=f"way_in_{pane.info.model_id}"):
        st.page_link(
            "pages/step_by_step.py",
            label=f"Step through it with {pane.info.name}, from the first token to {place} ▸",
            query_params=start,
        )
