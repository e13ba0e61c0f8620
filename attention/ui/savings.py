"""What grouped queries save and change, beside the heads that share keys and values, or could."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.lesson.savings import (
    PRESETS,
    savings_table,
    shared,
    shared_pictures,
    sizes_of,
    tell_savings,
    tell_shared,
)
from attention.lesson.scene import Scene
from attention.lesson.steps import step_of
from attention.lesson.tables import matrix_table
from attention.settings import SAVINGS, SIZES
from attention.ui import choices, components, markup
from attention.ui.cache import Address
from attention.ui.downloads import Table, csv_button
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["show"]

_TITLE = "What grouped queries save"


def show(view: View, panes: Sequence[Pane]) -> None:
    """Draw, at the step that makes queries, keys and values, what it would mean if heads shared the latter two."""
    pane = next(pane for pane in panes if not pane.is_other) if panes else None
    if "savings" not in step_of(view.step).extras or pane is None or pane.scene is None or pane.address is None:
        return
    scene = pane.scene
    is_open = view[SAVINGS]
    # Worked out only where it is open: a page of its own for models of which no heads share.
    place = choices.opening(
        SAVINGS,
        _TITLE,
        value=scene.info.group_size > 1 if is_open is None else is_open,
        key=f"savings_{scene.info.model_id}",
    )
    if place is not None:
        with place:
            _costs(view, scene)
            _changes(scene, pane.address)


def _costs(view: View, scene: Scene) -> None:
    # The model's own have no name in a link: they are those of whatever model is looked at.
    presets = {SIZES.default: sizes_of(scene.trace), **{sizes.name: sizes for sizes in PRESETS}}
    choices.one_of(SIZES, "Sizes of", list(presets), format_func=lambda name: presets[name].name)
    sizes = presets[view[SIZES]]
    left, right = st.columns(2, gap="large")
    with left:
        markup.prose(tell_savings(sizes), is_aside=True)
    with right:
        st.dataframe(savings_table(sizes), hide_index=True, key="savings_table")


def _changes(scene: Scene, address: Address) -> None:
    variants = shared(scene)
    if len(variants) < 2:
        return
    markup.prose(tell_shared(scene, variants), is_aside=True)
    pictures = shared_pictures(scene, variants)
    for picture, place in zip(pictures, st.columns(len(pictures), gap="large"), strict=True):
        with place:
            components.matrix(picture, key=picture.name)
            csv_button(picture.name, partial(_table, picture.name), address)


def _table(name: str, scene: Scene) -> Table:
    pictures = {picture.name: picture for picture in shared_pictures(scene, shared(scene))}
    return matrix_table(pictures[name])
