"""The front door: one sentence, two models, one heatmap each, and the way in, to the other models too.

Who comes from a model that reads something else finds that model there, and what it read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.lesson.pictures import matrices
from attention.lesson.prose import lesson, word
from attention.lesson.telling import tell_weights
from attention.models import ModelInfo, get_info, list_models
from attention.ui import components, frame, markup, state, step_view
from attention.ui.frame import Pane
from attention.view import Pane as Place
from attention.view import View

__all__ = ["show"]

# So many models are shown at once: those that are there soonest.
MAX_SHOWN = 2
_NUMBERS = {3: "Three", 4: "Four"}

# What leads to each of the models that is not shown, and what of it is opened.
_WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "toy": ("Read the toy's every weight", {"step": "tokens"}),
    "minilm-l6": ("See which words BERT looks at", {"step": "softmax"}),
    "smollm2-135m": ("See what SmolLM2 says comes next", {"step": "heads"}),
    "translator-fr-en": ("See which words a translator looks at", {"step": "softmax", "part": "cross"}),
    "vit-digits": ("Draw a digit, and see which patches are looked at", {"step": "tokens"}),
}


def show() -> None:
    """Draw the front door; the toy's picture is there at once, BERT's as soon as it is loaded."""
    view = frame.begin("See attention")
    st.title("See attention happen", anchor=False)
    info = get_info(view.model)
    markup.prose(lesson(info.reading.lesson("front"), model=word(info.name)))
    if not frame.has_input(view):
        return
    panes = []
    known = [each for each in list_models() if each.model_id in _WAYS]
    shown = [each for each in known if each.reading.is_same(info.reading)][:MAX_SHOWN]
    for each, column in zip(shown, st.columns(MAX_SHOWN, gap="large"), strict=False):
        with column:
            st.subheader(each.name, anchor=False)
            st.caption(f"{each.summary} {each.note}")
            at_softmax = replace(state.seen_with(each.model_id), step="softmax", beside=False, pane=Place())
            pane = frame.open_pane(at_softmax, each)
            panes.append(pane)
            _first_picture(at_softmax, pane)
    _ways_to([each for each in known if each not in shown])
    frame.finish(panes)


def _ways_to(models: Sequence[ModelInfo]) -> None:
    """Lead to the other models that come with the project."""
    st.header(f"{_NUMBERS[len(models)]} more models", anchor=False)
    for info, column in zip(models, st.columns(len(models), gap="large"), strict=True):
        label, opened = _WAYS[info.model_id]
        start = replace(state.seen_with(info.model_id), pane=Place(), beside=False)
        # Of the text that a decoder writes, no word has been in focus yet.
        start = replace(start.with_part(opened.get("part", start.part)), **opened)
        with column:
            st.subheader(info.name, anchor=False)
            markup.prose(lesson(f"front-{info.model_id}", summary=info.summary))
            with st.container(key=f"way_in_{info.model_id}"):
                st.page_link("pages/step_by_step.py", label=f"{label} ▸", query_params=start.to_query())


def _first_picture(view: View, pane: Pane) -> None:
    if pane.scene is None:
        step_view.unavailable(pane)
        return
    place = f"layer {pane.scene.layer + 1}, head {pane.scene.head + 1}"
    components.matrix(matrices("softmax", pane.scene)[0], key=f"front_{pane.info.model_id}")
    markup.prose(tell_weights(pane.scene))
    start = replace(view, step="tokens").to_query()
    with st.container(key=f"way_in_{pane.info.model_id}"):
        st.page_link(
            "pages/step_by_step.py",
            label=f"Step through it with {pane.info.name}, from the first token to {place} ▸",
            query_params=start,
        )
