"""What is chosen to be read: each field by the name that ``attention.reading`` gives it, in one registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from attention.lesson.scene import Scene
from attention.models import get_info
from attention.reading import Reading
from attention.settings import TEXT
from attention.ui import choices, picture, state
from attention.ui.cache import Address
from attention.view import View

__all__ = ["FIELDS", "Field", "draw", "show_over"]


@dataclass(frozen=True, slots=True)
class Field:
    """How one field is drawn, and what is drawn over that which was chosen in it, where there is anything."""

    draw: Callable[[View, Reading], None]
    over: Callable[[Scene, Address], None] | None = None


def draw(view: View) -> None:
    """Draw the field of what the model reads."""
    reading = get_info(view.model).reading
    FIELDS[reading.field].draw(view, reading)


def show_over(scenes: Sequence[tuple[Scene | None, Address | None]]) -> None:
    """Draw the weights over what was read, where its field knows how; each scene comes with its address."""
    for scene, address in scenes:
        if scene is None or address is None:
            continue
        over = FIELDS[scene.info.reading.field].over
        if over is not None:
            over(scene, address)


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
        "Examples",
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


FIELDS: Mapping[str, Field] = MappingProxyType(
    {"sentence": Field(_sentence), "drawing": Field(picture.field, picture.over)}
)
