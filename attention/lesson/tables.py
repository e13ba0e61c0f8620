"""The table behind a picture: the same numbers, to read, to sort and to take away as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from attention.figures.matrix import Matrix
from attention.trace import Token

__all__ = ["MASKED", "Columns", "matrix_table", "to_csv", "token_table"]

Columns = dict[str, list[str]]

# What a table says of a weight that is 0 because the mask hides it.
MASKED = "0 (masked)"


def token_table(tokens: Sequence[Token]) -> Columns:
    """Return tokens as columns: position, token, as typed, word, and id, where it is in the vocabulary.

    Positions and words count from 0, as in links.
    """
    table = {
        "position": [str(token.position) for token in tokens],
        "token": [token.text for token in tokens],
        "as typed": [token.typed for token in tokens],
        "word": ["" if token.word is None else str(token.word) for token in tokens],
    }
    if any(token.token_id >= 0 for token in tokens):
        table["id"] = [str(token.token_id) if token.token_id >= 0 else "" for token in tokens]
    return table


def to_csv(columns: Columns) -> str:
    """Write columns as CSV; a cell that a spreadsheet would run as a formula gets an apostrophe in front."""
    file = io.StringIO()
    # With the standard's line end, the writer also quotes a carriage return inside a cell.
    writer = csv.writer(file)
    writer.writerow(map(_inert, columns))
    writer.writerows(zip(*(map(_inert, column) for column in columns.values()), strict=True))
    return file.getvalue()


def matrix_table(matrix: Matrix) -> Columns:
    """Return a matrix as columns of text, its full precision kept; the first column names the rows.

    A 0 that is one because the mask hides the cell says so.
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


def _inert(cell: str) -> str:
    starts_formula = cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not _is_number(cell))
    return f"'{cell}" if starts_formula else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
