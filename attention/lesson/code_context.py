"""The arrays that a step's code contains, and the numbers that it prints.

An array that is too large to paste is cut, and the code says so: to the printed row, a matrix's first columns, or the
first keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.snippets import (
    LIBRARIES,
    MAX_BYTES,
    MAX_COLUMNS,
    MAX_KEPT_BYTES,
    MAX_OUT_BYTES,
    N_SHOWN,
    Continued,
    Library,
    Values,
    array_code,
    fill,
    leading,
    numbers,
    shapes,
)

MAX_LABEL = 24  # characters of a token in a comment


@dataclass(frozen=True, slots=True)
class CodeContext:
    """A scene as code: the library, and the row (query token) whose numbers are printed.

    ``column`` is the cell to print of a matrix of scores or weights; None for the row's largest. ``continued`` is the
    code that comes before, if any; then every array stays large enough for the code that follows.
    """

    library: Library
    scene: HeadContext
    row: int
    column: int | None = None
    continued: Continued | None = None

    def __post_init__(self) -> None:
        """Check the library and the indices.

        Raises:
            ValueError: the library is unknown, or is not NumPy although the code is continued.
            IndexError: the layer or token does not exist.
        """
        if self.library not in LIBRARIES:
            raise ValueError(f"library must be one of {', '.join(LIBRARIES)}, got {self.library!r}")
        if self.continued is not None and self.library != "numpy":
            raise ValueError(f"only numpy goes on from other code, got {self.library!r}")
        sizes = (("layer", self.scene.layer, len(self.scene.trace.layers)), ("token", self.row, len(self.scene.tokens)))
        for name, index, size in sizes:
            if not 0 <= index < size:
                raise IndexError(f"{name} must be between 0 and {size - 1}, got {index}")

    @property
    def place(self) -> str:
        """The layer and head, counted from 1."""
        return f"layer {self.scene.layer + 1}, head {self.scene.head + 1}"

    def fill(self, template: str, values: Values) -> str:
        """Fill a template with these values; ``place`` defaults to the layer and head."""
        return fill(template, self.library, {"place": self.place, **values}, is_alone=self.continued is None)

    def recorded(self, title: str, **arrays: Array | None) -> str:
        """Return code that contains the arrays themselves, where the computation cannot be shown."""
        known = {name: array for name, array in arrays.items() if array is not None}
        rows = self.rows(*known.values())
        values = self.write(**{name: known[name][rows] if name in known else None for name in "XQKV"})
        if not known:
            nothing: Values = dict.fromkeys(("row", "n_shown", "answer", "result", "cut"))
            title = message("The inputs of this layer were not recorded.")
            return self.fill("recorded", {**values, **nothing, "title": title})
        name, array = next(iter(known.items()))
        return self.fill("recorded", {"title": title, "result": name, **values, **self.vector(array, rows)})

    def rows(self, *arrays: Array | None) -> slice:
        """Return all rows, or only the printed row if one of the arrays is too large to paste."""
        most = MAX_BYTES if self.continued is None else MAX_KEPT_BYTES
        is_large = any(array is not None and array.nbytes > most for array in arrays)
        return slice(self.row, self.row + 1) if is_large else slice(None)

    def recorded_rows(self, array: Array) -> slice:
        """Return the rows to paste of an array that the code cannot compute."""
        return self.rows(array) if self.continued is None else self.continued.rows

    def columns(self, matrix: Array, *, is_last: bool = False) -> slice:
        """Return all columns of a matrix, or the first few if it is too large to paste.

        ``is_last`` marks W_O, whose result no later step needs.
        """
        height = matrix.shape[0] * matrix.itemsize
        if self.continued is None:
            return leading(matrix.shape[1], height, MAX_COLUMNS)
        return leading(matrix.shape[1], height, most=MAX_OUT_BYTES) if is_last else slice(matrix.shape[1])

    def leading_rows(self, matrix: Array) -> slice:
        """Return all rows of a matrix, or as many of the first as can be pasted."""
        return slice(len(matrix)) if self.continued is not None else leading(len(matrix), matrix[0].nbytes)

    def label(self, position: int, *, is_key: bool = False) -> str:
        """Return a token as a string literal, safe inside a comment."""
        text = (self.scene.key_tokens if is_key else self.scene.tokens)[position].text
        return repr(text if len(text) <= MAX_LABEL else f"{text[:MAX_LABEL]}…")

    def write(self, **arrays: Array | None) -> Values:
        """Return each array as code, and its shape under the name ``…_shape``; None stays None."""
        code = {name: None if array is None else self._write(name, array) for name, array in arrays.items()}
        return {**code, **shapes(**arrays)}

    def _write(self, name: str, array: Array) -> str | None:
        if self.continued is None:
            return array_code(array, self.library)
        return self.continued.array_code(name, array)

    def write_bias(self, name: str, bias: Float[Array, " C"] | None) -> Values:
        """Return a bias as code, or 0 if there is none."""
        return {name: "0  # there is none" if bias is None else self._write(name, bias)}

    def cell(self, matrix: Float[Array, "Q K"], rows: slice) -> Values:
        """Return the cell to print: the chosen one, or the largest of its row."""
        column = self.column
        if column is None or column >= matrix.shape[1]:
            column = int(matrix[self.row].argmax())
        answer = f"{matrix[self.row, column]:.2f}, {self.label(self.row)} · {self.label(column, is_key=True)}"
        return {**self._printed(rows), "column": str(column), "answer": answer}

    def vector(self, matrix: Float[Array, "T C"], rows: slice) -> Values:
        """Return the numbers to print: the first few of the row."""
        answer = f"{numbers(matrix[self.row])}, the first of {self.label(self.row)}"
        return {**self._printed(rows), "n_shown": str(N_SHOWN), "answer": answer}

    def _printed(self, rows: slice) -> Values:
        """Return the index of the printed row within these rows, and a note if rows are missing."""
        if rows == slice(None):
            return {"row": str(self.row), "cut": None}
        row = str(self.row - rows.start)
        if rows.stop - rows.start > 1:
            return {"row": row, "cut": f"Here only the rows {rows.start} to {rows.stop - 1}: all are too many to keep."}
        return {"row": row, "cut": f"Here only the row of {self.label(self.row)}: all rows are too many to paste."}


def are_close(ours: Array, wanted: Array) -> bool:
    """Return whether the code's result equals the recorded array to four decimals."""
    return ours.shape == wanted.shape and bool(np.allclose(ours, wanted, rtol=1e-4, atol=1e-4))
