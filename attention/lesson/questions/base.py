"""The parts of a ready question: answers, one of them right by the record, and a reply to the wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import Guess

# Largest difference due to rounding.
NEAR = 1e-4
# Largest difference of numbers that may be written alike.
ALIKE = 0.005


@dataclass(frozen=True, slots=True)
class Ready:
    """A question about a misconception, made from the current text.

    Attributes:
        name: its name in a request.
        title: its title in the teacher's list.
        make: makes the question from a scene; None where it does not apply.
        is_hidden: whether the view's pictures could reveal the answer and stay hidden until it is shown.
        names_words: whether words of the text are among the answers.
        seen_at: the step or page that shows the answer.
    """

    name: str
    title: str
    make: Callable[[HeadContext], Guess | None]
    is_hidden: bool = False
    names_words: bool = False
    seen_at: str = "softmax"


def pick(question: str, reason: str, why: str, answers: Sequence[str], right: int) -> Guess:
    """Return a question with one right answer; ``why`` replies to all others."""
    whys = tuple("" if index == right else why for index in range(len(answers)))
    return Guess(question, tuple(answers), reason, frozenset({right}), whys=whys)


def several() -> tuple[str, ...]:
    """Return the answers that ``how_many`` indexes."""
    return (
        message("all of them"),
        message("more than half, but not all"),
        message("half or fewer, but at least one"),
        message("none"),
    )


def how_many(count: int, total: int) -> int:
    """Return the index in ``several`` for ``count`` out of ``total``."""
    if count == total:
        return 0
    return 1 if 2 * count > total else 2 if count else 3


def can_choose(scene: HeadContext) -> bool:
    """Return whether the token in focus sees more than one key."""
    return int(scene.visible[scene.word].sum()) > 1


def choosing(scene: HeadContext) -> Bool[Array, " Q"]:
    """Mark the rows of tokens, without padding, that see more than one key."""
    chooses: Bool[Array, " Q"] = (scene.visible.sum(axis=1) > 1) & ~_is_padding(scene)
    return chooses


def some_see_one(scene: HeadContext) -> bool:
    """Return whether any token, padding aside, sees no more than one key."""
    return not (choosing(scene) | _is_padding(scene)).all()


def _is_padding(scene: HeadContext) -> Bool[Array, " Q"]:
    return np.array([token.is_padding for token in scene.tokens])


def is_first(row: Float[Array, " K"], key: int) -> bool:
    """Return whether no key has more than this one."""
    return bool(row[key] >= row.max() - NEAR)


def leads(row: Float[Array, " K"], key: int) -> bool:
    """Return whether all other keys have clearly less."""
    return bool(row[key] - np.delete(row, key).max() > ALIKE)
