"""All answers of a class to its questions, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from attention.classroom import asking
from attention.classroom.own import as_no_formula, as_text
from attention.classroom.store import Asked
from attention.core.messages import message
from attention.figures.format import percents
from attention.lesson.prose import without_tags
from attention.lesson.quiz import Guess
from attention.lesson.tables import Columns


def table(questions: Sequence[Asked]) -> Columns:
    """Return a row per answer: the question, its sentence, a number for the pupil, and what was answered.

    Right is 1, anything else 0, and the column is empty in a poll. Pupils keep their numbers from question to question.
    A question is in round 1, and in round 2 when it is asked again.
    """
    pupils = sorted({pupil for asked in questions for pupil in asked.answers})
    numbers = {pupil: str(number) for number, pupil in enumerate(pupils, 1)}
    rows = [(asked, pupil) for asked in questions for pupil in pupils if pupil in asked.answers]
    guesses = {asked.number: asking.unpacked(asked.question) for asked in questions}
    rounds: dict[int, int] = {}
    for asked in questions:
        rounds[asked.number] = 1 + (rounds.get(asked.number - 1, 1) if asking.is_again(asked.question) else 0)
    given = [(guesses[asked.number], asked.answers[pupil]) for asked, pupil in rows]
    return {
        message("number"): [str(asked.number) for asked, _ in rows],
        message("round"): [str(rounds[asked.number]) for asked, _ in rows],
        message("question"): [as_text(without_tags(guess.question)) for guess, _ in given],
        message("sentence"): [as_text(asking.sentence(asked.question)) for asked, _ in rows],
        message("pupil"): [numbers[pupil] for _, pupil in rows],
        message("answer"): [as_no_formula(_answer(guess, answered.given)) for guess, answered in given],
        message("right"): [
            "" if asking.is_poll(guess) else str(int(answered.verdict == "right")) for guess, answered in given
        ],
    }


def _answer(guess: Guess, given: Sequence[int | str]) -> str:
    if guess.is_typed:
        return str(given[0])
    if not guess.shares:
        return guess.answers[int(given[0])]
    numbers = list(map(int, given))
    shares = percents([each / sum(numbers) for each in numbers])
    return ", ".join(f"{name} {share}" for name, share in zip(guess.answers, shares, strict=True))
