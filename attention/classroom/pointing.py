"""What a teacher points at: a place in a picture that a class sees, by its key and numbers; nothing of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeGuard

__all__ = ["Pointed", "read"]

# A view's mark, and a picture's key, which may have the name of a model in it.
_NAME = re.compile(r"[\w./-]{1,80}", re.ASCII)
# Most places have two numbers: a row and a column, a layer and a head, a series and a point.
_MOST_NUMBERS, _LARGEST = 2, 2**24


@dataclass(frozen=True, slots=True)
class Pointed:
    """A place in a picture of a view, by the picture's own numbers, which count from 0."""

    view: str
    picture: str
    at: tuple[int, ...]

    @classmethod
    def of(cls, said: object) -> Self | None:
        """Return what a browser says; None if that is no place."""
        if not isinstance(said, dict):
            return None
        view, picture, at = said.get("view"), said.get("picture"), said.get("at")
        if not _is_name(view) or not _is_name(picture):
            return None
        if not isinstance(at, list) or not 0 < len(at) <= _MOST_NUMBERS or not all(map(_is_number, at)):
            return None
        return cls(view, picture, tuple(at))


def read(said: Mapping[str, Any]) -> Pointed | None:
    """Return what a teacher points at; None if that is nothing any more.

    Raises:
        ValueError: what was sent says neither.
    """
    if "point" not in said:
        raise ValueError("nothing is said of a point")
    if said["point"] is None:
        return None
    found = Pointed.of(said["point"])
    if found is None:
        raise ValueError("this is no place in a picture")
    return found


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_number(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < _LARGEST
