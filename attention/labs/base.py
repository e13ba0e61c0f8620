"""What a lab is: one idea, one to three knobs, one thing to guess before looking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from attention.blocks import Blocks
from attention.lesson.guess import Guess
from attention.lesson.scene import Scene
from attention.parameters import Parameter, Values
from attention.trace import ModelInfo

__all__ = ["Lab"]


def _every(_: ModelInfo) -> bool:
    return True


# Compared by identity: there is one of each.
@dataclass(frozen=True, slots=True, eq=False)
class Lab:
    """A page with one idea, in one object; ``attention.pages`` makes the page of it.

    ``knobs`` are what can be set on it. ``guess`` returns what is asked first, about the head that is looked at where
    there is one; ``content`` returns what is shown then. Both get no scene if no model has run. ``is_for`` tells for
    which models it makes sense.
    """

    address: str
    title: str
    purpose: str
    knobs: tuple[Parameter[Any], ...] = field(repr=False)
    guess: Callable[[Scene | None], Guess | None] = field(repr=False)
    content: Callable[[Values, Scene | None], Blocks] = field(repr=False)
    is_for: Callable[[ModelInfo], bool] = field(default=_every, repr=False)
