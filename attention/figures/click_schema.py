"""What a press on a picture means: the parameters of the link to which it leads.

A picture's script sends what was pressed, but a browser can send anything. A touch checks it against what can be
pressed. It holds only names and sizes, because a session keeps it longer than the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeGuard

__all__ = ["ClickSchema", "Parts", "TouchOne", "indices", "is_index"]

# The names of what was chosen, and the values as they are written in a link; None is left out of the link.
Parts = dict[str, str | None]


class ClickSchema(Protocol):
    """What can be pressed in one picture."""

    @property
    def acts(self) -> tuple[str, ...]:
        """The kinds of press, as the picture's script calls them."""

    def said(self, act: str, value: object) -> Parts | None:
        """Return what a press has chosen; None if there is no such thing to press."""


@dataclass(frozen=True, slots=True)
class TouchOne:
    """One of several things in a row, which a link counts from ``first``."""

    name: str
    count: int
    first: int = 0
    acts: tuple[str, ...] = ("choose",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the number of the one that was pressed, as in a link."""
        return {self.name: str(value + self.first)} if act in self.acts and is_index(value, self.count) else None


def is_index(value: object, size: int) -> TypeGuard[int]:
    """Tell whether a value sent by a browser is an index below ``size``."""
    return type(value) is int and 0 <= value < size


def indices(value: object, size: int) -> tuple[int, ...] | None:
    """Return a list of indices in ascending order without repetition; None if it is not such a list."""
    if not isinstance(value, list) or not all(is_index(index, size) for index in value):
        return None
    return tuple(sorted(set(value)))
