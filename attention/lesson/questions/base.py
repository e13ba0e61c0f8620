"""What a ready question is made of: answers, one of which the record calls right, and why one may think another is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import exact, small
from attention.lesson.quiz import Guess

__all__ = [
    "ALIKE",
    "NEAR",
    "Ready",
    "can_choose",
    "choosing",
    "how_many",
    "is_first",
    "leads",
    "pick",
    "several",
    "told",
]

# Numbers that differ by no more than this are equal but for rounding.
NEAR = 1e-4
# Numbers that differ by no more than this may be written alike.
ALIKE = 0.005
# With four decimals, anything smaller would be written as 0.
_LEAST_EXACT = 0.00005


@dataclass(frozen=True, slots=True)
class Ready:
    """A question about a misconception, made of the text at hand.

    Attributes:
        name: what it is called in a request.
        title: what a teacher chooses it by.
        make: makes the question of a scene; None where the scene has no such case.
        is_hidden: whether the pictures of the view could tell the answer, so that they wait until it is shown.
        names_words: whether words of the text are among the answers.
        seen_at: where one can see what is right: a step, or another page.
    """

    name: str
    title: str
    make: Callable[[HeadContext], Guess | None]
    is_hidden: bool = False
    names_words: bool = False
    seen_at: str = "softmax"


def pick(question: str, reason: str, answers: Sequence[tuple[str, str]], right: int) -> Guess:
    """Return a question with one right answer; each answer comes with why one may think so, in case it is not right."""
    whys = tuple("" if index == right else why for index, (_, why) in enumerate(answers))
    return Guess(question, tuple(answer for answer, _ in answers), reason, frozenset({right}), whys=whys)


def several() -> tuple[str, ...]:
    """Return the answers to which ``how_many`` belongs."""
    return (
        message("all of them"),
        message("more than half, but not all"),
        message("half or fewer, but at least one"),
        message("none"),
    )


def how_many(count: int, total: int) -> int:
    """Return which of ``several`` says how many of them all there are."""
    if count == total:
        return 0
    return 1 if 2 * count > total else 2 if count else 3


def can_choose(scene: HeadContext) -> bool:
    """Tell whether the token in focus may attend to more than one."""
    return int(scene.visible[scene.word].sum()) > 1


def choosing(scene: HeadContext) -> Bool[Array, " Q"]:
    """Tell which rows are those of tokens of the text that may attend to more than one token."""
    is_padding = np.array([token.is_padding for token in scene.tokens])
    chooses: Bool[Array, " Q"] = (scene.visible.sum(axis=1) > 1) & ~is_padding
    return chooses


def is_first(row: Float[Array, " K"], key: int) -> bool:
    """Tell whether no key has more than this one."""
    return bool(row[key] >= row.max() - NEAR)


def leads(row: Float[Array, " K"], key: int) -> bool:
    """Tell whether all others have clearly less than this one."""
    return bool(row[key] - np.delete(row, key).max() > ALIKE)


def told(value: float) -> str:
    """Return a number with so many digits that it is not written as 0 unless it is."""
    return exact(value) if value == 0 or abs(value) >= _LEAST_EXACT else f"<b>{small(value)}</b>"
