"""The task: a sentence in which replacing a word makes *it* attend most to another noun."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.messages import message
from attention.core.words import Word, folded, merge_words
from attention.lesson.noun_tagger import nouns_of
from attention.lesson.prose import fact, lesson, word
from attention.lesson.tasks.base import Handed, ModelHead, Task, UnfitError, Verdict, both_sentences, differ_in_one_word

_IT = "it"
# Weights that differ by less count as level.
LEVEL = 0.02


def judge(handed: Handed) -> Verdict:
    """Judge by the row of *it* in both sentences: the smaller of the two leads of its noun.

    The score is ``min(a₁[n₁] − a₁[n₂], a₂[n₂] − a₂[n₁])`` for the nouns n₁ and n₂ with the largest weights in the first
    and the second sentence; only shared nouns count. Both leads must be 0.02 or more.
    """
    first, second = both_sentences(handed)
    ours, theirs, apart = differ_in_one_word(first, second)
    asking = _it(ours, theirs)
    nouns = [place for place in nouns_of(first.tokens) if place != apart]
    if len(nouns) < 2:
        raise UnfitError(message("Both sentences need two nouns in common."))
    one, other = (merge_words(each.steps.weights, each.tokens)[0][asking][nouns] for each in (first, second))
    if not (one.any() and other.any()):
        raise UnfitError(message("Here, “it” cannot attend to any noun. Put the nouns before it."))
    ahead, then = int(one.argmax()), int(other.argmax())
    names = {
        "place": first.place,
        "ours": word(ours[apart].text),
        "theirs": word(theirs[apart].text),
        "noun": word(ours[nouns[ahead]].text),
        "first": fact(float(one[ahead])),
    }
    if ahead == then:
        return Verdict(False, 0.0, lesson("find/it-stays", second=other[then], **names))
    lead = float(one[ahead] - one[then]), float(other[then] - other[ahead])
    told = lesson(
        "find/it-changes",
        other=word(ours[nouns[then]].text),
        second=other[then],
        lead=fact(lead[0]),
        other_lead=fact(lead[1]),
        **names,
    )
    return Verdict(min(lead) >= LEVEL, min(lead), told)


def _it(ours: Sequence[Word], theirs: Sequence[Word]) -> int:
    """Return the index of the one *it* that both sentences have.

    Raises:
        UnfitError: there is none, or there are several.
    """
    places = [[place for place, each in enumerate(words) if folded(each) == _IT] for words in (ours, theirs)]
    if len(places[0]) != 1 or places[0] != places[1]:
        raise UnfitError(message("Both sentences need exactly one “it”, in the same place."))
    return places[0][0]


def rule(_: ModelHead | None) -> str:
    """Return as HTML the task and how it is judged."""
    return lesson("find/it", least=fact(LEVEL))


TASK = Task("it", message("“It” changes its mind"), judge, rule)
