"""A head that attends to the previous token."""

from __future__ import annotations

from attention.core.messages import message
from attention.core.words import words_of
from attention.lesson.prose import fact, lesson
from attention.lesson.tasks.base import Handed, ModelHead, Task, Verdict, check_length
from attention.measures.behaviours import BEHAVIOUR_RULES
from attention.measures.summaries import summarise_weights

__all__ = ["TASK"]

# Clark et al. 2019 call a head that exceeds this one of the previous token. By even weights nobody comes near it: under
# a causal mask, T tokens give (1/2 + 1/3 + … + 1/T) / T of theirs to the one before, which is 0.27 at most.
_RULE = next(rule for rule in BEHAVIOUR_RULES if rule.measure == "previous")


def judge(handed: Handed) -> Verdict:
    """Judge by the share of a head's weight on the token before, averaged over all rows; the first has none."""
    scene = handed.scene
    check_length(words_of(scene.tokens))
    score = summarise_weights(scene.steps.weights[None], scene.tokens)[0].previous
    told = lesson("find/previous-told", place=scene.place, score=fact(score), least=fact(_RULE.threshold))
    return Verdict(score > _RULE.threshold, score, told)


def rule(_: ModelHead | None) -> str:
    """Say what is to be found, and how it is judged."""
    return lesson("find/previous", least=fact(_RULE.threshold))


TASK = Task("previous", message("Previous token"), judge, rule)
