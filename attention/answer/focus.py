"""The word in focus: its token, and its place in the text (for models that tokenize differently)."""

from __future__ import annotations

from attention.answer.cache import ModelFailedError, Recorded, first_word_of, model_or_reason, record, shelf
from attention.core.trace import Token
from attention.models import Model, ModelUnavailableError
from attention.page.parameters import Spot
from attention.page.settings import CHAT
from attention.page.view import View, spot_of


def run(model: Model, view: View) -> tuple[Recorded, str]:
    """Run a model on the view's text or pair; if it refuses the pair, on the first text, with the reason.

    Raises:
        ValueError: the model refuses the text.
        ModelFailedError: the model failed.
    """
    text = model.as_chat(view.text) if view[CHAT] and model.info.has_chat else view.text
    if not view.pair:
        return record(model, text, view.mask), ""
    try:
        return record(model, text, view.mask, view.pair), ""
    except ValueError as reason:
        return record(model, text, view.mask), str(reason)


def token_in(view: View) -> Token | None:
    """Return the token in focus, chosen or not; None if there is none, or the model is not in memory."""
    if view.model not in shelf().in_memory():
        return None
    model = model_or_reason(view.model)
    if isinstance(model, ModelUnavailableError):
        return None
    try:
        recorded = run(model, view)[0]
    except (ValueError, ModelFailedError, ModelUnavailableError):
        return None
    name = recorded.trace.info.part_or_whole(view.part)
    part = recorded.trace.part(name)
    word = first_word_of(recorded.key, name, part) if view.word is None else view.word
    return part.tokens[word] if word < len(part.tokens) else None


def spot_in(view: View) -> Spot | None:
    """Return the chosen word's place in the text; None if none is chosen, or it covers no characters."""
    return view.spot if view.word is None else shown_spot(view)


def shown_spot(view: View) -> Spot | None:
    """Return the place in the text of the word in focus, chosen or not; None if it covers no characters."""
    # A decoder's output and a chat template are not part of the text.
    if view.spot is not None or view.part != "encoder" or view[CHAT]:
        return view.spot
    token = token_in(view)
    return None if token is None else spot_of(token)
