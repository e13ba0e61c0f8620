"""The choice of a model, and what is seen while it is loaded."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention.models import Model, ModelInfo, ModelUnavailableError, list_models
from attention.models.store import Progress
from attention.ui import choices, markup, state
from attention.ui.cache import model_or_reason, waiting
from attention.view import Pane as Place
from attention.view import View, other_model

__all__ = ["choose", "choose_place", "load", "place_within"]

# So many names stand side by side; more of them have room in a list that opens.
MAX_SIDE_BY_SIDE = 5


def choose(view: View) -> None:
    """Draw the choice of the model."""
    models = {info.model_id: info.name for info in list_models()}
    offered: dict[str, Any] = {"key": "model", "value": view.model, "take": state.set_model}
    if len(models) <= MAX_SIDE_BY_SIDE:
        choices.one_of("Model", list(models), format_func=models.__getitem__, **offered)
    else:
        choices.select("Model", list(models), format_func=models.__getitem__, width=220, **offered)


def place_within(place: Place, info: ModelInfo) -> tuple[int, int]:
    """Return the layer and the head of a link, in what the model has of them: a decoder may have other layers."""
    found = []
    chosen = {"layer": (place.layer, info.n_layers), "head": (place.head, info.n_heads)}
    for (name, (wanted, count)), value in zip(chosen.items(), place.layer_and_head(info), strict=True):
        if wanted is not None and wanted >= count:
            there = f"there are {count} {name}s here"
            markup.notice(f"The link points to {name} {wanted + 1}, and {there}: the last is shown.")
        found.append(min(value, count - 1))
    return found[0], found[1]


def choose_place(info: ModelInfo, layer: int, head: int, *, is_other: bool = False) -> None:
    """Draw the choice of layer and head, of the model itself or of the one beside it."""
    markup.on_paper(f"{info.name}, layer {layer + 1}, head {head + 1}")
    for name, count, value in (("layer", info.n_layers, layer), ("head", info.n_heads, head)):
        key = f"{'other' if is_other else 'main'}_{name}"
        choices.select(
            name.capitalize(),
            range(1, count + 1),
            format_func=f"{{}} of {count}".format,
            key=key,
            value=value + 1,
            take=partial(_take_place, is_other, name, info.model_id),
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


def _take_place(is_other: bool, name: str, model_id: str, value: int) -> None:
    # A press may have been meant for the model that stood here before.
    if model_id != _model_of(is_other):
        return
    if name == "layer":
        state.set_pane(is_other, lambda pane: replace(pane, layer=value - 1))
    else:
        state.set_pane(is_other, lambda pane: replace(pane, head=value - 1))


def _model_of(is_other: bool) -> str:
    model = state.current().model
    return other_model(model, {info.model_id: info for info in list_models()}) if is_other else model
