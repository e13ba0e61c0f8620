"""One step on the page: formula, words and the opened cell on the left, the picture on the right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.figures.chart import parts_chart, spread_chart
from attention.figures.matrix import Cell
from attention.lesson.course import STEP_KEYS, STEPS, Step, step_of
from attention.lesson.details import Detail, detail
from attention.lesson.guessed import tell_mostly_guessed
from attention.lesson.heads import head_thumbs
from attention.lesson.pictures import matrices
from attention.lesson.scene import Scene
from attention.lesson.tables import matrix_table, shapes, token_table
from attention.lesson.telling import formula, heading, tell
from attention.snippets import Library, snippet
from attention.ui import components, frame, markup, state
from attention.ui.cache import Address
from attention.ui.downloads import Table, csv_button
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["head_grids", "show", "steps_line", "unavailable"]

_PANELS = ("Shapes", "NumPy", "PyTorch", "Table")
# A table of more columns or rows than this is for a spreadsheet, not for a screen.
MAX_TABLE = 64
# So many matrices of vectors have room side by side.
MAX_IN_A_ROW = 3


def steps_line(view: View) -> None:
    """Draw where one is among the nine steps, and the way back and on (arrow keys do the same)."""
    components.stepper([(step.key, step.name) for step in STEPS], view.step, key="stepper", on_choose=_go)


def show(view: View, panes: list[Pane]) -> None:
    """Draw the step for every pane; two models stand side by side at the same step."""
    step = step_of(view.step)
    if len(panes) == 1:
        _show_one(view, step, panes[0])
        return
    for pane, column in zip(panes, st.columns(2, gap="large"), strict=False):
        with column:
            st.subheader(pane.info.name, anchor=False)
            with st.container(horizontal=True):
                frame.place_choice(pane)
            _heading(step, pane)
            _picture(view, pane)
            _words(step, pane)
            _opened_cell(step, pane)
            _panel(step, pane)


def _show_one(view: View, step: Step, pane: Pane) -> None:
    """Words and the opened cell on the left, picture and code on the right; all in one column where it is narrow."""
    with st.container(key="step"):
        left, right = st.container(key="step_left"), st.container(key="step_right")
    with left, st.container(key="step_words"):
        _heading(step, pane)
        _words(step, pane)
    # Before the opened cell, whose bars and table take a new server a while.
    with right, st.container(key="step_picture"):
        _picture(view, pane)
    with left, st.container(key="step_detail"):
        _opened_cell(step, pane)
    with right, st.container(key="step_panel"):
        _panel(step, pane)


def head_grids(view: View, panes: list[Pane]) -> None:
    """Draw the weights of all heads of the layer, small, from the step on at which heads differ."""
    if STEP_KEYS.index(view.step) < STEP_KEYS.index("qkv"):
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
    number = STEP_KEYS.index(step.key) + 1
    named = step.heading if pane.scene is None else heading(step, pane.scene)
    # Two panes have the same heading, whose text would be the id of both.
    st.header(f"{number}. {named}", anchor=f"beside-{step.key}" if pane.is_other else False)
    with st.container(key=f"formula_{pane.name}"):
        st.latex(step.formula if pane.scene is None else formula(step, pane.scene))


def _words(step: Step, pane: Pane) -> None:
    scene = pane.scene
    if scene is None:
        return
    markup.prose(tell(step.key, scene))
    # At the first step the words are named; at the others it matters only where it is most of them.
    mostly_guessed = "" if step.key == STEP_KEYS[0] else tell_mostly_guessed(scene)
    if mostly_guessed:
        markup.prose(mostly_guessed, is_aside=True)


def _opened_cell(step: Step, pane: Pane) -> None:
    """Draw how the opened cell came about, and at the scaling step how far the scores are spread."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        return
    explained = detail(scene)
    if explained is not None:
        _detail(explained, pane.name, address)
    if step.key == "scale":
        is_closer = scene.attention.scale < 1
        data = spread_chart(scene.steps.scores, scene.steps.scaled_scores, is_closer=is_closer)
        components.chart(data, key=f"{pane.name}_spread")


def _picture(view: View, pane: Pane) -> None:
    scene = pane.scene
    if scene is None:
        unavailable(pane)
        return
    if view.step == STEP_KEYS[0]:
        if scene.is_cross:
            st.caption("What is written asks")
        components.token_strip(
            scene.tokens, scene.word, key=f"{pane.name}_tokens", on_choose=partial(_focus, pane.is_other)
        )
        if scene.is_cross:
            st.caption("What was read is asked")
            components.token_strip(scene.key_tokens, None, key=f"{pane.name}_read", label="Tokens that were read")
        return
    pictures = matrices(view.step, scene)
    is_row = view.step in ("qkv", "scale", "sum")
    n_columns = min(len(pictures), MAX_IN_A_ROW)
    places = [
        place
        for _ in range(0, len(pictures), n_columns)
        for place in (st.columns(n_columns) if is_row else [st.container() for _ in range(n_columns)])
    ]
    for picture, place in zip(pictures, places, strict=False):
        with place:
            # Where rows are tokens that ask, a chosen one comes into focus.
            is_focus = not pane.is_other and picture.focus_row is not None
            on_select = partial(_open_cell, pane.is_other, is_focus)
            components.matrix(picture, key=f"{pane.name}_{picture.name}", on_select=on_select)


def _detail(explained: Detail, name: str, address: Address) -> None:
    with st.container(border=True, key=f"{name}_detail"):
        markup.prose(explained.title + explained.note, is_detail=True)
        if len(explained.parts):
            data = parts_chart(explained.labels, explained.parts, explained.axis, are_weights=explained.are_weights)
            components.chart(data, key=f"{name}_parts")
        # Made only once it is open: a table is much to make, and much for a browser to fetch.
        with st.expander("These parts as a table", key=f"{name}_parts_open", on_change="rerun") as place:
            if place.open:
                _table(explained.table(), f"{name}_parts", "parts", _parts, address)


def _parts(scene: Scene) -> Table:
    explained = detail(scene)
    # The address is of a scene with an opened cell.
    assert explained is not None
    return explained.table()


def _panel(step: Step, pane: Pane) -> None:
    """Draw what is one click away: shapes, code and table."""
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        return
    with st.container(border=True, key=f"{pane.name}_more"):
        chosen = st.segmented_control(
            "More about this step",
            _PANELS,
            default=_PANELS[0],
            key=f"{pane.name}_panel",
            required=True,
            label_visibility="collapsed",
        )
        if chosen == "Shapes":
            markup.shapes_line(shapes(step.key, scene))
        elif chosen == "Table":
            pictures = matrices(step.key, scene)
            tables = [(picture.name, matrix_table(picture)) for picture in pictures]
            for name, columns in tables or _token_tables(scene):
                _table(columns, f"{pane.name}_{name}", name, partial(_columns, step.key, name), address)
        else:
            library: Library = "numpy" if chosen == "NumPy" else "pytorch"
            row, column = _printed_cell(step, scene)
            st.code(snippet(step.key, library, scene.trace, scene.layer, scene.head, row, column))


def _columns(step: str, name: str, scene: Scene) -> Table:
    """Return one table of a step, by its name."""
    for picture in matrices(step, scene):
        if picture.name == name:
            return matrix_table(picture)
    return dict(_token_tables(scene))[name]


def _token_tables(scene: Scene) -> list[tuple[str, dict[str, list[str]]]]:
    tables = [("tokens", token_table(scene.tokens))]
    return [*tables, ("read", token_table(scene.key_tokens))] if scene.is_cross else tables


def _printed_cell(step: Step, scene: Scene) -> tuple[int, int | None]:
    """Return the row whose numbers the code prints, and the opened cell's column where both name tokens."""
    if scene.cell is not None and step.key in ("scores", "scale", "mask", "softmax"):
        return scene.cell.row, scene.cell.column
    return scene.word, None


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
    state.change(lambda view: view.with_step(step))


# What a session keeps with its choices: which pane they belong to, and not the pane itself, which holds a trace.


def _focus(is_other: bool, word: int) -> None:
    if not is_other:
        state.change(lambda view: view.with_word(word))


def _choose_head(is_other: bool, head: int) -> None:
    state.set_pane(is_other, lambda place: replace(place, head=head))


def _open_cell(is_other: bool, is_focus: bool, cell: Cell) -> None:
    """Open a cell, and perhaps bring its row into focus."""
    state.set_pane(is_other, lambda place: replace(place, cell=cell), word=cell.row if is_focus else None)
