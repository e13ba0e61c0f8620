"""The task: a head that links an adjective to its noun."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.figures.format import percent
from attention.lesson.prose import lesson
from attention.lesson.tasks.base import Handed, ModelHead, Task, UnfitError, Verdict

_RELATION = "amod"
# In the annotated sentences, the next word is the noun for 95% of the adjectives, so a head that always attends to the
# next word would pass: it must do so for less than half of the other words. Clark et al. 2019 found 75.6% for the best
# head of BERT-base.
_LEAST, _MOST = 0.75, 0.5


def judge(handed: Handed) -> Verdict:
    """Judge by the annotated sentences: the share of nouns found, and of other words joined to the next.

    The better of the two directions, adjective to noun and noun to adjective, counts.
    """
    scene = handed.scene
    check = handed.runs.syntax()
    if check is None:
        raise UnfitError(
            message("{name} is still being counted. Hand this in again in a moment.", name=scene.info.name)
        )
    found = check.joining(_RELATION)
    accuracy, elsewhere = (each[:, scene.layer, scene.head] for each in (found.accuracy, found.elsewhere))
    solves = (accuracy >= _LEAST) & (elsewhere < _MOST)
    way = int(np.lexsort((accuracy, solves))[-1])
    score = float(accuracy[way])
    told = lesson(
        "find/adjective-told", place=scene.place, score=percent(score), elsewhere=percent(float(elsewhere[way]))
    )
    if score >= _LEAST and not solves[way]:
        told += lesson("find/adjective-neighbour")
    return Verdict(bool(solves[way]), score, told)


def rule(_: ModelHead | None) -> str:
    """Return as HTML the task and how it is judged."""
    return lesson("find/adjective", least=percent(_LEAST), most=percent(_MOST))


TASK = Task("adjective", message("Adjective and noun"), judge, rule, is_quick=False)
