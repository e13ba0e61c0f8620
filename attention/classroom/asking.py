"""A question for the class, as the screens show it while it is open and at the reveal."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal

import numpy as np

from attention.classroom.store import Answered
from attention.core.messages import message
from attention.core.text import clean, is_visible
from attention.figures.drawn import is_index
from attention.figures.format import in_percent
from attention.figures.question import Answer, Question
from attention.lesson.prose import typed
from attention.lesson.quiz import Guess, verdict_words

# The view while a question is open: without the parts that answer it, unchanged, or hidden.
Meanwhile = Literal["closed", "as it is", "hidden"]
_SETS = ("right", "close")
_VERDICTS = (*_SETS, "other")
_MEANWHILE, _BEFORE, _SECONDS, _ENDS, _SENTENCE = "meanwhile", "before", "seconds", "ends", "sentence"
# In seconds: the time limits, how much longer a class can get, and how late an answer may arrive over a slow line.
TIME_LIMITS, _MORE_TIME, _GRACE = (30, 60, 90), 30, 2
# The limits of a teacher's own question, in characters and answers.
_MAX_QUESTION, _MAX_ANSWER, _OWN_ANSWERS = 300, 100, range(2, 7)
# The longest typed answer, in characters, and the number of different ones shown.
_MAX_WORDS, _MOST_SHOWN = 60, 12
_NUMBER = re.compile(r"[-−+]?[0-9]*[.,]?[0-9]+")


def packed(guess: Guess, seen_meanwhile: Meanwhile = "closed") -> dict[str, Any]:
    """Return a question as a JSON object, with the screens' content while it is open."""
    return asdict(guess) | {name: sorted(getattr(guess, name)) for name in _SETS} | {_MEANWHILE: seen_meanwhile}


def written(said: object) -> Guess | None:
    """Return a teacher's own question as a browser sends it; None for anything malformed.

    It has a text, two to six answers, and the index ``right`` of the right one (null in a poll, where none is wrong).
    If it ``isTyped``, pupils type a number or a few words instead, and the answers are those that count as right.
    """
    match said:
        case {"question": str(question), "answers": list(given), "right": right, "isTyped": bool(is_typed)}:
            answers = tuple(clean(each)[:_MAX_ANSWER] for each in given if isinstance(each, str) and is_visible(each))
        case _:
            return None
    if not is_visible(question) or len(set(answers)) < len(given):
        return None
    asked = f"<p>{typed(clean(question)[:_MAX_QUESTION])}</p>"
    if is_typed and len(answers) < _OWN_ANSWERS.stop:
        return Guess(asked, answers, "", frozenset(range(len(answers))), is_typed=True)
    if len(answers) not in _OWN_ANSWERS or (right is not None and not is_index(right, len(answers))):
        return None
    return Guess(asked, answers, "", frozenset(() if right is None else (right,)))


def again(data: Mapping[str, Any], answers: Counter[Answered]) -> dict[str, Any]:
    """Return a packed question for a second vote, with the counts of the first unless answers are typed."""
    guess = unpacked(data)
    return {**data, _BEFORE: None if guess.is_typed else tallied(guess, answers)}


def is_again(data: Mapping[str, Any]) -> bool:
    """Tell whether a packed question is asked again."""
    return _BEFORE in data


def before(data: Mapping[str, Any]) -> Sequence[int] | None:
    """Return how many gave each answer when the packed question was asked first; None if that was not counted."""
    return data.get(_BEFORE)


def about(data: Mapping[str, Any], sentence: str) -> dict[str, Any]:
    """Return a packed question with the sentence on the screens."""
    return {**data, _SENTENCE: sentence}


def sentence(data: Mapping[str, Any]) -> str:
    """Return the sentence on the screens when the packed question was asked; empty if it is unknown."""
    found: str = data.get(_SENTENCE, "")
    return found


def timed(data: Mapping[str, Any], seconds: int | None, now: float) -> dict[str, Any]:
    """Return a packed question that is open for so many ``seconds``; None for no limit."""
    return {**data, _SECONDS: seconds, _ENDS: None if seconds is None else now + seconds}


def time_limit(data: Mapping[str, Any]) -> int | None:
    """Return a packed question's time limit in seconds; None if it has none."""
    return data.get(_SECONDS)


def prolonged(data: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return a packed question with more time; unchanged if it has no limit."""
    end = ends(data)
    return dict(data) if end is None else {**data, _ENDS: max(now, end) + _MORE_TIME}


def ends(data: Mapping[str, Any]) -> float | None:
    """Return the time at which a packed question closes; None if it has no limit."""
    return data.get(_ENDS)


def is_late(data: Mapping[str, Any], now: float) -> bool:
    """Return whether an answer comes after a packed question has closed."""
    end = ends(data)
    return end is not None and now > end + _GRACE


def unpacked(data: Mapping[str, Any]) -> Guess:
    """Return the question from its JSON object."""
    known = {each.name: data[each.name] for each in fields(Guess) if each.name in data}
    sets = {name: frozenset(data[name]) for name in _SETS}
    tuples = {name: tuple(data[name]) for name in ("answers", "shares", "whys")}
    return Guess(**{**known, **sets, **tuples})


def meanwhile(data: Mapping[str, Any]) -> Meanwhile:
    """Return the screens' content while this packed question is open."""
    found: Meanwhile = data.get(_MEANWHILE, "closed")
    return found


def seen(guess: Guess) -> dict[str, Any]:
    """Return a question without its answer, for everyone."""
    return {
        "mark": guess.mark,
        "question": guess.question,
        "label": guess.label,
        "answers": [] if guess.is_typed else list(guess.answers),
        "shape": guess.shape,
    }


def given(guess: Guess, said: object) -> Answered | None:
    """Return a browser's answer with its verdict; None if it does not fit the question."""
    values: list[Any] = said if isinstance(said, list) else [said]
    if guess.is_typed:
        return _typed(guess, values[0] if len(values) == 1 else None)
    act = "share" if guess.shape == "shares" else "choose"
    question = Question(guess.mark, "", guess.answers, guess.shape)
    if question.said(act, values if act == "share" else values[0] if len(values) == 1 else None) is None:
        return None
    answer = Answer(guess.mark, tuple(values))
    verdict = guess.judge(answer)
    return None if verdict is None else Answered(answer.given, verdict)


def _typed(guess: Guess, said: object) -> Answered | None:
    if not isinstance(said, str) or not is_visible(said):
        return None
    words = clean(said)[:_MAX_WORDS]
    accepted = {_meant(answer) for answer in guess.answers}
    return Answered((words,), "right" if _meant(words) in accepted else "other")


def _meant(words: str) -> str | float:
    """Return a typed answer in comparable form: a number, with a point or a comma, or the words in lower case."""
    if _NUMBER.fullmatch(words):
        return float(words.replace(",", ".").replace("−", "-"))
    return words.casefold()


def tallied(guess: Guess, answers: Counter[Answered]) -> list[int]:
    """Return the count of each answer; for shares, how many were right, close or neither."""
    if guess.shares:
        return [sum(n for each, n in answers.items() if each.verdict == verdict) for verdict in _VERDICTS]
    counts = [0] * len(guess.answers)
    for each, n in answers.items():
        counts[int(each.given[0])] += n
    return counts


def labels(guess: Guess) -> Sequence[str]:
    """Return the label of each count of a tally."""
    return (message("right"), message("close"), message("further off")) if guess.shares else guess.answers


def told(guess: Guess, answers: Counter[Answered], first: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the reveal, for everyone."""
    if guess.is_typed:
        return _told_typed(answers)
    counts = tallied(guess, answers)
    common = _commonest_wrong(guess, counts)
    shares = {"shares": in_percent(guess.shares), **_means(answers)} if guess.shares else {}
    return {
        **shares,
        "labels": list(labels(guess)),
        "counts": counts,
        "counted": [str(n) for n in counts]
        if first is None
        else [f"{a} → {n}" for a, n in zip(first, counts, strict=True)],
        "legend": "" if first is None else message("before → after"),
        "right": [0] if guess.shares else sorted(guess.right),
        "close": [1] if guess.shares else sorted(guess.close),
        "reason": guess.reason,
        "wrong": "" if common is None else _wrong(guess, common, counts[common]),
    }


def _told_typed(answers: Counter[Answered]) -> dict[str, Any]:
    """Return the typed answers, the most frequent first, as most pupils wrote them."""
    by_meaning: dict[str | float, Counter[Answered]] = defaultdict(Counter)
    for each, n in answers.items():
        by_meaning[_meant(str(each.given[0]))][each] += n
    shown = sorted(by_meaning.values(), key=Counter.total, reverse=True)[:_MOST_SHOWN]
    counts = [each.total() for each in shown]
    usual = [each.most_common(1)[0][0] for each in shown]
    return {
        "labels": [str(each.given[0]) for each in usual],
        "counts": counts,
        "counted": list(map(str, counts)),
        "right": [index for index, each in enumerate(usual) if each.verdict == "right"],
        "close": [],
        "reason": "",
        "wrong": "",
    }


def _means(answers: Counter[Answered]) -> dict[str, list[float]]:
    """Return the class's mean share for each answer, in percent; nothing if no one has answered."""
    given = [(np.array(each.given, dtype=np.float64), n) for each, n in answers.items() if any(each.given)]
    if not given:
        return {}
    shares, counts = [row / row.sum() for row, _ in given], [n for _, n in given]
    return {"means": in_percent(np.average(shares, axis=0, weights=counts).tolist())}


def worth(guess: Guess, answers: Mapping[str, Answered]) -> dict[str, str]:
    """Return the verdict on each pupil's own answer, as HTML; none for a poll."""
    if is_poll(guess):
        return {}
    return {pupil: verdict_words(answered.verdict) for pupil, answered in answers.items()}


def _wrong(guess: Guess, wrong: int, count: int) -> str:
    why = guess.whys[wrong] if guess.whys else ""
    answer = typed(guess.answers[wrong])
    lead = message("Commonest wrong answer: “{answer}” ({count})", answer=answer, count=count)
    return f"<p><strong>{lead}</strong></p>{why}"


def _commonest_wrong(guess: Guess, counts: Sequence[int]) -> int | None:
    """Return the most frequent wrong answer that is not close; None in a tie, or if only one pupil gave it."""
    if guess.shares or is_poll(guess):
        return None
    wrong = [0 if index in guess.right | guess.close else n for index, n in enumerate(counts)]
    most = max(wrong)
    return wrong.index(most) if most > 1 and wrong.count(most) == 1 else None


def is_poll(guess: Guess) -> bool:
    """Return whether no answer is right or wrong."""
    return not (guess.right or guess.shares)
