"""What every page has in the same place: the sentence, the model, the layer, the head, the mask, the word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention import settings
from attention.kinds import Second
from attention.lesson.proof import Proof
from attention.lesson.scene import Scene
from attention.lesson.steps import step_of
from attention.models import Model, ModelInfo, ModelUnavailableError, get_info, list_models
from attention.pages import Page
from attention.parameters import other_model
from attention.settings import BESIDE, CELL, MASK, PAIR, PART, STEP, TEXT, WORD, masks_of
from attention.trace import PARTS, Trace
from attention.ui import choices, fields, focus, markup, model_choice, state
from attention.ui.cache import Address, ModelFailedError, Recorded, settle
from attention.ui.masthead import masthead, notices
from attention.view import View, default_word, same_word, word_at

__all__ = [
    "Pane",
    "alone",
    "begin",
    "controls",
    "finish",
    "has_input",
    "open_pane",
    "open_panes",
    "pair_field",
    "place_choice",
    "places",
    "read_pairs",
]

_ASSETS = Path(__file__).resolve().parents[2] / "assets"


def read_pairs(name: str) -> dict[str, tuple[str, str]]:
    """Read pairs of sentences from a file of the assets, a pair on each line, by what is written there."""
    lines = (_ASSETS / name).read_text("utf-8").splitlines()
    return {line: (first, second) for line in lines for first, second in [line.split(" | ")]}


_PAIRS = read_pairs("pairs.txt")


@dataclass(frozen=True, slots=True)
class Pane:
    """One model's place on the page: its scene and proof, or the reason why there is none."""

    info: ModelInfo
    is_other: bool
    scene: Scene | None = None
    proof: Proof | None = None
    reason: ModelUnavailableError | None = None
    # The second sentence that the model has really read with the first.
    pair: str = ""
    # The whole run, of which the scene may be a part.
    whole: Trace | None = None
    # Where the scene is found again: its names, for what outlives the run of the page.
    address: Address | None = None

    @property
    def name(self) -> str:
        """The part of widget keys that tells the panes apart."""
        return "other" if self.is_other else "main"

    @property
    def settings(self) -> settings.OfPane:
        """What can be set of this pane."""
        return settings.OTHER if self.is_other else settings.MAIN


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


def alone(view: View) -> View:
    """Return the view as it is run where one model is looked at, and no cell of a step."""
    return view.without(STEP, BESIDE, CELL)


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
    info = get_info(view.model)
    main = open_pane(view, info, is_other=False)
    if not view.beside:
        return [main]
    models = {info.model_id: info for info in list_models()}
    other = open_pane(view, models[other_model(view.model, models)], is_other=True, main=main.scene)
    return [main, other]


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
            choices.switch(BESIDE, "Side by side")
        names = info.build.mask_names
        choices.select(
            MASK,
            "Mask",
            masks_of(info),
            format_func=names.__getitem__,
            help=info.build.mask_help,
            width=95 + 5 * max(map(len, names.values())),
        )
        markup.on_paper(f"Mask: {names[view.mask]}")
        for pane in panes[:1]:
            if with_word:
                _word_choice(pane)
            if not view.beside:
                place_choice(pane)


def _part_choice() -> None:
    """Draw the choice between the three uses of attention of an encoder–decoder."""
    choices.one_of(
        PART,
        "Attention",
        PARTS,
        help="encoder: the text that is read looks at itself · decoder: what is written looks at what is before it · "
        "cross: what is written looks at what was read",
    )


def places(*keys: str) -> list[DeltaGenerator]:
    """Return places below one another, to be filled in whatever order."""
    return [st.container(key=key) for key in keys]


def place_choice(pane: Pane) -> None:
    """Draw the choice of layer and head of one pane."""
    scene, info = pane.scene, pane.info
    if scene is None:
        return
    model_choice.choose_place(info, scene.layer, scene.head, pane.settings)


def finish(panes: list[Pane]) -> None:
    """Draw the proof: a line for each model that ran, which stays in sight."""
    proofs = [(pane.info.name, pane.proof) for pane in panes if pane.proof is not None]
    if proofs:
        markup.proof_line(proofs)
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
        "Pairs",
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
    model = model_choice.load(info)
    if isinstance(model, ModelUnavailableError):
        return Pane(info, is_other, reason=model)
    try:
        recorded = _record(model, view)
    except (ValueError, ModelFailedError) as error:
        markup.notice(str(error))
        return Pane(info, is_other)
    except ModelUnavailableError as error:
        return Pane(info, is_other, reason=error.with_traceback(None))
    part = recorded.trace.info.part_or_whole(view.part)
    trace = recorded.trace.part(part)
    if is_other:
        word = default_word(trace.tokens) if main is None else same_word(main.word, main.tokens, trace.tokens)
    else:
        word = _word(view, trace)
    place = view.place(settings.OTHER if is_other else settings.MAIN)
    scene = Scene(trace, *model_choice.place_within(place, trace.info), word, place.cell)
    opened = step_of(view.step).opened(scene)
    if place.cell is not None and opened.cell != place.cell:
        markup.notice("The link points to a cell that this matrix does not have: another one is explained.")
    _tell_cuts(recorded.trace)
    pair = recorded.pair if recorded.is_pair else ""
    address = Address(recorded.key, part, opened.layer, opened.head, opened.word, opened.cell)
    return Pane(trace.info, is_other, opened, recorded.proof, pair=pair, whole=recorded.trace, address=address)


def _tell_cuts(whole: Trace) -> None:
    """Say where a text was cut, and where the one that a decoder was given."""
    cuts = {"the text": whole.cut, "what the decoder is given": None if whole.decoder is None else whole.decoder.cut}
    for name, cut in cuts.items():
        if cut is not None:
            markup.notice(
                f"{whole.info.name} takes {cut.kept} tokens here, and {name} has {cut.total}: "
                f"it was cut after “{cut.last_word[-40:]}”."
            )


def _record(model: Model, view: View) -> Recorded:
    """Run a model on the sentence or the pair; if it does not take the two, say so, and run it on the first."""
    recorded, reason = focus.run(model, view)
    if reason:
        markup.notice(f"{reason.rstrip('.')}: the first sentence is shown alone.")
    return recorded


def _word(view: View, trace: Trace) -> int:
    tokens = trace.tokens
    if view.spot is not None:
        return word_at(view.spot, tokens)
    if view.word is None:
        return default_word(tokens, trace.info.reading)
    if view.word < len(tokens):
        return view.word
    markup.notice(f"The link points to word {view.word}, and this sentence has {len(tokens)} tokens, counted from 0.")
    return default_word(tokens)


def _take_pair(second: Second, pair: str) -> None:
    # A second sentence is one thing, and what a decoder writes is another.
    if get_info(state.current().model).build.second == second:
        state.set(PAIR, pair)


def _take_pair_example(example: str) -> None:
    first, second = _PAIRS[example]
    state.set(TEXT, first)
    state.set(PAIR, second)
