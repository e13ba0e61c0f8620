"""A picture instead of a sentence: the field to draw in, digits to choose, and weights laid over what was drawn."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention import pixels
from attention.figures.heads import HeadThumb
from attention.lesson.picture import overlay, overlay_table, tell_overlay
from attention.lesson.scene import Scene
from attention.models import get_info
from attention.reading import Reading
from attention.settings import HEAD, TEXT, WORD
from attention.ui import components, markup, state
from attention.ui.cache import Address
from attention.ui.components import _is_index
from attention.ui.downloads import Table, csv_button
from attention.ui.files import component
from attention.view import View

__all__ = ["field", "over"]

_DRAWING = component("drawing")
_OVERLAY = component("overlay")
_LABEL = (
    "Draw a digit: a field of 8 by 8 pixels. With the keyboard, arrows move from pixel to pixel, "
    "and the space bar changes one."
)


def field(view: View, reading: Reading) -> None:
    """Draw the field to draw in, and digits to choose from."""
    shown = view.text if reading.recognises(view.text) else reading.blank
    take = partial(_set_drawn, reading)
    left, right = st.columns((1, 2), gap="medium", vertical_alignment="bottom")
    with left:
        components.mount(_DRAWING, "drawing", {"label": _LABEL, "picture": shown}, draw=take)
    with right:
        thumbs = list(map(_thumb, reading.examples, reading.example_names))
        chosen = reading.examples.index(view.text) if view.text in reading.examples else -1
        choose = partial(_set_example, reading)
        components.head_grid(thumbs, chosen, key="digits", on_choose=choose, label="Digits to choose from")


def _thumb(code: str, digit: str) -> HeadThumb:
    return HeadThumb(digit, pixels.shades(code), is_picture=True)


def over(scene: Scene, address: Address) -> None:
    """Draw the weights of the layer's heads over the picture that was read."""
    st.header("Laid over the picture", anchor=False)
    markup.prose(tell_overlay(scene), is_aside=True)
    data = overlay(scene)
    positions = [token.position for token in scene.tokens if not token.is_special]
    components.mount(
        _OVERLAY, "overlay", data.payload(), ask=partial(_ask, positions), choose=partial(_choose, len(data.heads))
    )

    csv_button("overlay", _table, address)


def _table(scene: Scene) -> Table:
    return overlay_table(overlay(scene))


def _set_drawn(reading: Reading, drawn: object) -> None:
    # A stroke may come when a model that reads words has been chosen already.
    is_meant = get_info(state.current().model).reading.is_same(reading)
    if isinstance(drawn, str) and reading.recognises(drawn) and is_meant:
        # Another picture has the same patches, so the one in focus stays.
        state.change(lambda view: view.having(TEXT, drawn).but(WORD, view.word))


def _set_example(reading: Reading, index: int) -> None:
    _set_drawn(reading, reading.examples[index])


def _ask(positions: list[int], index: object) -> None:
    if _is_index(index, len(positions)):
        state.set(WORD, positions[index])


def _choose(n_heads: int, head: object) -> None:
    if _is_index(head, n_heads):
        state.set(HEAD, head)
