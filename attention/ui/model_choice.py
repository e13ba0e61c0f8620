"""The choice of a model, and what is seen while it is loaded."""

from __future__ import annotations

import streamlit as st

from attention.messages import message
from attention.models import Model, ModelInfo, ModelUnavailableError, list_models
from attention.models.store import Progress
from attention.settings import CELL, HEAD, LAYER, MAIN, MODEL, OfPane
from attention.ui import choices, markup, state
from attention.ui.cache import model_or_reason, shelf, waiting

__all__ = ["choose", "choose_head", "choose_place", "load"]

# So many names stand side by side; more of them have room in a list that opens.
MAX_SIDE_BY_SIDE = 5


def choose() -> None:
    """Draw the choice of the model."""
    models = {info.model_id: info.name for info in list_models()}
    if len(models) <= MAX_SIDE_BY_SIDE:
        choices.one_of(MODEL, message("Model"), list(models), format_func=models.__getitem__)
    else:
        choices.select(MODEL, message("Model"), list(models), format_func=models.__getitem__, width=220)


def choose_place(info: ModelInfo, layer: int, head: int, pane: OfPane = MAIN) -> None:
    """Draw the choice of layer and head, of the model itself or of the one beside it."""
    markup.on_paper(message("{name}, layer {layer}, head {head}", name=info.name, layer=layer + 1, head=head + 1))
    offered = (("Layer", pane.layer, info.n_layers, layer), ("Head", pane.head, info.n_heads, head))
    for label, parameter, count, value in offered:
        names = [f"{number} of {count}" for number in range(1, count + 1)]
        choices.select(parameter, label, range(count), format_func=names.__getitem__, value=value, width=110)


def choose_head(layer: int, head: int) -> None:
    """Go to another head; the cell that was opened belonged to the old one."""
    state.change(lambda view: view.having(LAYER, layer).having(HEAD, head).having(CELL, None))


def load(info: ModelInfo) -> Model | ModelUnavailableError:
    """Load a model, with a bar where it is known how far that is; one that is in memory is there at once."""
    # Always there, so that what is drawn after it stands where it stood, whether one waits or not.
    with st.container():
        return model_or_reason(info.model_id) if info.model_id in shelf().in_memory() else _wait_for(info)


def _wait_for(info: ModelInfo) -> Model | ModelUnavailableError:
    place = st.empty()

    def show(progress: Progress | None) -> None:
        if progress is not None:
            told = f"{progress.n_done:,} of {progress.n_total:,} {progress.unit}"
            place.progress(progress.share, message("Converting {name}: {told}", name=info.name, told=told))

    with st.spinner(waiting(info), show_time=True):
        model = model_or_reason(info.model_id, show)
    place.empty()
    return model
