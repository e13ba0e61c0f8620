"""Conversions of arguments: any integer to ``int``, any sequence of integers to a tuple."""

from __future__ import annotations

import operator
import reprlib
from typing import Any


def integer(name: str, given: Any) -> int:
    """Return any integer, Python's, NumPy's, or the only element of an array or tensor; raise TypeError for others."""
    try:
        return operator.index(given.item() if hasattr(given, "item") else given)
    except (TypeError, ValueError, RuntimeError):
        # An array of several numbers raises ValueError, and a tensor RuntimeError.
        raise TypeError(f"{name} must be a whole number, got {reprlib.repr(given)}") from None


def integers(name: str, given: Any) -> tuple[int, ...]:
    """Return the integers of any sequence, set, array or tensor; raise TypeError for anything else."""
    try:
        found = tuple(given)
    except TypeError:
        raise TypeError(f"{name} must be a sequence of whole numbers, got {reprlib.repr(given)}") from None
    return tuple(integer(name, each) for each in found)


def counted(name: str, given: Any) -> int:
    """Return any integer from 0; raise TypeError for anything else, ValueError if it is negative."""
    number = integer(name, given)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}: layers, heads and tokens are counted from 0")
    return number


def check_below(**places: tuple[int, int]) -> None:
    """Raise ValueError unless each number, by name, is below its count."""
    for name, (number, count) in places.items():
        if number >= count:
            raise ValueError(f"{name} must be between 0 and {count - 1}, got {number}")


def printable(text: str) -> str:
    """Return a text that can be written as UTF-8: surrogate pairs are joined, lone surrogates become U+FFFD.

    Raises TypeError for anything but a string.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text must be one string, got {type(text).__name__}")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
