"""A question that a class is asked: what everybody is told of it and sees meanwhile, and what is told afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal

from attention.classroom.store import Answered
from attention.core.messages import message
from attention.figures.question import Answer, Question
from attention.lesson.prose import typed
from attention.lesson.quiz import Guess, verdict_words

__all__ = ["Meanwhile", "given", "meanwhile", "packed", "seen", "tallied", "told", "unpacked", "worth"]

# What is seen while a question is open: the view without what it is about, the view as it is, or only what it is of.
Meanwhile = Literal["closed", "as it is", "hidden"]
_SETS = ("right", "close")
_MEANWHILE = "meanwhile"


def packed(guess: Guess, seen_meanwhile: Meanwhile = "closed") -> dict[str, Any]:
    """Return a question as JSON has it, with what is seen while it is open."""
    return asdict(guess) | {name: sorted(getattr(guess, name)) for name in _SETS} | {_MEANWHILE: seen_meanwhile}


def unpacked(data: Mapping[str, Any]) -> Guess:
    """Return the question that was packed."""
    known = {each.name: data[each.name] for each in fields(Guess)}
    sets = {name: frozenset(data[name]) for name in _SETS}
    tuples = {name: tuple(data[name]) for name in ("answers", "shares", "whys")}
    return Guess(**{**known, **sets, **tuples})


def meanwhile(data: Mapping[str, Any]) -> Meanwhile:
    """Return what is seen while the question that was packed is open."""
    found: Meanwhile = data.get(_MEANWHILE, "closed")
    return found


def seen(guess: Guess) -> dict[str, Any]:
    """Return what everybody is shown of a question; nothing of what is true."""
    return {
        "mark": guess.mark,
        "question": guess.question,
        "label": guess.label,
        "answers": list(guess.answers),
        "shape": guess.shape,
    }


def given(guess: Guess, said: object) -> Answered | None:
    """Return the answer that a browser says, and what it is worth; None if it is none to this question."""
    values: list[Any] = said if isinstance(said, list) else [said]
    act = "share" if guess.shape == "shares" else "choose"
    touch = Question(guess.mark, "", guess.answers, guess.shape).touch
    if touch.said(act, values if act == "share" else values[0] if len(values) == 1 else None) is None:
        return None
    answer = Answer(guess.mark, tuple(values))
    verdict = guess.judge(answer)
    return None if verdict is None else Answered(answer.given, verdict)


def tallied(guess: Guess, answers: Counter[Answered]) -> list[int]:
    """Return how many gave each answer; of shares, how many were right, close or neither."""
    if guess.shares:
        return [sum(n for each, n in answers.items() if each.verdict == verdict) for verdict in _VERDICTS]
    counts = [0] * len(guess.answers)
    for each, n in answers.items():
        counts[each.given[0]] += n
    return counts


_VERDICTS = ("right", "close", "other")


def labels(guess: Guess) -> Sequence[str]:
    """Return what each number of a tally counts."""
    return (message("right"), message("close"), message("further off")) if guess.shares else guess.answers


def told(guess: Guess, answers: Counter[Answered]) -> dict[str, Any]:
    """Return what everybody is told when the answers are revealed."""
    counts = tallied(guess, answers)
    common = _commonest_wrong(guess, counts)
    true = {"shares": [round(100 * share, 1) for share in guess.shares]} if guess.shares else {}
    return {
        **true,
        "labels": list(labels(guess)),
        "counts": counts,
        "right": [0] if guess.shares else sorted(guess.right),
        "close": [1] if guess.shares else sorted(guess.close),
        "reason": guess.reason,
        "wrong": "" if common is None else _wrong(guess, common, counts[common]),
    }


def worth(answers: Mapping[str, Answered]) -> dict[str, str]:
    """Return what each pupil is told of the own answer when the answers are revealed (HTML)."""
    return {pupil: verdict_words(answered.verdict) for pupil, answered in answers.items()}


def _wrong(guess: Guess, wrong: int, count: int) -> str:
    """Return an answer that is wrong, with how many gave it and, where that is said, why one may think so (HTML)."""
    why = guess.whys[wrong] if guess.whys else ""
    answer = typed(guess.answers[wrong])
    lead = message("Commonest wrong answer: “{answer}” ({count})", answer=answer, count=count)
    return f"<p><strong>{lead}</strong></p>{why}"


def _commonest_wrong(guess: Guess, counts: Sequence[int]) -> int | None:
    """Return the wrong answer that more gave than any other; None if there is none, or several are as common."""
    if guess.shares:
        return None
    wrong = [0 if index in guess.right else n for index, n in enumerate(counts)]
    most = max(wrong)
    return wrong.index(most) if most and wrong.count(most) == 1 else None
