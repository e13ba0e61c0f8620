"""Ten questions on a pupil's own sentence: their choice, and the pupil's and the teacher's view of them.

Questions of the steps, about the sentence's own words and numbers, go before the ready ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attention.classroom import asking
from attention.classroom.own_store import Mark, Taken, Tally
from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import without_tags
from attention.lesson.questions import MOST, QUESTIONS, Ready
from attention.lesson.quiz import Guess
from attention.lesson.steps import STEPS
from attention.lesson.tables import Columns

N_QUESTIONS = 10
# In characters: a model can read thirty pupils' texts in a few seconds.
MAX_SENTENCE, MAX_NICKNAME = 200, 24
# Questions with the same answer for most sentences come late, and last those that need more than one head's weights;
# "scores" is mostly answered like "most".
_FIRST = ("tokens", "most", "even", "longer", "special", "zero", "largest", "mean", "shape", "itself")
_NEXT = ("cost", "sums", "symmetric", "turned", "doubled", "after", "scaled", "negative", "embed", "qkv", "scores")
_RANK = {name: place for place, name in enumerate(_FIRST + _NEXT)}
_OF_STEPS = tuple(
    Ready(step.key, step.title, step.guess, names_words=True, seen_at=step.key) for step in STEPS if step.key in _RANK
)
# All possible questions about a pupil's sentence. The first are about its words, which the teacher does not see.
_OF_SENTENCE = (*_OF_STEPS, MOST)
ASKABLE = (*_OF_SENTENCE, *QUESTIONS)
_COUNT = re.compile(r"\d+")
# Some spreadsheets accept full-width characters, too.
_BEGINS_FORMULA = frozenset("=+-@＝＋－＠")


def questions_on(scene: HeadContext) -> list[dict[str, Any]]:
    """Return ten questions on a scene (or fewer if fewer fit) as JSON objects, always the same ones."""
    found: dict[str, dict[str, Any]] = {}
    for question in sorted(ASKABLE, key=lambda each: _RANK.get(each.name, len(_RANK))):
        guess = question.make(scene) if len(found) < N_QUESTIONS else None
        if guess is not None:
            found[question.name] = {"name": question.name, "seen_at": question.seen_at, **asking.packed(guess)}
    return [found[each.name] for each in ASKABLE if each.name in found]


def judged(question: Mapping[str, Any], given: int) -> Mark | None:
    """Return the mark for an answer; None if it does not fit the question."""
    guess, asked = asking.unpacked(question), _known(question["name"])
    answered = asking.given(guess, [given])
    if answered is None:
        return None
    if answered.verdict == "right":
        return Mark(asked.name, given, is_right=True)
    answer = "" if asked.names_words else guess.answers[given]
    thought = "" if asked in _OF_SENTENCE else without_tags(_why(guess, given))
    return Mark(asked.name, given, is_right=False, answer=answer, thought=thought)


def seen(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question for a pupil who has not answered, without the right answer."""
    guess = asking.unpacked(question)
    return {
        "title": _known(question["name"]).title,
        "question": guess.question,
        "label": guess.label,
        "answers": list(guess.answers),
    }


def marked(question: Mapping[str, Any], given: int) -> dict[str, Any]:
    """Return the feedback for a pupil: the right answer and why, and why a wrong one is wrong."""
    guess = asking.unpacked(question)
    why = _why(guess, given) if given not in guess.right else ""
    return {"given": given, "right": sorted(guess.right), "reason": guess.reason, "why": why}


def _why(guess: Guess, given: int) -> str:
    return guess.whys[given] if guess.whys else ""


def summary(tallies: Iterable[Tally]) -> list[dict[str, Any]]:
    """Return for each question how many were right, the most frequent wrong answer, and if it is the single hardest."""
    found: dict[str, list[Tally]] = defaultdict(list)
    for each in tallies:
        found[each.question].append(each)
    rows = [_question_summary(question, found[question.name]) for question in ASKABLE if question.name in found]
    wrong = [row["answered"] - row["right"] for row in rows]
    most = max(wrong, default=0)
    # A mark at each of several questions would not say which to discuss.
    has_hardest = most > 0 and wrong.count(most) == 1
    return [{**row, "isHardest": has_hardest and each == most} for row, each in zip(rows, wrong, strict=True)]


def _question_summary(question: Ready, tallies: Sequence[Tally]) -> dict[str, Any]:
    wrong: dict[str, list[Tally]] = defaultdict(list)
    for each in tallies:
        if not each.is_right and (each.answer or each.thought):
            # Answers that differ only in the number of tokens count as the same.
            wrong[_COUNT.sub("", each.answer)].append(each)
    counts = [_count(each) for each in wrong.values()]
    most = max(counts, default=0)
    # No wrong answer is the most frequent if there is a tie.
    commonest = [each for each, count in zip(wrong.values(), counts, strict=True) if count == most]
    return {
        "title": question.title,
        "answered": _count(tallies),
        "right": _count([each for each in tallies if each.is_right]),
        "wrong": _wrong_answer(commonest[0]) if len(commonest) == 1 else None,
    }


def _wrong_answer(tallies: Sequence[Tally]) -> dict[str, Any]:
    """Return a wrong answer, if all gave it in the same words, and why it is wrong."""
    answers = {each.answer for each in tallies}
    return {
        "answer": answers.pop() if len(answers) == 1 else "",
        "why": tallies[0].thought,
        "count": _count(tallies),
    }


def _count(tallies: Iterable[Tally]) -> int:
    return sum(each.count for each in tallies)


def table(taken: Sequence[Taken], numbers: Mapping[str, str] | None) -> Columns:
    """Return a row per answer: the pupil's number (or nickname, without ``numbers``), sentence, question, answers."""
    names = [as_text(each.nickname) if numbers is None else numbers[each.pupil] for each in taken]
    pupils = zip(names, taken, strict=True)
    rows = [(name, each, question) for name, each in pupils for question in each.questions if question in each.is_right]
    return {
        message("pupil"): [name for name, _, _ in rows],
        message("sentence"): [as_text(each.sentence) for _, each, _ in rows],
        message("question"): [as_no_formula(without_tags(each.asked.get(question, ""))) for _, each, question in rows],
        message("answer"): [as_no_formula(each.answers.get(question, "")) for _, each, question in rows],
        message("right"): [str(int(each.is_right[question])) for _, each, question in rows],
        message("right answer"): [as_no_formula(each.right.get(question, "")) for _, each, question in rows],
    }


def as_text(typed: str) -> str:
    """Return a text that no spreadsheet takes for a formula or a number."""
    return f"'{typed}" if typed[:1].isdigit() else as_no_formula(typed)


def as_no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in _BEGINS_FORMULA else text


def _known(name: str) -> Ready:
    found = next((each for each in ASKABLE if each.name == name), None)
    # A newer version of the server may have dropped a question that an older one has asked.
    return found or Ready(name, name, lambda _: None)
