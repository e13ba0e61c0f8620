"""Validate a press on a picture and turn it into link parameters.

A browser can send anything, so each ``ClickSchema`` checks a press against what can be pressed. It holds only names and
sizes, because a session keeps it longer than the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeGuard

# Link parameters; None removes a parameter from the link.
Parts = dict[str, str | None]


class ClickSchema(Protocol):
    """What can be pressed in one picture."""

    @property
    def acts(self) -> tuple[str, ...]:
        """The kinds of press, as named by the picture's script."""

    def said(self, act: str, value: object) -> Parts | None:
        """Return the link parameters of a press; None if it is invalid."""


@dataclass(frozen=True, slots=True)
class TouchOne:
    """One of several items in a row; links count them from ``first``."""

    name: str
    count: int
    first: int = 0
    acts: tuple[str, ...] = ("choose",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the number of the pressed thing."""
        return {self.name: str(value + self.first)} if act in self.acts and is_index(value, self.count) else None


def is_index(value: object, size: int) -> TypeGuard[int]:
    """Return whether a value sent by a browser is an index below ``size``."""
    return type(value) is int and 0 <= value < size


def indices(value: object, size: int) -> tuple[int, ...] | None:
    """Return a list of indices sorted and without duplicates; None if the value is invalid."""
    if not isinstance(value, list) or not all(is_index(index, size) for index in value):
        return None
    return tuple(sorted(set(value)))
