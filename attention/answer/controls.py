"""The controls above a page's content: the stepper, and the choice of model, layer, head and word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from attention.answer import components, state
from attention.answer.lines import Examples, Field, Line
from attention.answer.masthead import is_presented
from attention.core.messages import message
from attention.core.trace import PARTS, Part
from attention.lesson import steps
from attention.models import get_info
from attention.page.content.compare import EXAMPLES, shortly
from attention.page.content.pane import Pane, mask_choices, word_choices
from attention.page.content.registry import Content
from attention.page.content.step_by_step import asks_for_tokens
from attention.page.pages import ALL_HEADS, STEP_BY_STEP
from attention.page.parameters import Parameter
from attention.page.settings import (
    BESIDE,
    CELL,
    CHAT,
    GUESS,
    HEAD,
    LAYER,
    MASK,
    PART,
    PRESENT,
    STEP,
    TEXT,
    VERSUS,
    WORD,
    masks_of,
)
from attention.page.view import View


def stepper(view: View) -> components.Part:
    """Return the stepper.

    The left and right arrow keys go to the previous and next step, as a presenter's remote does. P toggles the
    presentation. From the last step, the button leads on to all heads.
    """
    named = [{"key": step.key, "name": step.name} for step in steps.STEPS]
    is_presenting = is_presented(view)
    onward = "" if is_presenting else ALL_HEADS.title
    data = {"steps": named, "current": view.step, "present": is_presenting, "onward": onward}
    acts = {
        "choose": state.setter(STEP),
        "present": state.setter(PRESENT),
        "onward": lambda _: state.go_to(ALL_HEADS),
    }
    return components.Part("stepper", "stepper", data, acts)


# The parameters of controls that a page may lack.
_LOOKED_AT: Mapping[str, Parameter[int | None]] = {"word": WORD, "layer": LAYER, "head": HEAD}


def controls(view: View, panes: list[Pane], content: Content) -> components.Part:
    """Return the line of controls: use of attention, layer and head, word, mask, second model.

    On a page that compares, the choice between two sentences and two models comes first.
    """
    info = get_info(view.model)
    is_for = view.page.is_for(info)
    idle = content.idle(view, panes)
    without = {*content.without, *(name for name, parameter in _LOOKED_AT.items() if parameter in idle)}
    if view.page is STEP_BY_STEP and asks_for_tokens(view, panes):
        without.add("word")
    line = Line("context", title="" if content.heads_itself else view.page.title)
    line.group(message("View"))
    if content.compares and is_for:
        _add_compared(line)
    if "parts" not in without and info.parts:
        _add_part(line)
    for pane in panes[:1]:
        if not view.beside:
            _add_place(line, pane, without, is_one=content.compares)
    if view.page is STEP_BY_STEP:
        # Beside the steps there is room only for the most used controls; the word can be chosen in the sentence, too.
        line.fold(
            message("More"), is_changed=view[GUESS] or view.beside or view[CHAT] or view.mask != masks_of(info)[0]
        )
    # Without a text there is nothing to choose, to mask or to compare.
    for pane in panes[:1]:
        words = () if "word" in without else word_choices(pane)
        masks = () if MASK.name in without else mask_choices(view, info)
        for each in (*words, *masks):
            line.setting(each)
    if "beside" not in without and panes and info.reading.takes_sentences:
        line.switch(BESIDE, message("Side by side"))
    if GUESS in view.page.own and "guess" not in without and panes and is_for:
        line.switch(GUESS, message("Guess first"))
    return line.part()


_PART_NAMES: dict[Part, str] = {
    "encoder": message("encoder"),
    "decoder": message("decoder"),
    "cross": message("cross"),
}


def _add_part(line: Line) -> None:
    line.list(
        PART,
        message("Attention"),
        PARTS,
        tuple(map(_PART_NAMES.__getitem__, PARTS)),
        help=message(
            "encoder: source attends to source · decoder: target attends to earlier target · cross: target attends "
            "to source"
        ),
    )


def _add_place(line: Line, pane: Pane, without: Collection[str], *, is_one: bool) -> None:
    """Add the choice of a pane's layer and head; with ``is_one``, the link holds both or neither."""
    if pane.place is None:
        return
    chosen = (pane.settings.layer, pane.settings.head)
    place = tuple(zip(chosen, pane.place, strict=True))
    info = pane.info
    offered = (
        ("layer", message("Layer"), info.attention_layers, info.n_layers),
        ("head", message("Head"), range(info.n_heads), info.n_heads),
    )
    for (name, label, numbers, count), (parameter, value) in zip(offered, place, strict=True):
        if name in without:
            continue
        names = [message("{number} of {count}", number=number + 1, count=count) for number in numbers]
        take = partial(_take_both, state.current().model, parameter, place) if is_one else None
        line.list(parameter, label, numbers, names, value=value, take=take)


def _take_both(
    model: str, chosen: Parameter[int | None], place: Sequence[tuple[Parameter[int | None], int]], value: int | None
) -> None:
    # Ignore a place chosen in a previous model.
    if state.current().model != model:
        return
    state.set_all([(parameter, value if parameter is chosen else shown) for parameter, shown in place])


# ------------------------------------------------------------------------------------- of the page Compare


def second(view: View) -> Field | None:
    """Return the field for the second sentence; None if two models are compared."""
    if view.beside:
        return None
    here = (view.text, view.versus or "")
    chosen = EXAMPLES.index(here) if here in EXAMPLES else None
    labels = [shortly(*pair) for pair in EXAMPLES]
    examples = Examples("versus_example", message("Pairs to compare"), labels, chosen, _take_example)
    label, hint = message("Sentence to compare"), message("Type another sentence")
    return Field(VERSUS, label, hint, examples=examples, unlike=TEXT)


def _take_example(index: int) -> None:
    first, other = EXAMPLES[index]
    state.choose(TEXT, first)
    state.choose(VERSUS, other)


def _add_compared(line: Line) -> None:
    """Add the choice between two sentences and two models."""
    labels = (message("two sentences"), message("two models"))
    line.list(BESIDE, message("Compare"), (False, True), labels, take=_take_compared, is_silent=True)


def _take_compared(are_models: bool) -> None:
    state.choose(BESIDE, are_models)
    state.choose(CELL, None)
