"""One step on the page: formula, words and the opened cell on the left, the picture on the right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention import settings
from attention.figures.chart import parts_chart
from attention.figures.matrix import Cell
from attention.lesson import steps
from attention.lesson.detail import Detail
from attention.lesson.excerpt import Excerpt
from attention.lesson.heads import head_thumbs
from attention.lesson.scene import Scene
from attention.lesson.steps import step_of
from attention.lesson.steps.base import Step, Strip
from attention.settings import PANELS, STEP, WORD, Panel
from attention.ui import choices, components, frame, markup, state
from attention.ui.cache import Address
from attention.ui.downloads import Table, csv_button
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["head_grids", "show", "steps_line", "unavailable"]

_PANEL_LABELS: dict[Panel, str] = {"shapes": "Shapes", "numpy": "NumPy", "pytorch": "PyTorch", "table": "Table"}
# A table of more columns or rows than this is for a spreadsheet, not for a screen.
MAX_TABLE = 64
# So many matrices of vectors have room side by side.
MAX_IN_A_ROW = 3


def steps_line(view: View) -> None:
    """Draw where one is among the steps, and the way back and on (arrow keys do the same)."""
    components.stepper([(step.key, step.name) for step in steps.STEPS], view.step, key="stepper", on_choose=_go)


def show(view: View, panes: list[Pane]) -> None:
    """Draw the step for every pane; two models stand side by side at the same step."""
    step = step_of(view.step)
    if len(panes) == 1:
        _show_one(step, panes[0])
        return
    for pane, column in zip(panes, st.columns(2, gap="large"), strict=False):
        with column:
            st.subheader(pane.info.name, anchor=False)
            with st.container(horizontal=True):
                frame.place_choice(pane)
            _heading(step, pane)
            _picture(step, pane)
            _words(step, pane)
            _opened_cell(step, pane)
            _panel(step, pane)


def _show_one(step: Step, pane: Pane) -> None:
    """Words and the opened cell on the left, picture and code on the right; all in one column where it is narrow."""
    with st.container(key="step"):
        left, right = st.container(key="step_left"), st.container(key="step_right")
    with left, st.container(key="step_words"):
        _heading(step, pane)
        _words(step, pane)
    # Before the opened cell, whose bars and table take a new server a while.
    with right, st.container(key="step_picture"):
        _picture(step, pane)
    with left, st.container(key="step_detail"):
        _opened_cell(step, pane)
    with right, st.container(key="step_panel"):
        _panel(step, pane)


def head_grids(view: View, panes: list[Pane]) -> None:
    """Draw the weights of all heads of the layer, small, at the steps that differ from head to head."""
    if not step_of(view.step).has_head_grid:
        return
    for pane in panes:
        if pane.scene is not None:
            _head_grid(pane, pane.scene)


def _head_grid(pane: Pane, scene: Scene) -> None:
    st.subheader(f"{pane.info.name}: all heads of layer {scene.layer + 1}", anchor=False)
    components.head_grid(
        head_thumbs(scene),
        scene.head,
        key=f"{pane.name}_heads",
        on_choose=partial(_choose_head, pane.is_other),
    )


def unavailable(pane: Pane) -> None:
    """Say in a model's place why it is not there, and the command that mends it."""
    if pane.reason is None:
        return
    markup.unavailable(str(pane.reason), pane.reason.remedy)


def _heading(step: Step, pane: Pane) -> None:
    # Two panes have the same heading, whose text would be the id of both.
    st.header(
        f"{steps.number_of(step)}. {step.heading(pane.scene)}", anchor=f"beside-{step.key}" if pane.is_other else False
    )
    with st.container(key=f"formula_{pane.name}"):
        st.latex(step.formula(pane.scene))


def _words(step: Step, pane: Pane) -> None:
    scene = pane.scene
    if scene is None:
        return
    markup.prose(step.words(scene))
    aside = step.aside(scene)
    if aside:
        markup.prose(aside, is_aside=True)


def _opened_cell(step: Step, pane: Pane) -> None:
    """Draw how the opened cell came about, and the charts that a step has besides."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        return
    explained = step.detail(scene)
    if explained is not None:
        _detail(step, explained, pane, address)
    for name, chart in step.charts(scene).items():
        components.chart(chart, key=f"{pane.name}_{name}")


def _picture(step: Step, pane: Pane) -> None:
    scene = pane.scene
    if scene is None:
        unavailable(pane)
        return
    for strip in step.strips(scene):
        _strip(strip, pane)
    pictures = step.matrices(scene)
    if not pictures:
        return
    n_columns = min(len(pictures), MAX_IN_A_ROW)
    places = [
        place
        for _ in range(0, len(pictures), n_columns)
        for place in (st.columns(n_columns) if step.is_side_by_side else [st.container() for _ in range(n_columns)])
    ]
    for picture, place in zip(pictures, places, strict=False):
        with place:
            # Where rows are tokens that ask, a chosen one comes into focus.
            is_focus = not pane.is_other and picture.focus_row is not None
            on_select = partial(_open_cell, pane.is_other, is_focus)
            components.matrix(picture, key=f"{pane.name}_{picture.name}", on_select=on_select)


def _strip(strip: Strip, pane: Pane) -> None:
    if strip.caption:
        st.caption(strip.caption)
    take = None if strip.focus is None else partial(_focus, pane.is_other)
    key = f"{pane.name}_{strip.name}"
    components.token_strip(strip.tokens, strip.focus, key=key, on_choose=take, label=strip.label)


def _detail(step: Step, explained: Detail, pane: Pane, address: Address) -> None:
    name = pane.name
    with st.container(border=True, key=f"{name}_detail"):
        markup.prose(explained.title + explained.note, is_detail=True)
        if len(explained.parts):
            data = parts_chart(explained.labels, explained.parts, explained.axis, are_weights=explained.are_weights)
            components.chart(data, key=f"{name}_parts")
        # Made only once it is open: a table is much to make, and much for a browser to fetch.
        place = choices.opening(pane.settings.table, "These parts as a table", key=f"{name}_parts_open")
        if place is not None:
            with place:
                _table(explained.table(), f"{name}_parts", "parts", partial(_parts, step.key), address)


def _parts(step: str, scene: Scene) -> Table:
    explained = step_of(step).detail(scene)
    # The address is of a scene with an opened cell.
    assert explained is not None
    return explained.table()


def _panel(step: Step, pane: Pane) -> None:
    """Draw what is one click away: shapes, code and table."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        return
    with st.container(border=True, key=f"{pane.name}_more"):
        choices.one_of(
            pane.settings.panel,
            "More about this step",
            PANELS,
            format_func=_PANEL_LABELS.__getitem__,
            key=f"{pane.name}_panel",
            label_visibility="collapsed",
        )
        chosen = state.current()[pane.settings.panel]
        if chosen == "shapes":
            markup.shapes_line(step.shapes(scene))
        elif chosen == "table":
            for name, make in step.tables(scene).items():
                _table(make(), f"{pane.name}_{name}", name, partial(_columns, step.key, name), address)
        else:
            st.code(step.code(Excerpt(chosen, scene, *step.printed_cell(scene))))


def _columns(step: str, name: str, scene: Scene) -> Table:
    """Return one table of a step, by its name."""
    return step_of(step).tables(scene)[name]()


def _table(
    columns: dict[str, list[str]], key: str, name: str, make: Callable[[Scene], Table], address: Address
) -> None:
    """Show a table, if it can be read here, and offer it as CSV, which ``make`` makes anew."""
    n_rows = max(map(len, columns.values()))
    if n_rows <= MAX_TABLE and len(columns) <= MAX_TABLE:
        st.dataframe(columns, hide_index=True, key=f"{key}_table")
    else:
        markup.notice(f"{name}: {n_rows} × {len(columns) - 1} numbers are too many to read here; take the CSV.")
    csv_button(name, make, address, key=f"{key}_csv")


def _go(step: str) -> None:
    state.set(STEP, step)


# What a session keeps with its choices: which pane they belong to, and not the pane itself, which holds a trace.


def _focus(is_other: bool, word: int) -> None:
    if not is_other:
        state.set(WORD, word)


def _choose_head(is_other: bool, head: int) -> None:
    state.set((settings.OTHER if is_other else settings.MAIN).head, head)


def _open_cell(is_other: bool, is_focus: bool, cell: Cell) -> None:
    """Open a cell, and perhaps bring its row into focus."""
    pane = settings.OTHER if is_other else settings.MAIN
    state.open_cell(pane.cell, cell, word=cell.row if is_focus else None)
