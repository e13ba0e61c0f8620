"""What every page has in the same place: the sentence, the model, the layer, the head, the mask, the word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import streamlit as st

from attention.content.pane import Pane, proven
from attention.content.registry import CONTENTS
from attention.kinds import Second
from attention.lesson import steps
from attention.lesson.scene import Scene
from attention.messages import message
from attention.models import ModelInfo, get_info
from attention.pages import STEP_BY_STEP, Page
from attention.settings import BESIDE, MASK, PAIR, PART, STEP, TEXT, WORD, masks_of
from attention.trace import PARTS
from attention.ui import choices, components, drawing, fields, markup, model_choice, running, state
from attention.ui.cache import settle
from attention.ui.masthead import masthead, notices
from attention.view import View

__all__ = [
    "begin",
    "controls",
    "finish",
    "has_input",
    "open_pane",
    "open_panes",
    "pair_field",
    "place_choice",
    "read_pairs",
    "show",
]

_ASSETS = Path(__file__).resolve().parents[2] / "assets"


def read_pairs(name: str) -> dict[str, tuple[str, str]]:
    """Read pairs of sentences from a file of the assets, a pair on each line, by what is written there."""
    lines = (_ASSETS / name).read_text("utf-8").splitlines()
    return {line: (first, second) for line in lines for first, second in [line.split(" | ")]}


_PAIRS = read_pairs("pairs.txt")


def begin(
    page: Page,
    *,
    second_field: Callable[[View], None] | None = None,
    opening: Callable[[View], View] | None = None,
) -> View:
    """Set the page up and draw its head: the way between pages, the sentence, the examples, the notices.

    ``second_field`` draws a page's own field under the sentence; without one, a pair that a link has chosen
    can still be seen and changed. ``opening`` chooses what a link leaves open.
    """
    view = masthead(page, opening)
    with state.group("sentence"):
        fields.draw(view)
        _second_field(view, second_field)
    notices()
    return view


def _second_field(view: View, own: Callable[[View], None] | None) -> None:
    """Draw the field of a second text, where the model takes one."""
    info = get_info(view.model)
    if not info.reading.takes_pair:
        return
    if own not in (None, pair_field):
        own(view)
    elif own is not None or view.pair or info.build.second.is_everywhere:
        pair_field(view)


def has_input(view: View) -> bool:
    """Tell whether there is anything to read; if there is nothing, invite to it."""
    reading = get_info(view.model).reading
    is_empty = reading.is_empty(view.text)
    if is_empty:
        markup.notice(reading.invitation)
    return not is_empty


def open_panes(view: View) -> list[Pane]:
    """Run the chosen model, and the one beside it, on the sentence; none if there is no sentence."""
    if not has_input(view):
        return []
    panes = running.run(view, model_choice.load)
    tell(panes)
    return panes


def tell(panes: Sequence[Pane]) -> None:
    """Say where a link and what was run disagree."""
    for pane in panes:
        for sentence in pane.notices:
            markup.notice(sentence)


def show(page: Page, *, with_pair: bool = False, **look: bool) -> None:
    """Draw a page that is made of blocks; ``look`` says which controls it has (see ``controls``)."""
    content = CONTENTS[page]
    view = begin(page, second_field=pair_field if with_pair else None)
    above = st.container(key="above")
    # Before the model runs, which may take a while: whoever knows the way need not wait for it.
    if page is STEP_BY_STEP:
        with st.container(key="steps_line"):
            names = [(step.key, step.name) for step in steps.STEPS]
            components.stepper(names, view.step, key="stepper", on_choose=state.setter(STEP))
    with above:
        panes = open_panes(content.run_as(view))
        controls(view, panes, **look)
        source = drawing.Source(view, tuple(pane.address for pane in panes if pane.address is not None))
        drawing.draw(content.above(view, panes), source)
    with st.spinner(content.waiting, show_time=True) if content.waiting else nullcontext():
        blocks = content.make(view, panes)
    drawing.draw(blocks, source)
    finish(panes)


def controls(
    view: View, panes: list[Pane], *, with_beside: bool = True, with_word: bool = True, with_parts: bool = True
) -> None:
    """Draw the row of choices: model, mask, layer and head; side by side and a word where a page has them."""
    info = get_info(view.model)
    with state.group("controls"), st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        model_choice.choose()
        if with_parts and info.parts:
            _part_choice()
        if with_beside and info.reading.takes_sentences:
            choices.switch(BESIDE, message("Side by side"))
        names = info.build.mask_names
        choices.select(
            MASK,
            message("Mask"),
            masks_of(info),
            format_func=names.__getitem__,
            help=info.build.mask_help,
            width=95 + 5 * max(map(len, names.values())),
        )
        markup.on_paper(message("Mask: {names}", names=names[view.mask]))
        for pane in panes[:1]:
            if with_word:
                _word_choice(pane)
            if not view.beside:
                place_choice(pane)


def _part_choice() -> None:
    """Draw the choice between the three uses of attention of an encoder–decoder."""
    choices.one_of(
        PART,
        message("Attention"),
        PARTS,
        help=message(
            "encoder: the text that is read looks at itself · decoder: what is written looks at what is before it · "
            "cross: what is written looks at what was read"
        ),
    )


def place_choice(pane: Pane) -> None:
    """Draw the choice of layer and head of one pane."""
    scene, info = pane.scene, pane.info
    if scene is None:
        return
    model_choice.choose_place(info, scene.layer, scene.head, pane.settings)


def finish(panes: Sequence[Pane]) -> None:
    """Draw the proof: a line for each model that ran, which stays in sight."""
    drawing.draw(proven(panes), drawing.Source(state.current()))
    settle()


def pair_field(view: View) -> None:
    """Draw the field of the second text: where both are read as one, with examples."""
    info = get_info(view.model)
    second = info.build.second
    choices.field(
        PAIR,
        second.label,
        take=partial(_take_pair, second),
        placeholder=second.placeholder.format(model=info.name),
        help=second.help,
    )
    if not second.is_joined:
        return
    written = {pair: line for line, pair in _PAIRS.items()}
    choices.pills(
        PAIR,
        message("Pairs"),
        list(_PAIRS),
        key="pair_example",
        value=written.get((view.text, view.pair)),
        take=_take_pair_example,
        label_visibility="collapsed",
    )


def _word_choice(pane: Pane) -> None:
    scene = pane.scene
    if scene is None:
        return
    choices.select(
        WORD,
        scene.info.reading.unit.capitalize(),
        range(len(scene.tokens)),
        format_func=[f"{position} {label}" for position, label in enumerate(scene.labels)].__getitem__,
        value=scene.word,
        width=150,
    )


def open_pane(view: View, info: ModelInfo, *, is_other: bool = False, main: Scene | None = None) -> Pane:
    """Run one model on the sentence; a link that points beside it is answered with a notice."""
    pane = running.run_one(view, info, model_choice.load, is_other=is_other, main=main)
    tell([pane])
    return pane


def _take_pair(second: Second, pair: str) -> None:
    # A second sentence is one thing, and what a decoder writes is another.
    if get_info(state.current().model).build.second == second:
        state.set(PAIR, pair)


def _take_pair_example(example: str) -> None:
    first, second = _PAIRS[example]
    state.set(TEXT, first)
    state.set(PAIR, second)
