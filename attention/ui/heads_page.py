"""All heads at once: the atlas, one head large, what it does, and the table of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.export import head_view_html, matrix_html, matrix_svg, trace_npz
from attention.figures.atlas import Atlas, Head
from attention.figures.head_view import HeadView
from attention.figures.matrix import Cell, Matrix
from attention.lesson.behaviour import describe, head_table, in_short
from attention.lesson.prose import lesson
from attention.lesson.scene import Scene
from attention.lesson.survey import (
    HIDE_NAMES,
    SORT_NAMES,
    Look,
    Survey,
    head_matrix,
    layer_lines,
    order,
    place,
)
from attention.lesson.tables import to_csv
from attention.ui import components, state, text
from attention.ui.atlas import atlas
from attention.ui.cache import survey_of
from attention.ui.frame import Pane
from attention.ui.head_view import head_view
from attention.view import View

__all__ = ["look_choices", "show"]

_HIDE_LABELS = {
    "nothing": "nothing",
    "special": "[CLS], [SEP]",
    "punctuation": "[CLS], [SEP], punctuation",
}
_SORT_LABELS = {
    "layer": "layer",
    "entropy": "entropy",
    "pattern": "pattern",
    "similarity": "likeness",
}


def look_choices(view: View) -> None:
    """Draw how the heads are sorted, and how their weights are looked at."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        st.session_state["sort"] = view.sort
        st.segmented_control(
            "Sort by", SORT_NAMES, format_func=_SORT_LABELS.__getitem__, key="sort", required=True, on_change=_set_sort
        )
        st.session_state["hide"] = view.look.hide
        st.selectbox(
            "Hide",
            HIDE_NAMES,
            format_func=_HIDE_LABELS.__getitem__,
            key="hide",
            on_change=_set_look,
            args=("hide",),
            width=230,
        )
        st.session_state["words"] = view.look.words
        st.toggle("Whole words", key="words", on_change=_set_look, args=("words",))
        st.session_state["renormalise"] = view.look.renormalise
        st.toggle(
            "Rows sum to 1 again",
            key="renormalise",
            help="Divides each row by its sum, once something is hidden.",
            on_change=_set_look,
            args=("renormalise",),
            disabled=view.look.hide == "nothing",
        )


def show(view: View, pane: Pane) -> None:
    """Draw the atlas of one model, and the chosen head beside what it does."""
    scene = pane.scene
    if scene is None:
        return
    current = (scene.layer, scene.head)
    with st.spinner("Looking at all heads …", show_time=True):
        surveyed = survey_of(scene.trace, view.mask, view.look)
        arranged = order(view.sort, surveyed, scene.trace, view.look, current)
    text.prose(lesson("all-heads"))
    _say_look(view.look, surveyed)
    picture = Atlas(
        tiles=surveyed.tiles,
        groups=arranged.groups,
        title=f"{pane.info.name}: {len(surveyed.summaries)} heads",
        alt=f"All {len(surveyed.summaries)} heads of {pane.info.name} as small heatmaps.",
        current=current,
        descriptions={place(summary): in_short(summary) for summary in surveyed.summaries},
        badges=arranged.badges,
        badge_name=_SORT_LABELS[view.sort],
    )
    atlas(picture, key="atlas", on_choose=_choose)
    _one_head(view, scene, surveyed, current)
    _table(surveyed)


def _one_head(view: View, scene: Scene, surveyed: Survey, current: Head) -> None:
    st.header(f"Layer {current[0] + 1}, head {current[1] + 1}", anchor=False)
    text.prose(describe(surveyed.summary(current)))
    with st.expander("The rules behind the labels"):
        text.prose(lesson("patterns"))
    with st.container(key="way_in_steps"):
        query = replace(view, step="softmax").to_query()
        st.page_link("pages/step_by_step.py", label="Step through this head ▸", query_params=query)
    left, right = st.columns(2, gap="large")
    with left:
        is_mean = st.toggle("The layer's mean instead of its heads", key="lines_mean")
        lines = layer_lines(scene, view.look, current[1], is_mean=is_mean)
        head_view(lines, key="head_view")
    with right:
        picture = head_matrix(scene, view.look, current[1])
        components.matrix(picture, key="head_matrix", on_select=_open_weight)
    _downloads(scene, lines, picture)


def _downloads(scene: Scene, lines: HeadView, picture: Matrix) -> None:
    """Offer what can be taken away; each file is made when somebody asks for it."""
    title = scene.trace.text
    caption = f"{scene.info.name}, layer {scene.layer + 1}, head {scene.head + 1}"
    files: list[tuple[str, str, str, Callable[[], str | bytes]]] = [
        ("Lines, a page of its own", "lines.html", "text/html", lambda: head_view_html(lines, title, caption)),
        ("Heatmap, a page of its own", "heatmap.html", "text/html", lambda: matrix_html(picture, title, caption)),
        ("Heatmap, SVG", "heatmap.svg", "image/svg+xml", lambda: matrix_svg(picture)),
        ("All weights, NumPy", "trace.npz", "application/octet-stream", lambda: trace_npz(scene.trace)),
    ]
    st.caption("Take it with you: the pages need no server and no network.")
    with st.container(horizontal=True):
        for label, name, mime, make in files:
            st.download_button(label, data=make, file_name=name, mime=mime, key=name, on_click="ignore")


def _say_look(look: Look, surveyed: Survey) -> None:
    """Say what the pictures do not show as it is: nothing is changed in silence."""
    notes = []
    if look.words:
        notes.append("Pieces are merged into words: to a word, the sum over its pieces; from a word, their mean.")
    if look.hide != "nothing":
        kept = "each row divided by its sum" if look.renormalise else "rows not made to sum to 1 again"
        notes.append(f"Hidden: {_HIDE_LABELS[look.hide]}; {kept}.")
    if max(surveyed.tiles.block) > 1:
        rows, columns = surveyed.tiles.block
        notes.append(f"The text is long: each pixel is the largest weight of {rows}×{columns}.")
    if notes:
        st.caption(" ".join(notes))


def _table(surveyed: Survey) -> None:
    st.header("All heads as a table", anchor=False)
    table = head_table(surveyed.summaries)
    st.dataframe(table, hide_index=True, key="heads_table")
    st.download_button(
        "heads.csv",
        data=lambda: to_csv({name: list(map(str, column)) for name, column in table.items()}).encode("utf-8-sig"),
        file_name="heads.csv",
        mime="text/csv",
        on_click="ignore",
    )


def _choose(layer: int, head: int) -> None:
    state.set_pane(False, lambda pane: replace(pane, layer=layer, head=head, cell=None))


def _open_weight(cell: Cell) -> None:
    if not state.current().look.words:
        state.change(lambda view: view.with_word(cell.row))


def _set_sort() -> None:
    sort = state.chosen("sort")
    if sort is not None:
        state.change(lambda view: replace(view, sort=sort))


def _set_look(part: str) -> None:
    value = state.chosen(part)
    if value is not None:
        state.change(lambda view: replace(view, look=replace(view.look, **{part: value})))
