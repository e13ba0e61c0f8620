"""How numbers are written in pictures and sentences, and encoded for the browser."""

from __future__ import annotations

import base64
import math
import re
import string
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

# How Python writes a number with a fraction or an exponent.
FRACTION = re.compile(r"-?\d+(?:\.\d+(?:e[+-]\d+)?|e[+-]\d+)")
MINUS = "\u2212"
# With more rows or columns, the cells of a matrix are too small for numbers, which are then shown on hover.
MAX_LABELLED = 24
# The colour scale ends at this percentile of the magnitudes if the largest is more than this many times as large.
_USUAL, _MUCH_LARGER = 98, 3
# A matrix with this many rows (or columns) may exclude one from that: with fewer, one would be too large a part; with
# more, a single one is above the percentile anyway.
_FEWEST, _MOST = 4, 100 // (100 - _USUAL)

# Shade 0 is a masked cell and 63 NaN; the steps of the colours lie between.
_HIDDEN, _NO_NUMBER = 0, 63
# One base64 letter for each shade: two shades in a letter would be longer once compressed.
_LETTERS = np.frombuffer(f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}+/".encode(), np.uint8)
_MANY = 8_000


def number(value: float, decimals: int = 2) -> str:
    """Format a number with a real minus sign, omitted if it rounds to zero; ``-inf`` becomes −∞."""
    if value == float("-inf"):
        return f"{MINUS}∞"
    text = f"{abs(value):.{decimals}f}"
    is_zero = float(text) == 0
    return text if value >= 0 or is_zero else f"{MINUS}{text}"


def decimals_of(limit: float) -> int:
    """Return the number of decimals for numbers up to a limit, so that the largest has two significant digits.

    >>> decimals_of(31.2), decimals_of(0.5), decimals_of(0.1), decimals_of(0.048), decimals_of(0.0021)
    (2, 2, 2, 3, 4)
    """
    return min(6, 1 - math.floor(math.log10(limit))) if limit < 0.1 else 2


def percent(part: float) -> str:
    """Format a fraction as a percentage, with one decimal below 1%.

    >>> percent(0.824), percent(0.004), percent(0)
    ('82%', '0.4%', '0%')
    """
    return f"{100 * part:.1f}%" if 0.0005 <= part < 0.00995 else f"{100 * part:.0f}%"


def percents(parts: Sequence[float]) -> tuple[str, ...]:
    """Format fractions as percentages, rounded as by in_percent.

    >>> percents((0.01146, 0.00443)), percents((0.01589,))
    (('1.2%', '0.4%'), ('1.6%',))
    """
    return tuple(f"{size:.1f}%" for size in in_percent(parts))


def in_percent(parts: Sequence[float]) -> list[float]:
    """Round fractions to percentages with one decimal that add up to their rounded sum (largest remainder method)."""
    sizes = [1000 * part for part in parts]
    rounded = [int(size) for size in sizes]
    missing = round(sum(sizes)) - sum(rounded)
    for place in sorted(range(len(sizes)), key=lambda place: rounded[place] - sizes[place])[:missing]:
        rounded[place] += 1
    return [size / 10 for size in rounded]


def readable(columns: Mapping[str, Sequence[object]]) -> dict[str, list[object]]:
    """Round the numbers in columns, also those in text, to five significant digits.

    >>> readable({"weight": ["0.8203125", "0.5", "12"]})
    {'weight': ['0.82031', '0.5', '12']}
    >>> readable({"entropy": [1.23456789]})
    {'entropy': [1.2346]}
    """
    return {name: [_rounded(cell) for cell in column] for name, column in columns.items()}


def _rounded(cell: object) -> object:
    if isinstance(cell, float):
        return float(f"{cell:.5g}")
    if not isinstance(cell, str) or not FRACTION.fullmatch(cell):
        return cell
    short = f"{float(cell):.5g}"
    return short if len(short) < len(cell) else cell


def scientific(value: float) -> str:
    """Format a very small number with two significant digits: ``2.4e-07``."""
    # Adding 0.0 turns a negative zero into a positive one.
    return f"{value + 0.0:.1e}"


def full_colour(numbers: Float[Array, "R C"]) -> float:
    """Return the end of a colour scale around 0: the largest magnitude, or 1 if all are 0.

    If the cells are too small for numbers and a few outliers would leave all others pale, it is the 98th percentile; if
    a whole row or column is the outlier, that percentile of the others.
    """
    sizes = np.where(np.isfinite(numbers), np.abs(numbers, dtype=np.float64), np.nan)
    largest = float(np.nanmax(sizes, initial=0))
    if max(sizes.shape) <= MAX_LABELLED:
        return largest or 1.0
    lessened = (_without_largest(each) for each in (sizes, sizes.T) if _FEWEST <= len(each) <= _MOST)
    usual = min(map(_usual, (sizes, *lessened)))
    return usual if 0 < usual * _MUCH_LARGER < largest else largest or 1.0


def _usual(sizes: Float[Array, "R C"]) -> float:
    """Return the 98th percentile, ignoring NaN."""
    finite = sizes[~np.isnan(sizes)]
    if not finite.size:
        return 0.0
    # ``np.percentile`` takes ten times as long on so few numbers.
    before, share = divmod((len(finite) - 1) * _USUAL, 100)
    places = [before, min(before + 1, len(finite) - 1)]
    low, high = np.partition(finite, places)[places]
    return float(low + (high - low) * share / 100)


def _without_largest(sizes: Float[Array, "R C"]) -> Float[Array, "r C"]:
    """Drop the row with the largest sum."""
    return np.delete(sizes, int(np.nansum(sizes, axis=1).argmax()), axis=0)


def named(labels: Sequence[str]) -> list[str] | int | list[int]:
    """Compress labels for the browser: the numbers from 0 to their count, all pairs of two counts to these.

    >>> named(("0", "1", "2")), named(("1", "2")), named(("1:0", "1:1", "1:2", "2:0", "2:1", "2:2"))
    (3, ['1', '2'], [2, 3])
    """
    if all(label == str(index) for index, label in enumerate(labels)):
        return len(labels)
    counts = re.fullmatch(r"(\d+):(\d+)", labels[-1], re.ASCII)
    if counts is None:
        return list(labels)
    outer, inner = int(counts[1]), int(counts[2]) + 1
    are_pairs = len(labels) == outer * inner and all(
        label == f"{index // inner + 1}:{index % inner}" for index, label in enumerate(labels)
    )
    return [outer, inner] if are_pairs else list(labels)


def packed(numbers: Array) -> str:
    """Encode numbers as little-endian float32, row by row, in base64."""
    return base64.b64encode(exact(numbers)).decode("ascii")


def exact(numbers: Array) -> bytes:
    """Return numbers as little-endian float32, row by row."""
    return np.ascontiguousarray(numbers, "<f4").tobytes()


def shades(numbers: Array, limit: float, *, is_signed: bool) -> str:
    """Encode numbers that are only drawn, as one base64 letter (0 to 63) each; ``limit`` has the full colour.

    A shade is ``1 + 48·x / limit``, so that sixteenths are exact, or ``31 + 29·x / limit`` for signed numbers: an error
    of at most 1/96 or 1/58 of the limit. If there ``are_many``, there are fewer steps: 1/32 or 1/14. Beyond the limit,
    the colour is the full one, and a signed number is one step further. ``-inf`` is a masked cell.
    """
    zero, steps, few = (31, 29, 7) if is_signed else (1, 48, 16)
    is_number = np.isfinite(numbers)
    with np.errstate(over="ignore"):
        parts = np.where(is_number, numbers, 0) / limit
    about = np.clip(parts, -1 if is_signed else 0, 1)
    if are_many(numbers):
        about = np.rint(few * about) / few
    found = np.rint(zero + steps * about) + (np.sign(parts) * (np.abs(parts) > 1) if is_signed else 0)
    found = np.where(is_number, found, np.where(np.isneginf(numbers), _HIDDEN, _NO_NUMBER))
    return _LETTERS[found.astype(np.uint8)].tobytes().decode("ascii")


def are_many(numbers: Array) -> bool:
    """Return whether there are so many numbers that they are sent in fewer shades."""
    return numbers.size > _MANY
