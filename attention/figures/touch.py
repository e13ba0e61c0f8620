"""What a press in a picture means: the parameters of the link to which it leads.

A picture's script sends what was pressed, and a browser can send anything. A touch checks it against what there is to
press, and holds names and sizes alone: a session keeps it longer than the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeGuard

__all__ = ["Parts", "Touch", "TouchOne", "indices", "is_index"]

# Names of what was chosen, and their values as a link has them; None is what a link leaves out.
Parts = dict[str, str | None]


class Touch(Protocol):
    """What can be pressed in one picture."""

    @property
    def acts(self) -> tuple[str, ...]:
        """The kinds of presses, as the picture's script calls them."""

    def said(self, act: str, value: object) -> Parts | None:
        """Return what a press of a kind has chosen; None if there is no such thing to press."""


@dataclass(frozen=True, slots=True)
class TouchOne:
    """One of several things in a row, counted in a link from ``first``."""

    name: str
    count: int
    first: int = 0
    acts: tuple[str, ...] = ("choose",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return which one was pressed."""
        return {self.name: str(value + self.first)} if act in self.acts and is_index(value, self.count) else None


def is_index(value: object, size: int) -> TypeGuard[int]:
    """Tell whether a value that came from a browser is one of so many indices."""
    return type(value) is int and 0 <= value < size


def indices(value: object, size: int) -> tuple[int, ...] | None:
    """Return a list of indices in order, each once, if it is one."""
    if not isinstance(value, list) or not all(is_index(index, size) for index in value):
        return None
    return tuple(sorted(set(value)))
