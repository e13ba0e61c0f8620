"""The choice of a model, and what is seen while it is loaded."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.models import Model, ModelInfo, ModelUnavailableError, list_models
from attention.models.store import Progress
from attention.ui import state, text
from attention.ui.cache import model_or_reason, waiting
from attention.view import View, other_model

__all__ = ["choose", "choose_place", "load"]

# So many names stand side by side; more of them have room in a list that opens.
MAX_SIDE_BY_SIDE = 5


def choose(view: View) -> None:
    """Draw the choice of the model."""
    models = {info.model_id: info.name for info in list_models()}
    st.session_state["model"] = view.model
    if len(models) <= MAX_SIDE_BY_SIDE:
        st.segmented_control(
            "Model", list(models), format_func=models.__getitem__, key="model", required=True, on_change=_set_model
        )
    else:
        st.selectbox(
            "Model", list(models), format_func=models.__getitem__, key="model", on_change=_set_model, width=220
        )


def choose_place(info: ModelInfo, layer: int, head: int, *, is_other: bool = False) -> None:
    """Draw the choice of layer and head, of the model itself or of the one beside it."""
    text.on_paper(f"{info.name}, layer {layer + 1}, head {head + 1}")
    for name, count, value in (("layer", info.n_layers, layer), ("head", info.n_heads, head)):
        key = f"{'other' if is_other else 'main'}_{name}"
        st.session_state[key] = value + 1
        st.selectbox(
            name.capitalize(),
            range(1, count + 1),
            format_func=f"{{}} of {count}".format,
            key=key,
            on_change=_set_place,
            args=(key, is_other, name, info.model_id),
            width=110,
        )


def load(info: ModelInfo) -> Model | ModelUnavailableError:
    """Load a model, with a bar where it is known how far that is."""
    place = st.empty()

    def show(progress: Progress | None) -> None:
        if progress is not None:
            told = f"{progress.n_done:,} of {progress.n_total:,} {progress.unit}"
            place.progress(progress.share, f"Converting {info.name}: {told}")

    with st.spinner(waiting(info), show_time=True):
        model = model_or_reason(info.model_id, show)
    place.empty()
    return model


def _set_model() -> None:
    model = state.chosen("model")
    if model is not None:
        state.set_model(model)


def _set_place(key: str, is_other: bool, name: str, model_id: str) -> None:
    value = state.chosen(key)
    # A browser may still have the choices of the model that stood here before, and say again what they were.
    if not isinstance(value, int) or model_id != _model_of(is_other):
        return
    if name == "layer":
        state.set_pane(is_other, lambda pane: replace(pane, layer=value - 1))
    else:
        state.set_pane(is_other, lambda pane: replace(pane, head=value - 1))


def _model_of(is_other: bool) -> str:
    model = state.current().model
    return other_model(model, {info.model_id: info for info in list_models()}) if is_other else model
