"""The head of every page: its title in the tab, the way between pages, and the link to share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.lesson.compare import COMPARE
from attention.lesson.neuron import NEURON
from attention.ui import markup, share, state
from attention.view import View

__all__ = ["WANTED", "masthead", "notices"]

_PAGES = (
    ("app.py", "What this is"),
    ("pages/step_by_step.py", "Step by step"),
    ("pages/all_heads.py", "All heads"),
    ("pages/neuron_view.py", "Neuron view"),
    ("pages/compare.py", "Compare"),
    ("pages/many_sentences.py", "Many sentences"),
    ("pages/syntax_check.py", "Syntax check"),
    ("pages/code_lab.py", "Code lab"),
    ("pages/models.py", "Models"),
)
# What a link to the page of models says of one that is wanted and not here.
WANTED = "get"
# Pages that have cells of their own, which no step has.
_OWN_CELLS = {"pages/neuron_view.py": NEURON, "pages/compare.py": COMPARE}


def masthead(title: str, opening: Callable[[View], View] | None = None) -> View:
    """Set the page up, read its view, and draw the way to the other pages, which takes the view along.

    ``opening`` chooses what a link leaves open.
    """
    st.set_page_config(page_title=f"{title} · attention step by step", page_icon="🔎", layout="wide")
    view = state.open_page(title, opening)
    taken, kept = state.taken_along(), state.kept()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masthead"):
        for path, label in _PAGES:
            st.page_link(path, label=label, query_params=_seen_from(path, taken).shown_on(label, kept).to_query())
        share.copy_link()
    return view


def notices() -> None:
    """Say what is wrong with the link or the text; a model that is not here may be fetched."""
    for sentence in state.notices():
        markup.notice(sentence)
    wanted = state.wanted_model()
    if wanted:
        query = {**state.current().to_query(), WANTED: wanted}
        with st.container(key="way_in_models"):
            st.page_link(
                "pages/models.py", label=f"Look for {markup.plain(wanted)} among the models ▸", query_params=query
            )


def _seen_from(path: str, view: View) -> View:
    """Return the view that a link to another page takes along: a cell that page does not know stays behind."""
    cell = view.pane.cell
    is_strange = cell is not None and cell.matrix in _OWN_CELLS.values() and cell.matrix != _OWN_CELLS.get(path)
    return replace(view, pane=replace(view.pane, cell=None)) if is_strange else view
