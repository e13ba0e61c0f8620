"""What a worksheet is, as data: tables with blanks, what to do with them, questions, and what is told afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from attention.figures.format import number
from attention.lesson.quiz import Guess

__all__ = ["MOST", "Blank", "Grid", "Row", "Task", "Worksheet", "apart", "rounded", "window", "written"]

# So many columns or rows of a table have room on a sheet of paper, with boxes that are wide enough for a hand.
MOST = 9


@dataclass(frozen=True, slots=True)
class Blank:
    """A place that is to be filled in, and what belongs there."""

    answer: str


# The name of a row, and its cells.
Row = tuple[str, tuple[str | Blank, ...]]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, some of whose cells may be blanks; all of its texts are plain.

    ``corner`` says what the rows are named by, and ``own``, among the solutions alone, what the model has. A table to
    look numbers up in (``is_small``) is written small.
    """

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    own: tuple[Row, ...] = ()
    is_small: bool = False

    @property
    def blanks(self) -> tuple[Blank, ...]:
        """The blanks, row by row."""
        return tuple(cell for _, cells in self.rows for cell in cells if isinstance(cell, Blank))


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do: what it is (HTML), its tables, and what is told of it among the solutions (HTML)."""

    title: str
    words: str
    grids: tuple[Grid, ...]
    told: str


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A page for a pupil's hand, and its solutions.

    Attributes:
        title: what it is about.
        text: what the model read.
        place: which part of which run it shows.
        notes: what has to be known about the choice of what is printed, in whole sentences.
        view: the matrix of the view, with blanks.
        tasks: what is to be worked out, one after another, each from what the ones before give.
        origin: where the numbers of the tasks come from, in a sentence.
        questions: to be answered by ticking one of the boxes.
    """

    title: str
    text: str
    place: str
    notes: tuple[str, ...]
    view: Task
    tasks: tuple[Task, ...]
    origin: str
    questions: tuple[Guess, ...]

    @property
    def blanks(self) -> Iterator[Blank]:
        """All blanks, in the order of their numbers."""
        return (blank for task in (self.view, *self.tasks) for grid in task.grids for blank in grid.blanks)


def rounded(value: float | Decimal, places: int) -> Decimal:
    """Round as a hand does: a half goes away from zero, and a zero has no sign.

    >>> rounded(Decimal("0.125"), 2), rounded(-0.04, 1)
    (Decimal('0.13'), Decimal('0.0'))
    """
    exact = value if isinstance(value, Decimal) else Decimal(f"{value:.{places}f}")
    return exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) + 0


def written(value: Decimal) -> str:
    """Write a number with all the places that it was rounded to.

    >>> written(Decimal("-1.50"))
    '−1.50'
    """
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return number(float(value), -exponent)


def window(count: int, focus: int, most: int = MOST) -> range:
    """Return so many places that follow one another, with the one in focus as near to their middle as there is room.

    >>> list(window(20, 10, 5)), list(window(20, 0, 5)), list(window(3, 2, 5))
    ([8, 9, 10, 11, 12], [0, 1, 2, 3, 4], [0, 1, 2])
    """
    first = max(0, min(focus - most // 2, count - most))
    return range(first, min(count, first + most))


def apart(labels: Sequence[str]) -> list[str]:
    """Tell equal labels apart by their places.

    >>> apart(["the", "cat", "the"])
    ['the (0)', 'cat', 'the (2)']
    """
    count = Counter(labels)
    return [f"{label} ({place})" if count[label] > 1 else label for place, label in enumerate(labels)]
