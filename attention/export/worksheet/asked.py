"""The questions of a worksheet: those about the step, and about another token than its tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from attention.export.worksheet.base import Grid, Task
from attention.figures.format import MINUS
from attention.lesson.head_context import HeadContext
from attention.lesson.questions import QUESTIONS, ready
from attention.lesson.quiz import Guess, words_of
from attention.lesson.steps.base import Step

MOST_ASKED = 4
_NUMBER = re.compile(rf"[{MINUS}-]?\d+\.\d+")
_ALIKE = 0.011  # the largest difference due to rounding


def elsewhere(scene: HeadContext) -> HeadContext:
    """Return the same head with another token in focus: the next word that sees several keys, else any token.

    Questions about it reveal nothing about the token in focus. A single token stays in focus.
    """
    others = [place for place in range(len(scene.tokens)) if place != scene.word]
    free = [place for place in others if scene.visible[place].sum() > 1 and not scene.tokens[place].is_padding]
    words = set(words_of(scene.tokens)) & set(free)
    found = sorted(words or free or others, key=lambda place: (place < scene.word, place))
    return replace(scene, word=found[0], cell=None) if found else scene


def questions_of(step: Step, scene: HeadContext, tasks: Sequence[Task]) -> tuple[Guess, ...]:
    """Return questions about a scene that fit a step and do not reveal the tasks' answers."""
    kept = [number for task in tasks for grid in task.grids for number in _answers(grid)]
    first = [each for name in step.questions if (each := ready(name)) is not None]
    found: list[Guess] = []
    for question in (*first, *(each for each in QUESTIONS if each not in first)):
        guess = question.make(scene) if len(found) < MOST_ASKED else None
        found += [] if guess is None or _reveals(guess, kept) else [guess]
    return tuple(found)


def _answers(grid: Grid) -> list[float]:
    """Return the numbers for a table's blanks, and the model's own."""
    told = [blank.answer for blank in grid.blanks] + [str(cell) for _, cells in grid.own for cell in cells]
    return [number for text in told for number in _numbers(text)]


def _reveals(guess: Guess, kept: Sequence[float]) -> bool:
    said = _numbers(" ".join((guess.question, *guess.answers)))
    return any(abs(one - other) <= _ALIKE for one in said for other in kept)


def _numbers(text: str) -> list[float]:
    return [float(found.replace(MINUS, "-")) for found in _NUMBER.findall(text)]
