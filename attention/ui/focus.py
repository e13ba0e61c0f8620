"""The word in focus: its token in what was run, and its place in the text, for models with other tokens."""

from __future__ import annotations

from attention.models import Model, ModelUnavailableError
from attention.parameters import Spot
from attention.trace import Token
from attention.ui.cache import ModelFailedError, Recorded, model_or_reason, record, shelf
from attention.view import View, spot_of

__all__ = ["run", "spot_in", "token_in"]


def run(model: Model, view: View) -> tuple[Recorded, str]:
    """Run a model on the view's text or pair; if it does not accept the two, on the first, and return the reason.

    Raises:
        ValueError: the model does not accept the text.
        ModelFailedError: the model failed.
    """
    if not view.pair:
        return record(model, view.text, view.mask), ""
    try:
        return record(model, view.text, view.mask, view.pair), ""
    except ValueError as reason:
        return record(model, view.text, view.mask), str(reason)


def token_in(view: View) -> Token | None:
    """Return the token in focus in a view; None if there is none, or its model is not in memory."""
    if view.word is None or view.model not in shelf().in_memory():
        return None
    model = model_or_reason(view.model)
    if isinstance(model, ModelUnavailableError):
        return None
    try:
        trace = run(model, view)[0].trace
    except (ValueError, ModelFailedError, ModelUnavailableError):
        return None
    tokens = trace.part(trace.info.part_or_whole(view.part)).tokens
    return tokens[view.word] if view.word < len(tokens) else None


def spot_in(view: View) -> Spot | None:
    """Return the place in the text of the word in focus; None if none was chosen, or it covers no characters."""
    # What a decoder writes is not part of the text.
    if view.word is None or view.part != "encoder":
        return view.spot
    token = token_in(view)
    return None if token is None else spot_of(token)
