"""The task: two sentences that change a given head most."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.lesson.compare import Comparison, side_of
from attention.lesson.prose import fact, lesson, word
from attention.lesson.tasks.base import Handed, ModelHead, Task, UnfitError, Verdict, both_sentences, differ_in_one_word

# A word replaced at random moves the weights between the others by at most 0.09 in the median head of BERT, and by
# at most 0.14 in that of SmolLM2.
_LEAST = 0.2


def judge(handed: Handed) -> Verdict:
    """Judge by the largest change of a weight between two shared words, as the page Compare shows it."""
    first, second = both_sentences(handed)
    info = first.info
    here = ModelHead(info.model_id, info.name, first.layer, first.head)
    if handed.given not in (None, here):
        raise UnfitError(message("This view shows {here}: choose {given}.", here=str(here), given=str(handed.given)))
    ours, theirs, apart = differ_in_one_word(first, second)
    comparison = Comparison(side_of(first, ""), side_of(second, ""))
    place = comparison.most_changed()
    assert place is not None
    row, column = place
    before, after = (float(weights[place]) for weights in comparison.weights)
    score = float(np.abs(comparison.difference[place]))
    told = lesson(
        "find/change-told",
        place=first.place,
        ours=word(ours[apart].text),
        theirs=word(theirs[apart].text),
        row=word(comparison.units[row].text),
        column=word(comparison.units[column].text),
        before=fact(before),
        after=fact(after),
        score=fact(score),
    )
    return Verdict(score >= _LEAST, score, told)


def rule(given: ModelHead | None) -> str:
    """Return as HTML the task and how it is judged."""
    told = lesson("find/change", least=fact(_LEAST))
    return told if given is None else told + lesson("find/change-given", place=word(str(given)))


TASK = Task("change", message("Change one head"), judge, rule, is_given=True)
