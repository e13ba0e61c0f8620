"""How numbers are written, in all pictures and sentences alike, and how they are sent to a browser."""

from __future__ import annotations

import base64

import numpy as np
from numpy import ndarray as Array

MINUS = "\u2212"


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


def packed(numbers: Array) -> str:
    """Encode numbers for a browser: little-endian float32, row by row, in base64."""
    return base64.b64encode(np.ascontiguousarray(numbers, "<f4").tobytes()).decode("ascii")
