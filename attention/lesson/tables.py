"""The table behind a picture: the same numbers, to read, to sort and to download as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from attention.figures.chart import Chart
from attention.figures.format import FRACTION
from attention.figures.matrix import Matrix
from attention.messages import message
from attention.trace import Token

__all__ = ["MASKED", "Columns", "chart_table", "matrix_table", "to_csv", "token_table"]

Columns = dict[str, list[str]]

_LARGEST = float(np.finfo(np.float32).max)

# How a table writes a weight that is 0 because of the mask.
MASKED = message("0 (masked)")


def token_table(tokens: Sequence[Token]) -> Columns:
    """Return tokens as columns: position, token, text as typed, word, and id if it is in the vocabulary.

    Positions and words are counted from 0, as in links.
    """
    table = {
        message("position"): [str(token.position) for token in tokens],
        message("token"): [token.text for token in tokens],
        message("as typed"): [token.typed for token in tokens],
        message("word"): ["" if token.word is None else str(token.word) for token in tokens],
    }
    if any(token.token_id >= 0 for token in tokens):
        table["id"] = [str(token.token_id) if token.token_id >= 0 else "" for token in tokens]
    return table


def _shortest(cell: str) -> str:
    """Return the shortest decimal that gives the same number of 32 bits, where a cell holds such a number."""
    if not FRACTION.fullmatch(cell):
        return cell
    value = np.float32(min(max(float(cell), -_LARGEST), _LARGEST))
    return str(value) if float(value) == float(cell) else cell


def to_csv(columns: Columns) -> str:
    """Write columns as CSV; a cell that a spreadsheet would run as a formula is prefixed with an apostrophe.

    A number of 32 bits is written as the shortest decimal that gives it again.
    """
    file = io.StringIO()
    # With the standard line ending, the writer also quotes a carriage return inside a cell.
    writer = csv.writer(file)
    writer.writerow(map(_inert, columns))
    writer.writerows(zip(*(map(_inert, map(_shortest, column)) for column in columns.values()), strict=True))
    return file.getvalue()


def matrix_table(matrix: Matrix) -> Columns:
    """Return a matrix as columns of text, in full precision; the first column names the rows.

    A weight that is 0 because of the mask says so.
    """
    rows = [f"{index} {label}" for index, label in enumerate(matrix.row_labels)]
    table = {"": rows}
    for index, label in enumerate(matrix.column_labels):
        name = label if label == str(index) else f"{index} {label}"
        table[name] = [repr(float(value)) for value in matrix.values[:, index]]
        if matrix.hidden is not None:
            hidden = matrix.hidden[:, index]
            table[name] = [MASKED if is_hidden else cell for is_hidden, cell in zip(hidden, table[name], strict=True)]
    return table


def chart_table(chart: Chart) -> Columns:
    """Return a chart as columns of text, one row for each of its numbers: what it is called, where it is, how large.

    A bar is called by its name, a point by what is read out of it.
    """
    numbers = [
        (series.name, label, place, value)
        for series in chart.series
        for label, place, value in zip(series.labels, series.places, series.values, strict=True)
    ]
    columns = {
        message("line"): [name for name, *_ in numbers],
        message("label"): [label for _, label, *_ in numbers],
        message("place"): [repr(float(place)) for _, _, place, _ in numbers],
        message("value"): [repr(float(value)) for *_, value in numbers],
    }
    # Where all stand for the same, its name says nothing.
    return columns if len(chart.series) > 1 else {name: columns[name] for name in list(columns)[1:]}


def _inert(cell: str) -> str:
    starts_formula = cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not _is_number(cell))
    return f"'{cell}" if starts_formula else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
