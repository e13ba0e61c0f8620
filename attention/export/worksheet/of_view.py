"""A view's matrix on paper, with blanks that suit the step's computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from attention.core.messages import message, messages
from attention.export.worksheet.base import MOST, Blank, Grid, Row, Task, rounded, window, written
from attention.export.worksheet.by_hand import Hand, keys_shown
from attention.figures.format import number
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext, distinct
from attention.lesson.prose import lesson, word
from attention.lesson.steps.base import Step

# Rows of the matrix, and of one that stands below the numbers from which a row is computed.
_MOST_ROWS, _ROWS_BELOW = 6, 4
_MOST_NUMBERS = 7  # of a vector beside its name
_MOST_EQUAL = 3  # equal numbers that are listed


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a matrix that fits on paper: its rows and columns, and the row in focus."""

    matrix: Matrix
    scene: HeadContext
    rows: Sequence[int]
    columns: Sequence[int]
    focus: int
    beside: Mapping[str, Matrix]  # the step's matrices, by name

    @property
    def heads(self) -> tuple[str, ...]:
        labels = distinct(self.matrix.column_labels)
        return tuple(labels[column] for column in self.columns)

    def name(self, row: int) -> str:
        return distinct(self.matrix.row_labels)[row]

    def cell(self, row: int, column: int) -> str:
        """Return a number as in the picture."""
        value = float(self.matrix.drawn[row, column])
        if np.isnan(value):
            return ""
        return self.matrix.masked if np.isneginf(value) else self.matrix.written(value)

    def printed(self, row: int, column: int) -> Decimal | None:
        """Return a number as printed; None if it is missing or masked."""
        value = float(self.matrix.drawn[row, column])
        return rounded(value, 2) if np.isfinite(value) else None

    def cells(self, row: int) -> tuple[str | Blank, ...]:
        return tuple(self.cell(row, column) for column in self.columns)

    def grid(self, cells: Callable[[int], tuple[str | Blank, ...]], *more: str, own: tuple[Row, ...] = ()) -> Grid:
        """Return the table with these cells in each row, and ``more`` columns."""
        rows = tuple((self.name(row), cells(row)) for row in self.rows)
        return Grid(self.matrix.title, self.matrix.row_axis, (*self.heads, *more), rows, own=own)


def of_view(step: Step, scene: HeadContext, hand: Hand | None, spared: int) -> Task:
    """Return a step's main matrix with blanks; if ``hand`` is given, its answers are the blanks.

    Without it, the rule of the step applies, which leaves the row ``spared`` whole: questions are about it.
    """
    matrix = _main(step, scene)
    if matrix is None:
        return _tokens(step, scene)
    part = _part(step, scene, matrix)
    in_tasks = None if hand is None else _IN_TASKS.get(step.made_by)
    if hand is not None and in_tasks is not None:
        return _with_task_blanks(part, in_tasks(hand))
    return _RULES.get(step.filled_by, _largest)(part, spared)


def _task(part: _Part, grids: tuple[Grid, ...], words: str, told: str = "") -> Task:
    return Task(part.matrix.title, words + _tell_part(part), grids, told)


def _tell_part(part: _Part) -> str:
    """Say which part of the matrix is printed, unless all of it is."""
    n_rows, n_columns = part.matrix.values.shape
    told = ""
    if len(part.rows) < n_rows:
        told += lesson("worksheet/rows", n=n_rows, first=part.rows[0], last=part.rows[-1])
    if len(part.columns) < n_columns:
        name = "worksheet/columns-keys" if part.matrix.column_role == "key" else "worksheet/columns"
        told += lesson(name, n=n_columns, shown=len(part.columns), focus=word(part.name(part.focus)))
    return told


def _main(step: Step, scene: HeadContext) -> Matrix | None:
    found = step.matrices(scene)
    whole = [matrix for matrix in found if not matrix.has_total_row]
    return next((matrix for matrix in whole if matrix.name == step.main), whole[0] if whole else None)


def _part(step: Step, scene: HeadContext, matrix: Matrix) -> _Part:
    n_rows, n_columns = matrix.values.shape
    focus = scene.word if n_rows == len(scene.tokens) else matrix.focus_row or 0
    if n_columns <= MOST:
        columns: Sequence[int] = range(n_columns)
    elif step.is_of_pairs:
        columns, _ = keys_shown(scene)
    else:
        sizes = np.abs(np.nan_to_num(matrix.values[focus].astype(np.float64)))
        columns = sorted(np.argsort(-sizes, kind="stable")[:_MOST_NUMBERS].tolist())
    return _Part(
        matrix,
        scene,
        window(n_rows, focus, _MOST_ROWS),
        columns,
        focus,
        {each.name: each for each in step.matrices(scene)},
    )


# ----------------------------------------------------------------------------------- blanks of the tasks

# By the results of the tasks that the step's matrix contains.
_IN_TASKS: Mapping[str, Callable[[Hand], Mapping[int, Decimal]]] = {
    "products": lambda hand: {hand.pair: hand.score},
    "results": lambda hand: {hand.pair: hand.result},
    "shares": lambda hand: {key: each for key, each in hand.weights.items() if hand.scaled[key] is not None},
    "outputs": lambda hand: {dimension: hand.output(dimension) for dimension in hand.outputs},
}


def _with_task_blanks(part: _Part, found: Mapping[int, Decimal]) -> Task:
    def cells(row: int) -> tuple[str | Blank, ...]:
        if row != part.focus:
            return part.cells(row)
        return tuple(
            Blank(written(found[column])) if column in found else part.cell(row, column) for column in part.columns
        )

    name = part.name(part.focus)
    own = (message("{name} in the model", name=name), part.cells(part.focus))
    words = lesson("worksheet/in-tasks", focus=word(name))
    return _task(part, (part.grid(cells, own=(own,)),), words)


# --------------------------------------------------------------------------------- blanks by a step's rule


def _largest(part: _Part, _: int) -> Task:
    """Ask for the column of each row's largest number."""

    def cells(row: int) -> tuple[str | Blank, ...]:
        numbers = {column: part.printed(row, column) for column in part.columns}
        known = {column: each for column, each in numbers.items() if each is not None}
        best = [column for column, each in known.items() if each == max(known.values())]
        names = distinct(part.matrix.column_labels)
        several = messages("{n} are equal", "{n} are equal", len(best))
        answer = several if len(best) > _MOST_EQUAL else " / ".join(names[column] for column in best)
        return (*part.cells(row), Blank(answer) if best else "")

    return _task(part, (part.grid(cells, message("largest in")),), lesson("worksheet/largest"))


def _to_one(part: _Part, spared: int) -> Task:
    """Ask for one weight of each row, whose weights add up to 1."""
    weights, shown = part.matrix.values.astype(np.float64), list(part.columns)
    n_others = weights.shape[1] - len(shown)
    off = [0.0]

    def cells(row: int) -> tuple[str | Blank, ...]:
        rest = rounded(float(weights[row].sum() - weights[row, shown].sum()), 2)
        found = [*part.cells(row), *([written(rest)] if n_others else [])]
        place = int(weights[row, shown].argmax())
        printed = [part.printed(row, column) or Decimal("0.00") for column in shown]
        missing = 1 - (sum(printed, rest) - printed[place])
        if row == spared or weights[row].sum() < 0.5 or missing <= 0:
            return tuple(found)
        off.append(abs(float(missing) - weights[row, shown[place]]))
        return (*found[:place], Blank(written(missing)), *found[place + 1 :])

    more = (messages("{n} other", "{n} others", n_others),) if n_others else ()
    grid = part.grid(cells, *more)
    told = lesson("worksheet/to-one-told", off=f"<b>{number(max(off))}</b>")
    return _task(part, (grid,), lesson("worksheet/to-one"), told)


def _added(part: _Part, spared: int) -> Task:
    """Ask for the sum of two vectors, if the matrix is a plain sum."""
    words, positions = part.beside.get("words"), part.beside.get("positions")
    if words is None or positions is None or not np.allclose(words.values + positions.values, part.matrix.values):
        return _largest(part, spared)
    parts = {
        each.title: {column: rounded(float(each.values[part.focus, column]), 2) for column in part.columns}
        for each in (words, positions)
    }
    answers = {column: written(sum((each[column] for each in parts.values()), Decimal(0))) for column in part.columns}
    before = {title: {column: written(each) for column, each in found.items()} for title, found in parts.items()}
    return _from_before(part, before, answers, lesson("worksheet/added", focus=word(part.name(part.focus))))


def _divided(part: _Part, _: int) -> Task:
    """Ask for a row of scaled scores, given the scores."""
    scene = part.scene
    divisor = rounded(1 / scene.attention.scale, 2)
    scores = {column: rounded(float(scene.steps.scores[part.focus, column]), 2) for column in part.columns}
    answers = {column: written(rounded(each / divisor, 2)) for column, each in scores.items()}
    words = lesson("worksheet/divided", focus=word(part.name(part.focus)), divisor=written(divisor))
    before = {column: written(each) for column, each in scores.items()}
    return _from_before(part, {message("score"): before}, answers, words)


def _masked(part: _Part, _: int) -> Task:
    """Ask for a row of masked scores, given the scaled ones."""
    scaled = part.scene.steps.unmasked_scores[part.focus]
    before = {column: number(float(scaled[column])) for column in part.columns}
    answers = {column: part.cell(part.focus, column) for column in part.columns}
    words = lesson("worksheet/masked", focus=word(part.name(part.focus)))
    return _from_before(part, {message("scaled score"): before}, answers, words)


def _from_before(part: _Part, before: Mapping[str, Mapping[int, str]], answers: Mapping[int, str], words: str) -> Task:
    """Ask for the row in focus, given by name the rows that it is computed from."""
    part = replace(part, rows=window(len(part.matrix.values), part.focus, _ROWS_BELOW))

    def cells(row: int) -> tuple[str | Blank, ...]:
        return tuple(Blank(answers[column]) for column in part.columns) if row == part.focus else part.cells(row)

    focus = part.name(part.focus)
    given = tuple((name, tuple(row[column] for column in part.columns)) for name, row in before.items())
    source = Grid(message("{name}, before this step", name=focus), part.matrix.row_axis, part.heads, given)
    own: Row = (message("{name} in the model", name=focus), part.cells(part.focus))
    return _task(part, (source, part.grid(cells, own=(own,))), words)


# By ``Step.filled_by``; the default is ``_largest``.
_RULES: Mapping[str, Callable[[_Part, int], Task]] = {
    "added": _added,
    "divided": _divided,
    "hidden": _masked,
    "rest": _to_one,
}


def _tokens(step: Step, scene: HeadContext) -> Task:
    """Ask for the word of each token or, where tokens are not words, for its position."""
    shown = [scene.tokens[place] for place in window(len(scene.tokens), scene.word, _MOST_ROWS)]
    names, has_pieces = scene.names, scene.info.reading.has_pieces
    # The first is given, to count on from.
    given = next((token for token in shown if token.word is not None), None) if len(shown) > 1 else None
    rows: list[Row] = []
    for token in shown:
        place, of_word = str(token.position), "–" if token.word is None else str(token.word)
        counted: tuple[str | Blank, ...] = (place, of_word if token is given or token.word is None else Blank(of_word))
        rows.append((names[token.position], counted if has_pieces else (Blank(place),)))
    position, title = message("position"), step.heading(scene)
    columns = (position, message("word, counted from 0")) if has_pieces else (position,)
    grid = Grid(title, message("token"), columns, tuple(rows))
    words = lesson("worksheet/words" if has_pieces else "worksheet/positions")
    if len(shown) < len(names):
        words += lesson("worksheet/rows", n=len(names), first=shown[0].position, last=shown[-1].position)
    return Task(title, words, (grid,), "")
