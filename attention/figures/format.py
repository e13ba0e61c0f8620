"""How numbers are written, on every picture and in every sentence alike, and how they travel to a browser."""

from __future__ import annotations

import base64

import numpy as np
from numpy import ndarray as Array

MINUS = "\u2212"


def number(value: float, decimals: int = 2) -> str:
    """Write a number with a real minus sign; what rounds to zero is written without one; ``-inf`` as −∞."""
    if value == float("-inf"):
        return f"{MINUS}∞"
    text = f"{abs(value):.{decimals}f}"
    is_zero = float(text) == 0
    return text if value >= 0 or is_zero else f"{MINUS}{text}"


def scientific(value: float) -> str:
    """Write a very small number with two significant digits: ``2.4e-07``."""
    # Zero has no sign.
    return f"{value + 0.0:.1e}"


def packed(numbers: Array) -> str:
    """Write numbers for a browser: little-endian float32, row by row, in base64."""
    return base64.b64encode(np.ascontiguousarray(numbers, "<f4").tobytes()).decode("ascii")
