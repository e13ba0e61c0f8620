"""A place in a picture that a teacher points at, given by numbers, never by text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeGuard

# A view's mark, or a picture's key, which may contain a model's name.
_NAME = re.compile(r"[\w./-]{1,80}", re.ASCII)
# A place has at most two numbers, such as row and column, layer and head, series and point.
_MOST_NUMBERS, _LARGEST = 2, 2**24


@dataclass(frozen=True, slots=True)
class Pointed:
    """A place in a picture of a view, by the picture's own indices, which count from 0."""

    view: str
    picture: str
    at: tuple[int, ...]

    @classmethod
    def of(cls, said: object) -> Self | None:
        """Return the place that a browser sends; None if it is invalid."""
        if not isinstance(said, dict):
            return None
        view, picture, at = said.get("view"), said.get("picture"), said.get("at")
        if not _is_name(view) or not _is_name(picture):
            return None
        if not isinstance(at, list) or not 0 < len(at) <= _MOST_NUMBERS or not all(map(_is_number, at)):
            return None
        return cls(view, picture, tuple(at))


def read(said: Mapping[str, Any]) -> Pointed | None:
    """Return the place that a teacher points at (None for nothing any more); raise ValueError if malformed."""
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
