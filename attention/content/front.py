"""The front door: what attention is, one question about the sentence at hand, one picture, and the way in."""

from __future__ import annotations

from attention.blocks import Blocks, Heading, Notice, Picture, Prose, Row, Section, Way
from attention.content.guess import Asked, next_word
from attention.content.pane import Pane
from attention.figures.tokens import TokenStrip
from attention.lesson import front
from attention.lesson.opening import tell_opening
from attention.lesson.prose import lesson, word
from attention.lesson.scene import Scene
from attention.lesson.steps import softmax
from attention.messages import message
from attention.pages import STEP_BY_STEP
from attention.settings import FIRST_ANSWER, STEP, WORD
from attention.view import View

__all__ = ["content"]


def content(view: View, pane: Pane) -> Blocks:
    """Return the two sentences and the question on the left and, once it is answered, the picture on the right."""
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


def _picture(pane: Pane, scene: Scene, *, is_hidden: bool) -> Blocks:
    """Return the weights of the head that is opened first; until the question is answered, the sentence alone."""
    if is_hidden:
        strip = TokenStrip(scene.tokens, scene.word, message("Tokens"))
        return (Picture("front_tokens", strip, sets={"word": WORD}),)
    matrix = Picture(f"front_{pane.info.model_id}", softmax.STEP.matrices(scene)[0])
    return (Section("front_picture", (matrix,)), Prose(softmax.tell_weights(scene) + tell_opening(scene)))


def _way_in(view: View, pane: Pane, scene: Scene) -> Way:
    label = message(
        "Step through it with {name}, from the first token to layer {layer}, head {head} ▸",
        name=pane.info.name,
        layer=scene.layer + 1,
        head=scene.head + 1,
    )
    return Way(f"way_in_{pane.info.model_id}", label, STEP_BY_STEP, view.on(STEP_BY_STEP).without(STEP).to_query())
