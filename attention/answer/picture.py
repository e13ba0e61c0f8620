"""Input for a model of images: a field to draw in, and digits to choose from."""

from __future__ import annotations

from functools import partial

from attention.answer import components, state
from attention.core import pixels
from attention.core.messages import message
from attention.core.reading import Reading
from attention.figures.drawn import Parts
from attention.figures.heads import HeadGrid, HeadThumb
from attention.models import get_info
from attention.page.settings import TEXT, WORD
from attention.page.view import View

_LABEL = message("A digit in 8×8 pixels: arrows move, the space bar changes a pixel.")


def parts(view: View, reading: Reading) -> tuple[components.Part, ...]:
    """Return the field to draw in and the digits to choose from."""
    shown = view.text if reading.recognises(view.text) else reading.blank
    take = partial(_set_drawn, reading)
    drawing = components.Part("drawing", "drawing", {"label": _LABEL, "picture": shown}, {"draw": take})
    thumbs = tuple(map(_thumb, reading.examples, reading.example_names))
    chosen = reading.examples.index(view.text) if view.text in reading.examples else -1
    grid = HeadGrid(thumbs, chosen, message("Example digits"))
    payload, acts = components.of_figure(grid, partial(_set_example, reading))
    return drawing, components.Part(grid.component, "digits", payload, acts)


def _thumb(code: str, digit: str) -> HeadThumb:
    return HeadThumb(digit, pixels.shades(code), is_picture=True)


def _set_drawn(reading: Reading, drawn: object) -> None:
    # A stroke may arrive after the user has chosen a text model.
    is_meant = get_info(state.current().model).reading.is_same(reading)
    if isinstance(drawn, str) and reading.recognises(drawn) and is_meant:
        # Every picture has the same patches, so the one in focus stays.
        state.change(lambda view: view.with_value(TEXT, drawn).replaced(WORD, view.word))


def _set_example(reading: Reading, parts: Parts) -> None:
    _set_drawn(reading, reading.examples[int(str(parts["head"])) - 1])
