"""The front door: one sentence, two models, one heatmap each, and the way in, to three other models too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.lesson.pictures import matrices
from attention.lesson.prose import lesson
from attention.lesson.telling import tell_weights
from attention.models import ModelInfo, get_info, list_models
from attention.ui import components, frame, state, step_view, text
from attention.ui.frame import Pane
from attention.view import Pane as Place
from attention.view import View

__all__ = ["show"]

# What leads to each of the other models, and what of it is opened.
_WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "smollm2-135m": ("See what SmolLM2 says comes next", {"step": "heads"}),
    "translator-fr-en": ("See which words a translator looks at", {"step": "softmax", "part": "cross"}),
    "vit-digits": ("Draw a digit, and see which patches are looked at", {"step": "tokens"}),
}


def show() -> None:
    """Draw the front door; the toy's picture is there at once, BERT's as soon as it is loaded."""
    view = frame.begin("See attention", opening=_with_a_sentence)
    st.title("See attention happen", anchor=False)
    text.prose(lesson("front"))
    if not view.text:
        text.invitation()
        return
    panes = []
    toy, bert, *others = list_models()
    for info, column in zip((toy, bert), st.columns(2, gap="large"), strict=True):
        with column:
            st.subheader(info.name, anchor=False)
            st.caption(f"{info.summary} {info.note}")
            at_softmax = replace(view, model=info.model_id, step="softmax", beside=False, word=None, pane=Place())
            pane = frame.open_pane(at_softmax, info)
            panes.append(pane)
            _first_picture(at_softmax, pane)
    _ways_to(others)
    frame.finish(panes)


def _with_a_sentence(view: View) -> View:
    """Come back to a sentence where somebody comes from a model that reads something else."""
    default = View()
    return view if get_info(view.model).reads == "text" else view.with_model(default.model).with_text(default.text)


def _ways_to(models: Sequence[ModelInfo]) -> None:
    """Lead to the other models that come with the project."""
    st.header("Three more models", anchor=False)
    shown = [info for info in models if info.model_id in _WAYS]
    for info, column in zip(shown, st.columns(len(_WAYS), gap="large"), strict=True):
        label, opened = _WAYS[info.model_id]
        start = replace(state.seen_with(info.model_id), word=None, pane=Place(), beside=False, **opened)
        with column:
            st.subheader(info.name, anchor=False)
            text.prose(lesson(f"front-{info.model_id}", summary=info.summary))
            with st.container(key=f"way_in_{info.model_id}"):
                st.page_link("pages/step_by_step.py", label=f"{label} ▸", query_params=start.to_query())


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
