"""The front page: one picture of attention in a sentence, its description, and the links to the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attention.core.messages import message, messages
from attention.core.reading import Reading
from attention.core.words import CONTINUES, SPACE, special_names
from attention.figures.arcs import Arcs
from attention.figures.format import number
from attention.figures.tokens import TokenStrip
from attention.lesson import front
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import openings, tell_choice, tell_opening
from attention.lesson.prose import lesson, listed, without_tags, word
from attention.lesson.steps import softmax
from attention.models import bundled
from attention.models.bundled import Bundled
from attention.page.blocks import Block, Blocks, Heading, Notice, Picture, Prose, Row, Section, Setting, Way
from attention.page.content.pane import Pane, Server, missing
from attention.page.content.quiz import Asked, next_word
from attention.page.pages import ALL_HEADS, FRONT, STEP_BY_STEP
from attention.page.settings import (
    AT,
    BESIDE,
    CELL,
    FACTORS,
    FIRST_ANSWER,
    GUESS,
    HEAD,
    LAYER,
    LINKS,
    NEXT,
    PAIR,
    PART,
    STEP,
    TEXT,
    WORD,
)
from attention.page.view import View

OPENING_TEXT = "The animal didn't cross the street because it was too tired"


def opening(view: View) -> View:
    """Return the view with the front's sentence, if the link has none and the model reads English."""
    is_open = view.chosen.keys().isdisjoint((TEXT.name, PAIR.name))
    return view.replaced(TEXT, OPENING_TEXT) if is_open and (view.model, OPENING_TEXT) in openings() else view


def run_as(view: View) -> View:
    """Return the view to run: the head opened first, at the softmax step, with no second model."""
    return _begun(view).replaced(STEP, softmax.STEP.key)


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the picture with its text, and the links; a ``whole`` page has no links."""
    if not panes:
        return () if whole else (Heading(message("See attention happen"), 1),)
    pane = panes[0]
    others = [each for each in bundled.MODELS if each.info is not pane.info]
    ways = () if whole or pane.server is None else _ways_to(others, pane.server)
    return (*_opened(run_as(view), pane, whole=whole), *missing(pane.reason), *ways)


def _opened(view: View, pane: Pane, *, whole: bool) -> Blocks:
    """Return two sentences on attention, the picture, its description, and the link to the steps."""
    scene = pane.scene
    if scene is None:
        return (*_title(message("See attention happen"), whole=whole), _intro(pane.info.reading, has_picture=False))
    telling = front.telling(scene) if view[WORD] is None and view[AT] is None else scene
    if telling.word != scene.word:
        scene, view = telling, view.replaced(WORD, telling.word)
    linked = _linked(view, scene)
    if linked is not None:
        scene, view = linked, view.replaced(LAYER, linked.layer).replaced(HEAD, linked.head)
    guess = front.guess(scene)
    asked = Asked(view, view[GUESS], guess, FIRST_ANSWER, next_word(scene))
    is_hidden = asked.is_asked and asked.is_open
    title = message("Where does “{word}” look?", word=scene.names[scene.word].strip(SPACE))
    has_choice = not whole and (guess is not None or view[GUESS])
    choice = (Setting(GUESS, message("Guess first"), view[GUESS], key="front_guess"),) if has_choice else ()
    info = pane.info
    query = view[LINKS]
    picked = (
        tell_choice(info, scene.trace.text)
        if linked is None or query is None
        else message("This head was picked because it links “{word}” most.", word=scene.names[query])
    )
    # An open question explains the tokens that it offers.
    explained = "" if is_hidden else _tell_marks(scene) + lesson("front/truth")
    about = f"{picked} {info.name}. {info.summary}"
    return (
        *_title(title, whole=whole),
        _intro(info.reading, has_picture=not is_hidden),
        _picture(view, scene, is_hidden=is_hidden),
        # Above the question, which would otherwise appear under the pointer that asked for it.
        Section(
            "front_ways",
            (
                _way_in(view, pane, scene, is_hidden=is_hidden),
                *(() if is_hidden else _way_to_linking(view, scene)),
                *choice,
                *_way_to_heads(view, pane),
            ),
            is_line=True,
        ),
        *asked.content(),
        *(() if is_hidden or _is_in_line(scene) else (Prose(_tell_row(scene)),)),
        Prose(lesson("front/head", **scene.numbers) + explained, "aside"),
        Notice(about, is_quiet=True),
    )


def _intro(reading: Reading, *, has_picture: bool) -> Prose:
    """Return two sentences on attention and, with a picture to press, an invitation to do so."""
    press = f" {without_tags(lesson('front/press', unit=reading.unit))}" if has_picture else ""
    return Prose(lesson("front/intro", unit=reading.unit, noun=reading.noun, press=press))


def _linked(view: View, scene: HeadContext) -> HeadContext | None:
    """Return the scene in the head that the link asks for, by the word that it links; None if it asks for none."""
    query = view[LINKS]
    if query is None or query >= len(scene.tokens) or not _is_in_line(scene):
        return None
    found = front.linking(replace(scene, word=query))
    return found and replace(found, word=scene.word)


def _way_to_linking(view: View, scene: HeadContext) -> Blocks:
    """Return the link to the head that links the word in focus most, where the one shown attends to a special token."""
    found = front.linking(scene) if _is_in_line(scene) and softmax.tell_special(scene) else None
    if found is None:
        return ()
    row = found.steps.weights[found.word]
    label = message(
        "Layer {layer}, head {head} gives “{word}” {weight} ▸",
        word=found.key_names[int(row.argmax())],
        weight=number(float(row.max())),
        **found.numbers,
    )
    return (
        Way("way_to_linking", label, FRONT, view.without(STEP, LAYER, HEAD).replaced(LINKS, scene.word).to_query()),
    )


def _title(text: str, *, whole: bool) -> Blocks:
    return () if whole else (Heading(text, 1),)


def _tell_marks(scene: HeadContext) -> str:
    """Explain the special tokens and the mark of a piece, where the text has them."""
    specials = special_names(scene.tokens)
    text = lesson("front/specials", specials=listed([word(each) for each in specials])) if specials else ""
    if any(token.text.startswith(CONTINUES) for token in scene.tokens):
        text += lesson("front/pieces")
    return text


def _tell_row(scene: HeadContext) -> str:
    return softmax.tell_weights(scene) + tell_opening(scene) + softmax.tell_special(scene)


def _is_in_line(scene: HeadContext) -> bool:
    return not scene.info.reading.is_laid_out and scene.key_tokens is scene.tokens


def _picture(view: View, scene: HeadContext, *, is_hidden: bool) -> Block:
    """Return the weights of the head as arcs; until the question is answered, the sentence alone.

    A picture, or a text that attends to another, has its whole matrix instead.
    """
    matrix = softmax.STEP.matrices(scene)[0]
    steps = STEP_BY_STEP, view.for_page(STEP_BY_STEP).replaced(STEP, softmax.STEP.key).to_query()
    if not _is_in_line(scene):
        if is_hidden:
            return Picture(
                "front_picture", TokenStrip(scene.tokens, scene.word, message("Tokens")), sets={"word": WORD}
            )
        return Picture("front_picture", matrix, sets={"cell": CELL, "row": WORD}, opens=steps)
    told = tuple(_tell_row(replace(scene, word=row)) for row in range(len(scene.tokens)))
    arcs = Arcs(
        scene.tokens,
        scene.steps.weights,
        scene.word,
        matrix.name,
        message("Tokens"),
        message("Waiting for a guess.") if is_hidden else matrix.alt,
        wait=is_hidden,
        told=told,
    )
    return Picture("front_picture", arcs, sets={"word": WORD, "cell": CELL}, opens=steps)


def _way_in(view: View, pane: Pane, scene: HeadContext, *, is_hidden: bool) -> Way:
    weight = number(float(scene.steps.weights[scene.word].max()))
    shown = message("See how the {weight} is computed, step by step ▸", weight=weight)
    label = message("Step through it ▸") if is_hidden else shown
    return Way(
        f"way_in_{pane.info.model_id}", label, STEP_BY_STEP, view.for_page(STEP_BY_STEP).without(STEP).to_query()
    )


def _way_to_heads(view: View, pane: Pane) -> Blocks:
    if not ALL_HEADS.is_for(pane.info):
        return ()
    return (Way("way_to_heads", message("All heads ▸"), ALL_HEADS, view.for_page(ALL_HEADS).to_query()),)


def _ways_to(models: Sequence[Bundled], server: Server) -> Blocks:
    if not models:
        return ()
    title = messages("{n} more model", "{n} more models", len(models))
    return Heading(title), Row(tuple(_way_to(each, server) for each in models))


def _way_to(entry: Bundled, server: Server) -> Blocks:
    info, invitation = entry.info, entry.invitation
    start = _begun(server.seen_with(info.model_id)).for_page(STEP_BY_STEP)
    start = start.with_value(PART, invitation.part).with_value(STEP, invitation.step)
    start = start.with_value(NEXT, invitation.next).with_value(FACTORS, invitation.factors)
    return (
        Heading(info.label, 3),
        Prose(lesson(invitation.lesson, summary=info.summary)),
        Way(f"way_in_{info.model_id}", f"{invitation.label} ▸", STEP_BY_STEP, start.to_query()),
    )


def _begun(view: View) -> View:
    """Return the view with the default layer and head, no open cell and no second model."""
    return view.without(LAYER, HEAD, CELL, BESIDE)
