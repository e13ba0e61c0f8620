"""What every page has in the same place: the sentence, the model, the layer, the head, the mask, the word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial

import streamlit as st

from attention.blocks import Blocks, Progress, Work, walk
from attention.content.pane import Pane, proven
from attention.content.registry import CONTENTS
from attention.content.step_by_step import asks_for_tokens, presented
from attention.lesson import steps
from attention.messages import message
from attention.models import get_info
from attention.pages import STEP_BY_STEP, Page
from attention.parameters import Parameter
from attention.settings import BESIDE, GUESS, HEAD, LAYER, MASK, PART, PRESENT, STEP, WORD, masks_of
from attention.trace import PARTS, Part
from attention.ui import compare_page, components, drawing, jobs, markup, model_choice, running, state
from attention.ui.cache import settle
from attention.ui.files import LEAVES
from attention.ui.lines import Line
from attention.ui.masthead import Second, head_of, is_presented, masthead, no_field, notices
from attention.view import View

__all__ = [
    "all_parts",
    "as_seen",
    "controls",
    "is_quiet",
    "open_panes",
    "show",
]


# How long a page carries on what is measured on many texts, before it says how far that is.
LOOK_SECONDS = 1.0
# The name of the page, if any, on which something goes on that is not a job.
_GOES_ON = "goes_on"


def open_panes(view: View) -> list[Pane]:
    """Run the chosen model, and the one beside it, on the sentence; if there is none, nothing, but invite to it."""
    if running.is_unread(view):
        markup.notice(get_info(view.model).reading.invitation)
        return []
    panes = running.run_page(view, model_choice.load, LOOK_SECONDS)
    tell(panes)
    return panes


def tell(panes: Sequence[Pane]) -> None:
    """Say where a link and what was run disagree."""
    for pane in panes:
        for sentence in pane.notices:
            markup.notice(sentence)


def show(page: Page, *, second: Second = no_field, **look: bool) -> None:
    """Draw a page that is made of blocks; ``look`` says which controls it has (see ``controls``).

    ``second`` returns the page's own field for a second text.
    """
    masthead(page, CONTENTS[page].opening, reads=CONTENTS[page].reads == "text", second=second)
    follows = _follows(page)
    every = jobs.REFRESH_SECONDS if follows else None
    st.fragment(_below_head, run_every=every)(page, partial(head_of, second=second), look, follows)


def _below_head(page: Page, head: Callable[[View], object], look: Mapping[str, bool], follows: bool) -> None:
    """Draw what lies below the head of a page; a press that changes nothing of the head runs this alone.

    While the page ``follows`` something long, this runs by itself again and again.
    """
    view = state.open_part(page, head)
    if _follows(page) != follows:
        st.rerun()
    notices()
    goes_on = _content(view, look)
    state.close_page()
    st.session_state[_GOES_ON] = page.name if goes_on else ""
    if _follows(page) != follows:
        st.rerun()


def _follows(page: Page) -> bool:
    return jobs.follows(page) or st.session_state.get(_GOES_ON) == page.name


def _content(view: View, look: Mapping[str, bool]) -> bool:
    """Draw the content; tell whether something goes on in it."""
    page, content = view.page, CONTENTS[view.page]
    above = nullcontext() if is_presented(view) else st.container(key="above")
    # Before the model runs, which may take a while: whoever knows the way need not wait for it.
    steps_line = _steps_line(view)
    drawing.show(steps_line)
    with above:
        panes = open_panes(as_seen(view))
        laid_above = _above(view, panes, look)
        drawing.show(laid_above)
    with st.spinner(content.waiting, show_time=True) if content.waiting else nullcontext():
        blocks = _made(view, panes)
        laid = (*drawing.lay(blocks, view), *_proof(view, panes))
    drawing.show(laid)
    settle()
    if page is STEP_BY_STEP:
        _can_be_turned(view, panes, (*steps_line, *laid_above, *laid), look)
    return any(isinstance(block, Progress | Work) and block.share is not None for block in walk(blocks))


def as_seen(view: View) -> View:
    """Return the view with the models that are seen: to a room, one of them is shown."""
    return view.without(BESIDE) if is_presented(view) else view


def all_parts(view: View, panes: list[Pane], look: Mapping[str, bool]) -> drawing.Laid:
    """Return what is laid out below the head of a page that is made of blocks, as it is drawn."""
    return (*_steps_line(view), *_above(view, panes, look), *_below(view, panes))


def _steps_line(view: View) -> drawing.Laid:
    if view.page is not STEP_BY_STEP:
        return ()
    line = components.stepper(
        [(step.key, step.name) for step in steps.STEPS],
        view.step,
        key="stepper",
        on_choose=state.setter(STEP),
        is_presented=is_presented(view),
        on_present=state.setter(PRESENT),
    )
    return (line,)


# What is looked at, by the name of the flag with which a page has a choice of it (see ``controls``).
_LOOKED_AT: Mapping[str, Parameter[int | None]] = {"with_word": WORD, "with_layer": LAYER, "with_head": HEAD}


def _above(view: View, panes: list[Pane], look: Mapping[str, bool]) -> drawing.Laid:
    """Return the line of what is looked at, and what a page has above its content; nothing is there for a room."""
    if is_presented(view):
        return ()
    if view.page is STEP_BY_STEP and asks_for_tokens(view, panes):
        look = {**look, "with_word": False}
    idle = CONTENTS[view.page].idle(view, panes)
    look = {**look, **{name: False for name, parameter in _LOOKED_AT.items() if parameter in idle}}
    line = controls(view, panes, **look)
    above = drawing.lay(CONTENTS[view.page].above(view, panes), view, "above")
    return (line, *above) if line.data["title"] or line.data["groups"] else above


def _below(view: View, panes: list[Pane]) -> drawing.Laid:
    """Return what is laid out of the content of a page, and the proof."""
    return (*drawing.lay(_made(view, panes), view), *_proof(view, panes))


def _made(view: View, panes: list[Pane]) -> Blocks:
    """Return the content of a page, for a room its heading, formula, picture and one sentence."""
    return presented(view, panes) if is_presented(view) else CONTENTS[view.page].make(view, panes)


def _proof(view: View, panes: Sequence[Pane]) -> drawing.Laid:
    return drawing.lay(proven(view, panes), view, "proof")


def _can_be_turned(view: View, panes: Sequence[Pane], laid: drawing.Laid, look: Mapping[str, bool]) -> None:
    """Let a browser go on to another step by itself (see ``attention.ui.leaf``), where nothing is left to be said."""
    told = "" if state.notices() or not is_quiet(panes) else drawing.outline(laid)
    data = {"address": f"./{LEAVES}/{view.page.address}", "outline": told}
    components.mount(components.Part("leaf", "leaf", data))
    state.offers_for(partial(_offered, look))


def _offered(look: Mapping[str, bool], view: View) -> dict[str, components.Act]:
    """Return what the page would offer to press for another view, by the keys of its components."""
    with state.imagined(view):
        laid = all_parts(view, running.run_page(as_seen(view), running.load_silently), look)
    return {f"{part.key}.{name}": act for part in drawing.parts_of(laid) for name, act in part.acts.items()}


def is_quiet(panes: Sequence[Pane]) -> bool:
    """Tell whether all models have run, and nothing has to be said about that."""
    return bool(panes) and all(pane.scene is not None and not pane.notices for pane in panes)


def controls(
    view: View,
    panes: list[Pane],
    *,
    with_beside: bool = True,
    with_word: bool = True,
    with_parts: bool = True,
    with_mask: bool = True,
    with_layer: bool = True,
    with_head: bool = True,
    with_compared: bool = False,
) -> components.Part:
    """Return the line of what is looked at: use of attention, layer and head, the word, the mask, a second model.

    Where two sentences may be compared, or two models, that is chosen first (``with_compared``).
    """
    # Without a text there is nothing to hide, nor to put beside something.
    with_mask, with_beside = with_mask and bool(panes), with_beside and bool(panes)
    title = "" if CONTENTS[view.page].heads_itself else view.page.title
    line = Line("context", title=title).group(message("What is looked at"))
    info = get_info(view.model)
    is_for = view.page.is_for(info)
    if with_compared and is_for:
        compare_page.add_compared(line)
    if with_parts and info.parts:
        _add_part(line)
    for pane in panes[:1]:
        if not view.beside:
            # Until one is chosen, the head follows from the two sentences: both are chosen together.
            _add_place(line, pane, is_one=with_compared, with_layer=with_layer, with_head=with_head)
        if with_word:
            _add_word(line, pane)
    if with_mask:
        names, masks = info.build.mask_names, masks_of(info)
        line.list(MASK, message("Mask"), masks, [names[mask] for mask in masks], help=info.build.mask_help)
    if with_beside and info.reading.takes_sentences:
        line.switch(BESIDE, message("Side by side"))
    if GUESS in view.page.own and panes and is_for:
        line.switch(GUESS, message("Guess first"))
    return line.part()


_PART_NAMES: dict[Part, str] = {
    "encoder": message("encoder"),
    "decoder": message("decoder"),
    "cross": message("cross"),
}


def _add_part(line: Line) -> None:
    """Add the choice between the three uses of attention of an encoder–decoder."""
    line.list(
        PART,
        message("Attention"),
        PARTS,
        tuple(map(_PART_NAMES.__getitem__, PARTS)),
        help=message(
            "encoder: the text that is read looks at itself · decoder: what is written looks at what is before it · "
            "cross: what is written looks at what was read"
        ),
    )


def _add_place(line: Line, pane: Pane, *, is_one: bool, with_layer: bool, with_head: bool) -> None:
    """Add the choice of layer and head of one pane."""
    if pane.place is not None:
        model_choice.add_place(
            line, pane.info, *pane.place, pane.settings, is_one=is_one, with_layer=with_layer, with_head=with_head
        )


def _add_word(line: Line, pane: Pane) -> None:
    scene = pane.scene
    if scene is None:
        return
    labels = [f"{position} {label}" for position, label in enumerate(scene.labels)]
    line.list(WORD, scene.info.reading.label, range(len(labels)), labels, value=scene.word)
