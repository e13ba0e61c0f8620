"""The table behind a picture: the same numbers, to read, to sort and to take away as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from attention.figures.matrix import Matrix
from attention.lesson.scene import Scene
from attention.trace import Token

__all__ = ["MASKED", "matrix_table", "shapes", "to_csv", "token_table"]

# What a table says of a weight that is 0 because the mask hides it.
MASKED = "0 (masked)"


def token_table(tokens: Sequence[Token]) -> dict[str, list[str]]:
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


def to_csv(columns: dict[str, list[str]]) -> str:
    """Write columns as CSV; a cell that a spreadsheet would run as a formula gets an apostrophe in front."""
    file = io.StringIO()
    # With the standard's line end, the writer also quotes a carriage return inside a cell.
    writer = csv.writer(file)
    writer.writerow(map(_inert, columns))
    writer.writerows(zip(*(map(_inert, column) for column in columns.values()), strict=True))
    return file.getvalue()


def matrix_table(matrix: Matrix) -> dict[str, list[str]]:
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


def shapes(step: str, scene: Scene) -> str:
    """Return the shapes of a step in one line: ``Q (8×32) · Kᵀ (32×8) → S (8×8)``."""
    T, K, D, M = len(scene.tokens), len(scene.key_tokens), scene.d_head, scene.info.d_model
    Dv, H = scene.steps.values.shape[-1], scene.info.n_heads
    read = "picture" if scene.info.reads == "picture" else "text"
    divisor, sees = scene.divisor(f"√{D}"), scene.visible.any(axis=1).all()
    b_Q = f" + b_Q ({D})" if scene.has_bias("Q") else ""
    b_O = f" + b_O ({M})" if scene.has_bias("O") else ""
    also = f"and K ({K}×{D}), V ({K}×{Dv}) alike" + (f", of Z ({K}×{M})" if scene.is_cross else "")
    return {
        "tokens": f"{read} → {T} tokens" + (f", which look at {K}" if scene.is_cross else ""),
        "embed": f"{T} tokens → X ({T}×{M})",
        "qkv": f"X ({T}×{M}) · W_Q ({M}×{D}){b_Q} → Q ({T}×{D}), {also}",
        "scores": f"Q ({T}×{D}) · Kᵀ ({D}×{K}) → S ({T}×{K})",
        "scale": f"S ({T}×{K}){f' / {divisor}' if divisor else ''} → S ({T}×{K})",
        "mask": f"S ({T}×{K}) + M ({T}×{K}) → S ({T}×{K})",
        "softmax": f"S ({T}×{K}) → A ({T}×{K}), each row{'' if sees else ' that sees anything'} adding up to 1",
        "sum": f"A ({T}×{K}) · V ({K}×{Dv}) → O ({T}×{Dv})",
        "heads": f"{H} heads × ({T}×{Dv}) → joined ({T}×{H * Dv}) · W_O ({H * Dv}×{M}){b_O} → ΔE ({T}×{M})",
    }[step]


def _inert(cell: str) -> str:
    starts_formula = cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not _is_number(cell))
    return f"'{cell}" if starts_formula else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
