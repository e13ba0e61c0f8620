"""The controls of the page Compare: what to compare, and with what."""

from __future__ import annotations

from attention.answer import state
from attention.answer.lines import Examples, Field, Line
from attention.core.messages import message
from attention.page.content.compare import EXAMPLES, shortly
from attention.page.settings import BESIDE, CELL, TEXT, VERSUS
from attention.page.view import View


def second(view: View) -> Field | None:
    """Return the field for the second sentence; None if two models are compared."""
    if view.beside:
        return None
    here = (view.text, view.versus or "")
    chosen = EXAMPLES.index(here) if here in EXAMPLES else None
    labels = [shortly(*pair) for pair in EXAMPLES]
    examples = Examples("versus_example", message("Pairs to compare"), labels, chosen, _take_example)
    label, hint = message("Sentence to compare"), message("Type another sentence")
    return Field(VERSUS, label, hint, examples=examples, unlike=TEXT)


def add_compared(line: Line) -> None:
    """Add the choice between two sentences and two models."""
    labels = (message("two sentences"), message("two models"))
    line.list(BESIDE, message("Compare"), (False, True), labels, take=_take_compared, is_silent=True)


def _take_compared(are_models: bool) -> None:
    state.choose(BESIDE, are_models)
    state.choose(CELL, None)


def _take_example(index: int) -> None:
    first, other = EXAMPLES[index]
    state.choose(TEXT, first)
    state.choose(VERSUS, other)
