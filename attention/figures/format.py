"""How numbers are written, on every picture and in every sentence alike."""

from __future__ import annotations

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
    return f"{value:.1e}"
