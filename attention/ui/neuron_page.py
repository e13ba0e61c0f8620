"""The neuron view: one query, every key, and the numbers that meet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention.figures.matrix import Cell
from attention.figures.neuron import Neuron
from attention.lesson.neuron import NEURON, best_key, key_picture, neuron, pair_table, sum_in_writing, value_picture
from attention.lesson.prose import lesson
from attention.lesson.scene import Scene
from attention.settings import CELL
from attention.ui import components, markup, state, step_view
from attention.ui.components import _is_index
from attention.ui.downloads import csv_button
from attention.ui.files import component
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["show"]

_NEURON = component("neuron")

# The matrices of the steps whose columns are keys: a cell of theirs names a pair of tokens too.
_PAIRWISE = (NEURON, "scores", "scaled", "masked", "weights")


def show(view: View, pane: Pane) -> None:
    """Draw the query in focus against every key, and the chosen key with it, number by number."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        step_view.unavailable(pane)
        return
    key = _key(view, scene)
    markup.prose(lesson(scene.info.reading.lesson("neuron")))
    _picture(neuron(scene, key), key="neuron", on_choose=_choose)
    markup.prose(sum_in_writing(scene, key))
    left, right = st.columns(2, gap="large")
    with left:
        components.matrix(key_picture(scene, key), key="meeting")
    with right:
        components.matrix(value_picture(scene, key), key="handing")
    csv_button("neuron", partial(pair_table, key=key), address)


def _picture(data: Neuron, *, key: str, on_choose: Callable[[int, int], None]) -> None:
    """Draw the neuron view; ``on_choose`` is called with the positions of a query and a key."""
    n_keys = len(data.labels)
    n_queries = n_keys if data.query_labels is None else len(data.query_labels)

    def choose(value: object) -> None:
        if not isinstance(value, dict):
            return
        query, chosen = value.get("query"), value.get("key")
        if _is_index(query, n_queries) and _is_index(chosen, n_keys):
            on_choose(query, chosen)

    components.mount(_NEURON, key, data.payload(), choose=choose)


def _key(view: View, scene: Scene) -> int:
    """Return the key that the link names, else the one that the word in focus looks at most."""
    cell = view.pane.cell
    if cell is None or cell.matrix not in _PAIRWISE or (cell.matrix != NEURON and cell.row != scene.word):
        return best_key(scene)
    if cell.column < len(scene.key_tokens):
        return cell.column
    markup.notice(
        f"The link points to key {cell.column}, and there are {len(scene.key_tokens)} tokens, counted from 0."
    )
    return best_key(scene)


def _choose(query: int, key: int) -> None:
    state.open_cell(CELL, Cell(NEURON, query, key), word=query)
