"""The sentence above every step: its words, the attention of the one in focus as arcs, and its numbers at this step."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.figures.arcs import Arcs
from attention.figures.format import number
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import softmax
from attention.lesson.steps.base import Step
from attention.page.blocks import Blocks, Picture
from attention.page.content.pane import Pane
from attention.page.settings import WORD


def sentence(step: Step, pane: Pane, *, is_asked: bool = False) -> Blocks:
    """Return a step's sentence; while a question ``is_asked``, its words alone; () for a picture."""
    scene = pane.scene
    if scene is None or scene.info.reading.is_laid_out:
        return ()
    name, written, unit = _numbers(step, scene)
    tokens, weights, focus = scene.tokens, scene.steps.weights, scene.word
    if is_elsewhere := scene.key_tokens is not tokens:
        # The query comes from another text: it stands before the keys, with a weight of 0 on itself.
        tokens, focus = (tokens[scene.word], *scene.key_tokens), 0
        weights, written = np.insert(weights[scene.word], 0, 0.0)[None], written and ("", *written)
    arcs = Arcs(
        tokens,
        weights,
        focus,
        "" if is_elsewhere else name,
        message("The sentence, shaded by the weights of “{word}”", word=scene.names[scene.word]),
        message("Waiting for a guess.") if is_asked else softmax.STEP.matrices(scene)[0].alt,
        wait=is_asked,
        is_slim=True,
        written=written,
        unit=unit,
    )
    return (Picture("sentence", arcs, sets={} if is_elsewhere else {"word": WORD, "cell": pane.settings.cell}),)


def _numbers(step: Step, scene: HeadContext) -> tuple[str, tuple[str, ...] | None, str]:
    """Return a number for each key and what it is: the focus row of the step's matrix (with its name), or token IDs."""
    if step.is_of_pairs:
        matrices = step.matrices(scene)
        matrix = next((each for each in matrices if each.name == step.main), matrices[0])
        # Weights are written as over every step.
        row = None if step is softmax.STEP else tuple(number(float(value)) for value in matrix.values[scene.word])
        return matrix.name, row, step.unit
    if step.where == "input":
        ids = tuple(str(token.token_id) if token.token_id >= 0 else "" for token in scene.key_tokens)
        return "", ids, message("token IDs") if any(ids) else ""
    return "", None, message("weights")
