"""BertViz's neuron view, with its call: how each token's query meets the keys in a head of a model in memory."""

from __future__ import annotations

from typing import Any

from attention.models.library import trace
from attention.show.output import Action, Shown, finish
from attention.show.pages import neurons
from attention.show.views import Mode


def show(
    model: Any,
    model_type: str,
    tokenizer: Any,
    sentence_a: str,
    sentence_b: str | None = None,
    display_mode: Mode | None = None,
    layer: int | None = None,
    head: int | None = None,
    html_action: Action = "view",
) -> Shown:
    """Run a transformers model and show its neuron view, as ``bertviz.neuron_view.show`` does.

    ``model_type`` is not used: any model that :func:`attention.trace` records will do, of transformers' own classes.
    ``display_mode`` is "dark" or "light" (by default the notebook's).

    Raises:
        TypeError: not a transformers model with its fast tokenizer.
        ValueError: the model's attention cannot be recorded, or there is no such layer or head.
    """
    del model_type
    run = trace(model, tokenizer, sentence_a, sentence_b)
    return finish(neurons(run, layer, head, None, None, display_mode), html_action)
