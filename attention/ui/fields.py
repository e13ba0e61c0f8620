"""What is chosen to be read: each field by the name that ``attention.reading`` gives it, in one registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from attention.messages import message
from attention.models import get_info
from attention.reading import Reading
from attention.settings import TEXT
from attention.ui import choices, picture, state
from attention.view import View

__all__ = ["FIELDS", "draw"]


def draw(view: View) -> None:
    """Draw the field of what the model reads."""
    reading = get_info(view.model).reading
    FIELDS[reading.field](view, reading)


def _sentence(view: View, reading: Reading) -> None:
    """Draw the field of a sentence, and examples of it."""
    choices.field(
        TEXT,
        "Sentence",
        take=partial(_take_text, reading),
        placeholder=reading.placeholder,
        label_visibility="collapsed",
    )
    choices.pills(
        TEXT,
        message("Examples"),
        reading.examples,
        key="example",
        value=view.text if view.text in reading.examples else None,
        take=partial(_take_text, reading),
        label_visibility="collapsed",
    )


def _take_text(reading: Reading, sentence: str) -> None:
    # What was typed for a model that reads something else is not for the one that has come since.
    if get_info(state.current().model).reading.is_same(reading):
        state.set(TEXT, sentence)


# How each field is drawn.
FIELDS: Mapping[str, Callable[[View, Reading], None]] = MappingProxyType(
    {"sentence": _sentence, "drawing": picture.field}
)
