"""What a teacher points at: a place in a picture, given by numbers, never by text, the room's code, or results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# A view's mark, or a picture's key, which may contain a model's name.
_NAME = re.compile(r"[\w./-]{1,80}", re.ASCII)
# A place has at most two numbers, such as row and column, layer and head, series and point.
_MOST_NUMBERS, _LARGEST = 2, 2**24


def read(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a teacher points at, None if nothing; raise ValueError if malformed.

    It is the ``view`` and the ``picture`` by name, and the place in it by its own indices, which count from 0; or the
    room's code or the results of the ten questions (``isOwn``), which a wall then shows large.
    """
    if "point" not in said:
        raise ValueError("nothing is said of a point")
    match said["point"]:
        case None:
            return None
        case {"isCode": True}:
            return {"isCode": True}
        case {"isOwn": True}:
            return {"isOwn": True}
        case {"view": view, "picture": picture, "at": [_, *_] as at} if len(at) <= _MOST_NUMBERS:
            if _is_name(view) and _is_name(picture) and all(map(_is_number, at)):
                return {"view": view, "picture": picture, "at": at}
    raise ValueError("this is no place in a picture")


def is_seen(point: Mapping[str, Any], view: str | None) -> bool:
    """Tell whether the class sees what a teacher points at, given the mark of its view."""
    return "view" not in point or point["view"] == view


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST
