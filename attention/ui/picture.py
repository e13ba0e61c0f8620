"""A picture instead of a sentence: the field to draw in, digits to choose, and weights laid over what was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.components.v2 import component

from attention import pixels
from attention.examples import DIGITS
from attention.figures.heads import HeadThumb
from attention.lesson.picture import overlay, overlay_table, tell_overlay
from attention.lesson.scene import Scene
from attention.models import get_info
from attention.ui import components, markup, state
from attention.ui.cache import Address
from attention.ui.components import _css, _is_index, _read
from attention.ui.downloads import Table, csv_button
from attention.view import View

__all__ = ["BLANK", "field", "show"]

BLANK = "0" * pixels.SIDE**2

_DRAWING = component("attention_drawing", css=_css("drawing"), js=_read("base.js", "colours.js", "drawing.js"))
_OVERLAY = component("attention_overlay", css=_css("overlay"), js=_read("base.js", "colours.js", "overlay.js"))
_LABEL = (
    "Draw a digit: a field of 8 by 8 pixels. With the keyboard, arrows move from pixel to pixel, "
    "and the space bar changes one."
)


def field(view: View) -> None:
    """Draw the field to draw in, and digits to choose from."""
    shown = view.text if is_picture(view.text) else BLANK
    left, right = st.columns((1, 2), gap="medium", vertical_alignment="bottom")
    with left:
        components.mount(_DRAWING, "drawing", {"label": _LABEL, "picture": shown}, draw=_set_drawn)
    with right:
        thumbs = [_thumb(code, digit) for code, digit in DIGITS.items()]
        chosen = list(DIGITS).index(view.text) if view.text in DIGITS else -1
        components.head_grid(thumbs, chosen, key="digits", on_choose=_set_digit, label="Digits to choose from")


def _thumb(code: str, digit: str) -> HeadThumb:
    return HeadThumb(digit, pixels.shades(code), is_picture=True)


def is_picture(written: str) -> bool:
    """Tell whether a text is a picture."""
    try:
        pixels.parse(written)
    except ValueError:
        return False
    return True


def show(scenes: Sequence[tuple[Scene | None, Address | None]]) -> None:
    """Draw the weights of the layer's heads over the picture that was read; each scene comes with its address."""
    for scene, address in scenes:
        if scene is None or address is None or scene.info.reads != "picture":
            continue
        st.header("Laid over the picture", anchor=False)
        markup.prose(tell_overlay(scene), is_aside=True)
        _overlay(scene, address)


def _overlay(scene: Scene, address: Address) -> None:
    data = overlay(scene)
    positions = [token.position for token in scene.tokens if not token.is_special]
    components.mount(
        _OVERLAY, "overlay", data.payload(), ask=partial(_ask, positions), choose=partial(_choose, len(data.heads))
    )

    csv_button("overlay", _table, address)


def _table(scene: Scene) -> Table:
    return overlay_table(overlay(scene))


def _set_drawn(drawn: object) -> None:
    # A stroke may come when a model that reads words has been chosen already.
    reads = get_info(state.current().model).reads
    if isinstance(drawn, str) and is_picture(drawn) and reads == "picture":
        # Another picture has the same patches, so the one in focus stays.
        word = state.current().word
        state.change(lambda view: replace(view.with_text(drawn), word=word))


def _set_digit(index: int) -> None:
    _set_drawn(list(DIGITS)[index])


def _ask(positions: list[int], index: object) -> None:
    if _is_index(index, len(positions)):
        state.change(lambda view: view.with_word(positions[index]))


def _choose(n_heads: int, head: object) -> None:
    if _is_index(head, n_heads):
        state.set_pane(False, lambda pane: replace(pane, head=head))
