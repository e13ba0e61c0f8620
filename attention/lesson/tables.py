"""The tables of pictures: the same numbers to read, to sort and to download as CSV."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.core.messages import message
from attention.core.trace import Token
from attention.figures.bars import Bars
from attention.figures.format import FRACTION
from attention.figures.matrix import Matrix

Columns = dict[str, list[str]]

_LARGEST = float(np.finfo(np.float32).max)

MASKED = message("0 (masked)")


def full_precision(numbers: Iterable[float]) -> list[str]:
    """Return numbers as text that gives the same floats again."""
    return [repr(float(number)) for number in numbers]


def token_table(tokens: Sequence[Token]) -> Columns:
    """Return tokens as columns: position, token, text as typed, word, and ID if there are any.

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
    """Return the shortest decimal with the same float32 value, if the cell holds one."""
    if not FRACTION.fullmatch(cell):
        return cell
    value = np.float32(min(max(float(cell), -_LARGEST), _LARGEST))
    return str(value) if float(value) == float(cell) else cell


def to_csv(columns: Columns) -> str:
    """Return columns as CSV; a cell that a spreadsheet would run as a formula is prefixed with an apostrophe.

    A float32 is written as the shortest decimal that reads back as the same number.
    """
    file = io.StringIO()
    # With the standard line ending, the writer also quotes a carriage return inside a cell.
    writer = csv.writer(file)
    writer.writerow(map(_inert, columns))
    writer.writerows(zip(*(map(_inert, map(_shortest, column)) for column in columns.values()), strict=True))
    return file.getvalue()


def matrix_table(matrix: Matrix) -> Columns:
    """Return a matrix as columns of text in full precision; the first column names the rows."""
    rows = [f"{index} {label}" for index, label in enumerate(matrix.row_labels)]
    table = {"": rows}
    for index, label in enumerate(matrix.column_labels):
        name = label if label == str(index) else f"{index} {label}"
        table[name] = full_precision(matrix.values[:, index])
        if matrix.hidden is not None:
            hidden = matrix.hidden[:, index]
            table[name] = [MASKED if is_hidden else cell for is_hidden, cell in zip(hidden, table[name], strict=True)]
    return table


def chart_table(figure: go.Figure) -> Columns:
    """Return a chart as columns of text, one row for each number: line, label, place and value.

    A label is a bar's name or a point's hover text. Empty columns are left out.
    """
    names = _names_on(figure)
    rows = [row for trace in figure.data if trace.hoverinfo != "skip" for row in _rows_of(trace, names)]
    columns = dict(
        zip(
            (message("line"), message("label"), message("place"), message("value")),
            zip(*rows, strict=True),
            strict=True,
        )
    )
    empty = [name for name, column in columns.items() if not any(column)]
    return {name: list(column) for name, column in columns.items() if name not in empty}


def bars_table(bars: Bars) -> Columns:
    """Return bars as columns of text: labels and values."""
    (first, *others), label = bars.series, {message("label"): list(bars.labels)}
    named = [(name or message("value"), values) for name, _, values in (first, *others)]
    return label | {name: full_precision(values) for name, values in named}


def _names_on(figure: go.Figure) -> dict[float, str]:
    axis = figure.layout.yaxis if figure.data and figure.data[0].orientation == "h" else figure.layout.xaxis
    return {} if axis.tickvals is None else dict(zip(map(float, axis.tickvals), axis.ticktext, strict=True))


def _rows_of(trace: Any, names: Mapping[float, str]) -> list[tuple[str, ...]]:
    places, values = (trace.y, trace.x) if trace.orientation == "h" else (trace.x, trace.y)
    labels = trace.hovertext or [names.get(float(place), "") for place in places]
    return [
        (html.unescape(trace.name or ""), html.unescape(label), repr(float(place)), repr(float(value)))
        for label, place, value in zip(labels, places, values, strict=True)
    ]


def _inert(cell: str) -> str:
    starts_formula = cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not _is_number(cell))
    return f"'{cell}" if starts_formula else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
