"""The code lab: attention written five ways, with what each gave on the text that was typed."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.five_ways import WAYS, Result, why_not
from attention.lesson.five_ways import shape_table, tell_five_ways, ways_table
from attention.lesson.scene import Scene
from attention.settings import WAY
from attention.ui import choices, markup, step_view
from attention.ui.cache import Address, five_ways_of
from attention.ui.downloads import Table, csv_button
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["show"]


def show(view: View, pane: Pane) -> None:
    """Draw how the five ways agree, and the code and the shapes of one of them."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        step_view.unavailable(pane)
        return
    reason = why_not(scene.attention)
    if reason:
        others = scene.attention.use.others
        markup.notice(f"The five ways cannot stand for this layer of {scene.info.name}: {reason}. Choose {others}.")
        return
    with st.spinner("Running all five …"):
        results = five_ways_of(address, scene)
    markup.prose(tell_five_ways(scene, results))
    st.dataframe(ways_table(results), hide_index=True, key="lab_table")
    csv_button("lab", partial(_table, address), address)
    _one(view, results)


def _table(address: Address, scene: Scene) -> Table:
    return ways_table(five_ways_of(address, scene))


def _one(view: View, results: list[Result]) -> None:
    names = {way.file: way.name for way in WAYS}
    choices.one_of(WAY, "Written as", list(names), format_func=names.__getitem__)
    result = results[list(names).index(view[WAY])]
    left, right = st.columns((3, 1), gap="large")
    with left:
        st.code(result.way.source, language="python")
    with right:
        st.caption("The shapes of its variables, on this text")
        st.dataframe(shape_table(result), hide_index=True, key="lab_shapes", height="content")
