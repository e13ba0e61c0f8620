"""The table at the end of a benchmark run: measurements and targets."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Report", "kib", "mib", "ms", "p95", "undisturbed"]

# The order of the table.
SECTIONS = (
    "Trace",
    "Many sentences",
    "Step change",
    "Press",
    "Models",
    "Labs",
    "Charts",
    "Thirty people",
    "A hundred people",
    "A class",
    "First picture",
    "Memory",
    "Bytes",
    "All heads",
    "Training",
)


@dataclass(frozen=True, slots=True)
class _Row:
    section: str
    metric: str
    measured: str
    target: str
    verdict: str


@dataclass(slots=True)
class Report:
    """Collects rows, with or without a target."""

    rows: list[_Row] = field(default_factory=list)

    def add(self, section: str, metric: str, measured: str) -> None:
        """Add a number without a target."""
        self.rows.append(_Row(section, metric, measured, "", ""))

    def compare(self, section: str, metric: str, value: float, target: float, unit: str, digits: int = 0) -> None:
        """Add a number and its upper limit; exceeding it is reported, and fails nothing."""
        verdict = "ok" if value <= target else "missed"
        self.rows.append(_Row(section, metric, f"{value:,.{digits}f}{unit}", f"≤ {target:,g}{unit}", verdict))

    def table(self) -> list[str]:
        """Return the lines of the table."""
        rows = sorted(self.rows, key=lambda row: SECTIONS.index(row.section))
        cells = [("", "metric", "measured", "target", "ok?")]
        for before, row in zip([None, *rows], rows, strict=False):
            section = "" if before is not None and before.section == row.section else row.section
            cells.append((section, row.metric, row.measured, row.target, row.verdict))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        aligned = (str.ljust, str.ljust, str.rjust, str.rjust, str.ljust)
        lines = [
            "  ".join(align(cell, width) for align, cell, width in zip(aligned, line, widths, strict=True)).rstrip()
            for line in cells
        ]
        return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Switch off this process's garbage collector during a measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def ms(seconds: float) -> str:
    """Format a time in milliseconds."""
    return f"{1000 * seconds:,.0f} ms" if seconds >= 0.1 else f"{1000 * seconds:,.1f} ms"


def kib(n_bytes: float) -> str:
    """Format a size in KiB."""
    return f"{n_bytes / 1024:,.0f} KiB"


def mib(n_bytes: float) -> str:
    """Format a size in MiB."""
    return f"{n_bytes / 2**20:,.0f} MiB"
