"""The task: the layer from which on the next token is right."""

from __future__ import annotations

from attention.core.messages import message
from attention.core.words import words_of
from attention.lesson.next_token import Forecast
from attention.lesson.prose import fact, lesson, word
from attention.lesson.tasks.base import Handed, ModelHead, Task, UnfitError, Verdict, check_length


def judge(handed: Handed) -> Verdict:
    """Judge by the logit lens: the right layer is the forecast's ``since``, and an earlier one scores higher.

    The score is the share of layers from there on, ``(L − l + 1) / L`` for layer l of L; 0 for a wrong layer.
    """
    scene, found = handed.scene, handed.runs.forecast()
    if found is None:
        raise UnfitError(message("This model does not predict the next token: choose SmolLM2."))
    check_length(words_of(scene.tokens))
    if not found.since:
        raise UnfitError(message("Here the answer is already likeliest before any layer. Choose another sentence."))
    here, n_layers = scene.layer + 1, len(found.layers) - 1
    told = _tell(found, here)
    if here != found.since:
        return Verdict(False, 0.0, told)
    return Verdict(True, (n_layers - here + 1) / n_layers, told)


def _tell(found: Forecast, here: int) -> str:
    guess = found.layers[here]
    facts: dict[str, str | int] = {"layer": here, "best": word(found.candidates[0].label)}
    if here == found.since:
        return lesson("find/layer-found", probability=fact(guess.answer_probability), **facts)
    return lesson("find/layer-earlier" if here > found.since else "find/layer-later", **facts)


def rule(_: ModelHead | None) -> str:
    """Return as HTML the task and how it is judged."""
    return lesson("find/layer")


TASK = Task("layer", message("The next token's layer"), judge, rule, is_quick=False)
