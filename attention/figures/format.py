"""How numbers are written, in all pictures and sentences alike, and how they are sent to a browser."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy import ndarray as Array

MINUS = "\u2212"

# What a shade of 8 bits is: 0 is what the mask hides and 255 no number; between them lie the steps of the colours.
_HIDDEN, _NO_NUMBER = 0, 255


def number(value: float, decimals: int = 2) -> str:
    """Write a number with a real minus sign, or none if it rounds to zero; ``-inf`` is written as −∞."""
    if value == float("-inf"):
        return f"{MINUS}∞"
    text = f"{abs(value):.{decimals}f}"
    is_zero = float(text) == 0
    return text if value >= 0 or is_zero else f"{MINUS}{text}"


def scientific(value: float) -> str:
    """Write a very small number with two significant digits: ``2.4e-07``."""
    # Adding 0.0 turns a negative zero into a positive one.
    return f"{value + 0.0:.1e}"


def named(labels: Sequence[str]) -> list[str] | int:
    """Return names for a browser: only their count where they are the numbers from 0.

    >>> named(("0", "1", "2")), named(("1", "2"))
    (3, ['1', '2'])
    """
    are_numbers = all(label == str(index) for index, label in enumerate(labels))
    return len(labels) if are_numbers else list(labels)


def packed(numbers: Array) -> str:
    """Encode numbers for a browser: little-endian float32, row by row, in base64."""
    return _base64(exact(numbers))


def exact(numbers: Array) -> bytes:
    """Return numbers as little-endian float32, row by row."""
    return np.ascontiguousarray(numbers, "<f4").tobytes()


def shades(numbers: Array, limit: float, *, is_signed: bool) -> str:
    """Encode numbers for a browser that only draws them, where ``limit`` has the full colour: 8 bits each, in base64.

    From 0 to the limit, a shade is ``1 + 253·x / limit``; of signed numbers it is ``127 + 126·x / limit``. So what is
    drawn is off by at most 1/506 or 1/252 of the limit. Beyond the limit, the colour is the full one. ``-inf`` is what
    the mask hides; NaN is no number.
    """
    lowest, zero, steps = (-1, 127, 126) if is_signed else (0, 1, 253)
    is_number = np.isfinite(numbers)
    with np.errstate(over="ignore"):
        parts = np.clip(np.where(is_number, numbers, 0) / limit, lowest, 1)
    found = np.where(is_number, np.rint(zero + steps * parts), np.where(np.isneginf(numbers), _HIDDEN, _NO_NUMBER))
    return _base64(found.astype(np.uint8).tobytes())


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
