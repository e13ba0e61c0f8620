"""The one question of the front door."""

from __future__ import annotations

from dataclasses import replace

from attention.lesson.guess import Guess, highest
from attention.lesson.prose import fact, lesson, word
from attention.lesson.scene import Scene
from attention.words import CONTINUES

__all__ = ["guess"]


def guess(scene: Scene) -> Guess | None:
    """Ask which word the one in focus gives the most weight to; None if there are fewer than two to choose from."""
    names, row = scene.key_names, scene.steps.weights[scene.word]
    asked = highest(
        scene,
        row,
        lesson("guess/front", focus=word(scene.names[scene.word])),
        lambda key: lesson("guess/front-because", best=word(names[key]), weight=fact(float(row[key]))),
        lambda key: lesson("guess/front-apart", highest=word(names[key]), highest_weight=fact(float(row[key]))),
    )
    if asked is None or not any(answer.startswith(CONTINUES) for answer in asked.answers):
        return asked
    return replace(asked, question=asked.question + lesson("guess/front-pieces"))
