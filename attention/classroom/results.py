"""All answers of a class to its questions, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attention.classroom import asking
from attention.classroom.own import as_no_formula, as_text
from attention.classroom.own_store import Taken
from attention.classroom.store import Answered, Asked
from attention.core.messages import message
from attention.figures.format import percents
from attention.lesson.prose import without_tags
from attention.lesson.quiz import Guess
from attention.lesson.tables import Columns


def numbers(questions: Iterable[Asked], taken: Iterable[Taken]) -> Mapping[str, str]:
    """Return a class's pupils, each with the number that stands for them in all files.

    Pupils who answer a later question first do not change the numbers of the others.
    """
    seen = [*(asked.answers for asked in questions), [each.pupil for each in taken]]
    pupils = dict.fromkeys(pupil for each in seen for pupil in sorted(each))
    return {pupil: str(number) for number, pupil in enumerate(pupils, 1)}


def table(questions: Sequence[Asked], pupils: Mapping[str, str]) -> Columns:
    """Return a row per answer: the question, its sentence, a number for the pupil, and what was answered.

    Right is 1 or "close", anything else 0, and the column is empty in a poll. Pupils keep their numbers from question
    to question. A question keeps its number when it is asked again, in round 2.
    """
    rows = [(asked, pupil) for asked in questions for pupil in pupils if pupil in asked.answers]
    guesses = {asked.number: asking.unpacked(asked.question) for asked in questions}
    places: dict[int, tuple[int, int]] = {}
    number, turn = 0, 1
    for asked in questions:
        number, turn = (number, turn + 1) if asking.is_again(asked.question) else (number + 1, 1)
        places[asked.number] = (number, turn)
    given = [(guesses[asked.number], asked.answers[pupil]) for asked, pupil in rows]
    return {
        message("number"): [str(places[asked.number][0]) for asked, _ in rows],
        message("round"): [str(places[asked.number][1]) for asked, _ in rows],
        message("question"): [as_text(without_tags(guess.question)) for guess, _ in given],
        message("sentence"): [as_text(asking.sentence(asked.question)) for asked, _ in rows],
        message("pupil"): [pupils[pupil] for _, pupil in rows],
        message("answer"): [as_no_formula(_answer(guess, answered.given)) for guess, answered in given],
        message("right"): [_right(guess, answered) for guess, answered in given],
        message("right answer"): [as_no_formula(_right_answer(guess)) for guess, _ in given],
    }


def _right(guess: Guess, answered: Answered) -> str:
    if asking.is_poll(guess):
        return ""
    return message("close") if answered.verdict == "close" else str(int(answered.verdict == "right"))


def _right_answer(guess: Guess) -> str:
    if guess.shares:
        return _pairs(guess, guess.shares)
    return " / ".join(guess.answers[index] for index in sorted(guess.right))


def _answer(guess: Guess, given: Sequence[int | str]) -> str:
    if guess.is_typed:
        return str(given[0])
    if not guess.shares:
        return guess.answers[int(given[0])]
    sizes = list(map(int, given))
    return _pairs(guess, [each / sum(sizes) for each in sizes])


def _pairs(guess: Guess, shares: Sequence[float]) -> str:
    return ";".join(f"{name}={share}" for name, share in zip(guess.answers, percents(shares), strict=True))
