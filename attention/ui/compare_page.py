"""Two sentences in one head, or two models on one sentence: both heatmaps, and their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.address import Address
from attention.content.guess import Asked
from attention.content.pane import Pane, missing
from attention.figures.buttons import Button, Buttons
from attention.figures.matrix import Cell
from attention.figures.touch import Parts
from attention.lesson.compare import COMPARE, Comparison, Side, changes_picture, side_of, tell, tell_changes
from attention.lesson.prose import lesson, word
from attention.lesson.scene import Scene
from attention.lesson.tables import matrix_table
from attention.messages import message
from attention.models import get_info, list_models
from attention.parameters import other_model
from attention.settings import (
    BESIDE,
    CELL,
    DEFAULT_TEXT,
    GUESS,
    HEAD,
    LAYER,
    OTHER,
    PAIR,
    PART,
    STEP,
    TEXT,
    VERSUS,
    WORD,
)
from attention.ui import components, drawing, frame, markup, state
from attention.ui.cache import changes_of
from attention.ui.downloads import Table, csv_button
from attention.ui.fields import read_pairs
from attention.ui.lines import Examples, Field, Line
from attention.ui.model_choice import choose_head
from attention.view import View

__all__ = ["controls", "open_panes", "opening", "second", "show"]

_EXAMPLES = read_pairs("comparisons.txt")
_ASK = message("Type a second sentence above, or choose one of the pairs of examples.")


def opening(view: View) -> View:
    """Choose the first pair of examples if the text is the very first example and there is no second sentence."""
    if view.beside or view.versus is not None or view.text != DEFAULT_TEXT:
        return view
    first, second = next(iter(_EXAMPLES.values()))
    return view.having(TEXT, first).having(VERSUS, second)


def second(view: View) -> Field | None:
    """Return the field of the sentence to compare; None where two models are compared."""
    if view.beside:
        return None
    written = list(_EXAMPLES.values())
    here = (view.text, view.versus or "")
    chosen = written.index(here) if here in written else None
    examples = Examples(
        "versus_example", message("Pairs to compare"), list(map(_shortly, _EXAMPLES)), chosen, _take_example
    )
    label, hint = message("Sentence to compare"), message("Type another sentence")
    return Field(VERSUS, label, hint, examples=examples, unlike=TEXT)


def controls(view: View, panes: list[Pane]) -> None:
    """Draw the line of what is compared, and where."""
    line = Line("context", title=view.page.title).group(message("What is looked at"))
    if view.page.is_for(get_info(view.model)):
        labels = (message("two sentences"), message("two models"))
        line.list(BESIDE, message("Compare"), (False, True), labels, take=_take_compared, is_silent=True)
    # Until one is chosen, the head follows from the two sentences: both are chosen together.
    frame.add_controls(line, view, panes, with_beside=False, with_word=False, with_parts=False, is_one_place=True)
    line.draw()


def _shortly(example: str) -> str:
    """Return a pair of examples, in which the second leaves out the words with which both begin."""
    first, second = _EXAMPLES[example]
    pairs = list(zip(first.split(), second.split(), strict=False))
    n_alike = next((index for index, (one, other) in enumerate(pairs) if one != other), len(pairs))
    return f"{first} | {'… ' if n_alike else ''}{' '.join(second.split()[n_alike:])}"


def open_panes(view: View) -> list[Pane]:
    """Run the model on both sentences, or both models on the same sentence."""
    info = get_info(view.model)
    if not view.page.is_for(info):
        markup.not_for(info, message("sets two English sentences side by side"))
        return []
    if not frame.has_input(view):
        return []
    # A pair would be read as one text, and the cell of a step does not exist here.
    plain = view.without(STEP, PAIR, PART, CELL, OTHER.cell)
    main = frame.open_pane(plain, info)
    if view.beside:
        models = {info.model_id: info for info in list_models()}
        other = models[other_model(view.model, models)]
        return [main, frame.open_pane(plain, other, is_other=True, main=main.scene)]
    if not view.versus:
        markup.notice(_ASK)
        return [main]
    versus = plain.but(TEXT, view.versus).but(WORD, None)
    if main.scene is not None:
        # Both sentences are shown in the same head, whichever the second would open by itself.
        versus = versus.but(LAYER, main.scene.layer).but(HEAD, main.scene.head)
    panes = [main, frame.open_pane(versus, main.info)]
    return panes if view[LAYER] is not None or view[HEAD] is not None else _where_most_changes(panes)


def _where_most_changes(panes: list[Pane]) -> list[Pane]:
    """Look at the head that changes most, which is where there is something to see; if none changes, as before."""
    runs = [(pane.address.run, pane.scene.trace) for pane in panes if pane.address is not None and pane.scene]
    if len(runs) < 2:
        return panes
    (first, one), (second, other) = runs
    changed = changes_of((first, second), one, other)
    layer, head = map(int, np.unravel_index(int(changed.argmax()), changed.shape))
    return [_at(pane, layer, head) for pane in panes] if changed.any() else panes


def _at(pane: Pane, layer: int, head: int) -> Pane:
    """Return a pane that looks at another head of the same run."""
    assert pane.scene is not None
    assert pane.address is not None
    scene = Scene(pane.scene.trace, layer, head, pane.scene.word)
    return replace(pane, scene=scene, address=replace(pane.address, layer=layer, head=head))


def show(view: View, panes: list[Pane]) -> None:
    """Draw both heatmaps, their difference and what it says and, for one model, how much every head changes."""
    if view.beside and panes:
        _place_choices(panes)
    scenes = [pane.scene for pane in panes if pane.scene is not None]
    addresses = [pane.address for pane in panes if pane.address is not None]
    for pane in panes:
        drawing.draw(missing(pane.reason), view, f"{pane.name}_missing")
    if scenes and not view.beside and not view.versus:
        _offer_pairs()
        _show_alone(scenes[0])
    if len(scenes) < 2:
        return
    comparison = Comparison(*_sides(scenes, are_models=view.beside))
    selected = _selected(view, comparison)
    asked = _asked(view, comparison, selected)
    markup.prose(lesson("compare/intro-models" if view.beside else "compare/intro"))
    info = scenes[0].info
    for name in filter(None, (info.build.of_heads, "" if view.beside else info.build.of_changes)):
        markup.prose(lesson(name, model=word(info.name)))
    drawing.draw(asked.content(), view, "asked")
    first, second, difference = comparison.pictures(selected)
    left, right = st.columns(2, gap="large")
    with left:
        components.matrix(first, key="first", on_select=_open_cell)
    if asked.is_open:
        return
    with right:
        components.matrix(second, key="second", on_select=_open_cell)
    # Small differences need room for their digits.
    left, right = st.columns((5, 3), gap="large")
    with left:
        components.matrix(difference, key="difference", on_select=_open_cell)
    with right:
        markup.prose(tell(comparison, selected))
        csv_button("difference", partial(_difference_table, view.beside, selected), *addresses)
    # If the two share no word, the change of a head is not defined.
    if not view.beside and comparison.counted.any():
        _changes(scenes, addresses)


def _asked(view: View, comparison: Comparison, selected: tuple[int, int] | None) -> Asked:
    """Ask about the opened pair, if guesses are asked for."""
    if not view[GUESS]:
        return Asked(view)
    nothing = message("There is nothing to guess about this pair: only one of the two has both words.")
    return Asked(view, is_asked=True, guess=comparison.guess(selected), nothing=nothing)


def _difference_table(are_models: bool, selected: tuple[int, int] | None, *scenes: Scene) -> Table:
    return matrix_table(Comparison(*_sides(scenes, are_models=are_models)).pictures(selected)[2])


def _place_choices(panes: list[Pane]) -> None:
    """Draw a layer and a head for each model."""
    for pane, column in zip(panes, st.columns(2, gap="large"), strict=False):
        with column:
            st.subheader(pane.info.name, anchor=False)
            line = Line(f"place_{pane.name}").group(pane.info.name)
            frame.add_place(line, pane)
            line.draw()


def _sides(scenes: Sequence[Scene], *, are_models: bool) -> list[Side]:
    if not are_models:
        first, second = scenes
        return [
            side_of(first, message("The first sentence"), within=message("the first sentence")),
            side_of(second, message("The second sentence"), within=message("the second sentence")),
        ]
    return [
        side_of(
            scene,
            message(
                "{name}, layer {layer}, head {head}", name=scene.info.name, layer=scene.layer + 1, head=scene.head + 1
            ),
            scene.info.name,
        )
        for scene in scenes
    ]


def _selected(view: View, comparison: Comparison) -> tuple[int, int] | None:
    """Return the cell that the link names or, failing that, the one with the largest change."""
    cell, size = view.pane.cell, len(comparison.places)
    if cell is None or cell.matrix != COMPARE:
        return comparison.most_changed()
    if cell.row < size and cell.column < size:
        return cell.row, cell.column
    markup.notice(message("The link points to a cell that this picture does not have: another one is chosen."))
    return comparison.most_changed()


def _changes(scenes: list[Scene], addresses: list[Address]) -> None:
    first, second = scenes
    st.header(message("Every head"), anchor=False)
    changed = changes_of((addresses[0].run, addresses[1].run), first.trace, second.trace)
    markup.prose(tell_changes(changed))
    components.matrix(changes_picture(changed, (first.layer, first.head)), key="changes", on_select=_choose_head)


def _open_cell(cell: Cell) -> None:
    state.set(CELL, Cell(COMPARE, cell.row, cell.column))


def _choose_head(cell: Cell) -> None:
    choose_head(cell.row, cell.column)


def _take_compared(are_models: bool) -> None:
    state.set(BESIDE, are_models)
    state.set(CELL, None)


def _offer_pairs() -> None:
    """Draw the pairs of examples where there is nothing to compare yet."""
    row = tuple(Button(_shortly(each), parts={"pair": str(index)}) for index, each in enumerate(_EXAMPLES))
    components.figure(Buttons(message("Pairs to compare"), row), key="pairs", take=_take_pair)


def _show_alone(scene: Scene) -> None:
    """Draw the first sentence, as it will stand beside the second."""
    side = side_of(scene, message("The first sentence"), within=message("the first sentence"))
    components.matrix(Comparison(side, side).pictures(None)[0], key="first")


def _take_pair(parts: Parts) -> None:
    _take_example(int(str(parts["pair"])))


def _take_example(index: int) -> None:
    first, other = list(_EXAMPLES.values())[index]
    state.set(TEXT, first)
    state.set(VERSUS, other)
