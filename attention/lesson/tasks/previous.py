"""The task: a head that attends to the previous token."""

from __future__ import annotations

from attention.core.messages import message
from attention.core.words import words_of
from attention.lesson.prose import fact, lesson
from attention.lesson.tasks.base import Handed, ModelHead, Task, Verdict, check_length
from attention.measures.behaviours import BEHAVIOUR_RULES
from attention.measures.summaries import summarise_weights

# Clark et al.'s 2019 threshold for a previous-token head. Uniform weights stay below: under a causal mask, they give
# (1/2 + 1/3 + … + 1/T) / (T − 1) to the previous token, at most 0.32 for five tokens or more.
_RULE = next(rule for rule in BEHAVIOUR_RULES if rule.measure == "previous")


def judge(handed: Handed) -> Verdict:
    """Judge by the mean weight on the previous token over all rows but the first, which has none."""
    scene = handed.scene
    check_length(words_of(scene.tokens))
    score = summarise_weights(scene.steps.weights[None, :, : len(scene.tokens)], scene.tokens)[0].previous
    told = lesson("find/previous-told", place=scene.place, score=fact(score), least=fact(_RULE.threshold))
    return Verdict(score > _RULE.threshold, score, told)


def rule(_: ModelHead | None) -> str:
    """Return as HTML the task and how it is judged."""
    return lesson("find/previous", least=fact(_RULE.threshold))


TASK = Task("previous", message("Previous token"), judge, rule)
