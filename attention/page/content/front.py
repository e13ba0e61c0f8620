"""The front page: what attention is, one question, one picture, and the ways in: to this model and to all others."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.messages import message
from attention.figures.tokens import TokenStrip
from attention.lesson import front
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import tell_opening
from attention.lesson.prose import lesson, word
from attention.lesson.steps import softmax
from attention.models import bundled
from attention.models.bundled import Bundled
from attention.page.blocks import Blocks, Heading, Notice, Picture, Prose, Row, Section, Way
from attention.page.content.pane import Pane, Server, missing
from attention.page.content.quiz import Asked, next_word
from attention.page.pages import STEP_BY_STEP
from attention.page.settings import BESIDE, CELL, FACTORS, FIRST_ANSWER, HEAD, LAYER, NEXT, PART, STEP, WORD
from attention.page.view import View

__all__ = ["content", "run_as"]

# The heading over so many other models.
_MORE = (
    "",
    message("One more model"),
    message("Two more models"),
    message("Three more models"),
    message("Four more models"),
    message("Five more models"),
    message("Six more models"),
    message("Seven more models"),
    message("Eight more models"),
    message("Nine more models"),
)


def run_as(view: View) -> View:
    """Return the view with which the model begins: the head opened first, at the weights, with nothing beside it."""
    return _begun(view).replaced(STEP, softmax.STEP.key)


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the title, the question with the picture, and the ways to other models; on a ``whole`` page, no ways."""
    title = () if whole else (Heading(message("See attention happen"), 1),)
    if not panes:
        return title
    pane = panes[0]
    others = [each for each in bundled.MODELS if each.info is not pane.info]
    ways = () if whole or pane.server is None else _ways_to(others, pane.server)
    return (*title, *_opened(run_as(view), pane), *missing(pane.reason), *ways)


def _opened(view: View, pane: Pane) -> Blocks:
    """Return two sentences and the question on the left and, once it is answered, the picture on the right."""
    intro = Prose(lesson(pane.info.reading.lesson("front/intro"), model=word(pane.info.name)))
    if pane.scene is None:
        return (intro,)
    guess = front.guess(pane.scene)
    # Here a question is always asked.
    nothing = message("There are not two words here to choose from: type some more, and there is a question.")
    asked = Asked(view, True, guess, FIRST_ANSWER, next_word(pane.scene), nothing)
    left = (intro, *asked.content(), Prose(lesson("front/truth"), "aside"), _way_in(view, pane, pane.scene))
    info = pane.info
    model = (Heading(info.name, 3), Notice(" ".join(filter(None, (info.summary, info.note))), is_quiet=True))
    return (Row((left, (*model, *_picture(pane, pane.scene, is_hidden=asked.is_open))), widths=(5, 6)),)


def _picture(pane: Pane, scene: HeadContext, *, is_hidden: bool) -> Blocks:
    """Return the weights of the head that is opened first; until the question is answered, the sentence alone."""
    if is_hidden:
        strip = TokenStrip(scene.tokens, scene.word, message("Tokens"))
        return (Picture("front_tokens", strip, sets={"word": WORD}),)
    matrix = Picture(f"front_{pane.info.model_id}", softmax.STEP.matrices(scene)[0])
    return (Section("front_picture", (matrix,)), Prose(softmax.tell_weights(scene) + tell_opening(scene)))


def _way_in(view: View, pane: Pane, scene: HeadContext) -> Way:
    label = message(
        "Step through it with {name}, from the first token to layer {layer}, head {head} ▸",
        name=pane.info.name,
        layer=scene.layer + 1,
        head=scene.head + 1,
    )
    return Way(
        f"way_in_{pane.info.model_id}", label, STEP_BY_STEP, view.for_page(STEP_BY_STEP).without(STEP).to_query()
    )


def _ways_to(models: Sequence[Bundled], server: Server) -> Blocks:
    """Return links to the other models that come with the project."""
    if not models:
        return ()
    return Heading(_MORE[len(models)]), Row(tuple(_way_to(each, server) for each in models))


def _way_to(entry: Bundled, server: Server) -> Blocks:
    info, invitation = entry.info, entry.invitation
    # No word of the text that a decoder writes has been in focus yet.
    start = _begun(server.seen_with(info.model_id)).for_page(STEP_BY_STEP)
    start = start.with_value(PART, invitation.part).with_value(STEP, invitation.step)
    start = start.with_value(NEXT, invitation.next).with_value(FACTORS, invitation.factors)
    return (
        Heading(info.name, 3),
        Prose(lesson(invitation.lesson, summary=info.summary)),
        Way(f"way_in_{info.model_id}", f"{invitation.label} ▸", STEP_BY_STEP, start.to_query()),
    )


def _begun(view: View) -> View:
    """Return the view with which a model begins: its default layer and head, no open cell, no model beside it."""
    return view.without(LAYER, HEAD, CELL, BESIDE)
