"""A worksheet as data: tables with blanks, tasks, questions, and solutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from attention.figures.format import number
from attention.lesson.quiz import Guess

# One for the answer, and one for the reason.
POINTS_OF_QUESTION = 2
MOST = 9  # columns or rows of a table on paper, with room for handwriting


@dataclass(frozen=True, slots=True)
class Blank:
    """A blank, and its answer."""

    answer: str


# A row's name and cells.
Row = tuple[str, tuple[str | Blank, ...]]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of plain text, some of whose cells may be blanks.

    ``corner`` is the heading of the rows' names; ``own`` are the model's numbers, shown only in the solutions. A
    look-up table (``is_small``) is in small print.
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
    """A task: its text (HTML), its tables, and a remark in the solutions (HTML)."""

    title: str
    words: str
    grids: tuple[Grid, ...]
    told: str

    @property
    def points(self) -> int:
        """One point for each row with blanks."""
        return sum(any(isinstance(cell, Blank) for cell in cells) for grid in self.grids for _, cells in grid.rows)


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A page to fill in by hand, and its solutions.

    Attributes:
        title: its subject.
        text: the text that the model read.
        place: the part of the run.
        notes: remarks on the choice of what is printed, in whole sentences.
        view: the matrix of the view, with blanks.
        tasks: the tasks, each based on the results of those before.
        origin: the source of the tasks' numbers, in a sentence.
        questions: multiple-choice questions.
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
    def points(self) -> int:
        """The points of all tasks and questions."""
        tasks = sum(task.points for task in (self.view, *self.tasks))
        return tasks + POINTS_OF_QUESTION * len(self.questions)

    @property
    def blanks(self) -> Iterator[Blank]:
        """All blanks, in the order of their numbers."""
        return (blank for task in (self.view, *self.tasks) for grid in task.grids for blank in grid.blanks)


def rounded(value: float | Decimal, places: int) -> Decimal:
    """Round half away from zero, as by hand; a zero has no sign.

    >>> rounded(Decimal("0.125"), 2), rounded(-0.04, 1)
    (Decimal('0.13'), Decimal('0.0'))
    """
    exact = value if isinstance(value, Decimal) else Decimal(f"{value:.{places}f}")
    return exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) + 0


def written(value: Decimal) -> str:
    """Return a number with all the decimals that it was rounded to.

    >>> written(Decimal("-1.50"))
    '−1.50'
    """
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return number(float(value), -exponent)


def window(count: int, focus: int, most: int = MOST) -> range:
    """Return up to ``most`` consecutive indices, with the focus as near to the middle as possible.

    >>> list(window(20, 10, 5)), list(window(20, 0, 5)), list(window(3, 2, 5))
    ([8, 9, 10, 11, 12], [0, 1, 2, 3, 4], [0, 1, 2])
    """
    first = max(0, min(focus - most // 2, count - most))
    return range(first, min(count, first + most))
