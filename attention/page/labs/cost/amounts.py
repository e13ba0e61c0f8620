"""Formats of amounts in the lab What it costs, and its axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attention.core.messages import message
from attention.figures import charts
from attention.figures.charts import Chart, Curve

_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_COUNTS = (
    (1e15, message("quadrillion")),
    (1e12, message("trillion")),
    (1e9, message("billion")),
    (1e6, message("million")),
)


def _in_units(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return an amount with three significant digits, in the largest unit of which there is at least one."""
    size, unit = next((each for each in units if value >= each[0]), units[-1])
    share = value / size
    decimals = max(0, 2 - math.floor(math.log10(share))) if share else 0
    return f"{share:.{decimals}f} {unit}"


def as_bytes(value: float) -> str:
    """Return a number of bytes as HTML."""
    return f"<b>{_in_units(value, _BYTES)}</b>"


def seconds(value: float) -> str:
    """Return a time as HTML."""
    return f"<b>{_in_units(value, _SECONDS)}</b>"


def count(value: float) -> str:
    """Return a number as HTML: in full or, from a million on, with three digits."""
    return f"<b>{value:,.0f}</b>" if value < _COUNTS[-1][0] else f"<b>{_in_units(value, _COUNTS)}</b>"


def factors_chart(lengths: Sequence[int], curves: Sequence[Curve], title: str, alt: str) -> Chart:
    """Return a log–log chart by number of tokens."""
    return Chart(charts.factors(lengths, curves, title, alt, message("tokens"), short))


def short(length: int) -> str:
    """Return a power of two as on an axis: 64, 1k, 1M."""
    for size, letter in ((2**20, "M"), (2**10, "k")):
        if length >= size:
            return f"{length // size}{letter}"
    return str(length)
