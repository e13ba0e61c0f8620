"""The factors of Q, K, V and ΔE: the vectors that go in, the head's weights, and the bias."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal, get_args

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.matrix import Cell, Matrix, Role
from attention.lesson.cell_explanation import WHOLE_VECTOR, Detail, indexed
from attention.lesson.head_context import HeadContext, numbered
from attention.lesson.prose import exact, fact, lesson, word

# A matrix, and the function that explains one of its cells.
Explained = tuple[Matrix, Callable[[HeadContext, Cell], Detail]]
Letter = Literal["Q", "K", "V", "O"]
LETTERS: tuple[Letter, ...] = get_args(Letter)
_ROLES: Mapping[Letter, Role] = MappingProxyType({"Q": "query", "K": "key", "V": "value", "O": "plain"})


@dataclass(frozen=True, slots=True)
class Linear:
    """One multiplication, ``inputs @ weight + bias``, with the names of its rows and columns.

    W_Q, W_K and W_V are cut to the scene's head; W_O belongs to all heads. ``tokens`` name the input vectors; ``row``
    is that of the token in focus, if it is among them.
    """

    letter: Letter
    inputs: Float[Array, "T I"]
    weight: Float[Array, "I C"]
    bias: Float[Array, " C"] | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    tokens: tuple[str, ...]
    row: int | None


def linear_of(scene: HeadContext, letter: Letter) -> Linear | None:
    """Return one of a scene's multiplications; None if its input or its weights are unknown."""
    layer, parts = scene.attention, scene.attention.projections
    if parts is None:
        return None
    weight, bias = getattr(parts, f"W_{letter}"), getattr(parts, f"b_{letter}")
    if letter == "O":
        rows, columns = joined_names(scene), scene.dimensions
        return Linear("O", scene.joined, weight, bias, rows, columns, scene.names, scene.word)
    asks = letter == "Q"
    inputs = layer.inputs if asks else layer.sources
    if inputs is None:
        return None
    width = scene.steps.values.shape[-1] if letter == "V" else scene.d_head
    # Query heads share key/value heads in groups.
    group = scene.head // (layer.queries.shape[0] // layer.keys.shape[0])
    first = (scene.head if asks else group) * width
    own = slice(first, first + width)
    return Linear(
        letter,
        inputs,
        weight[:, own],
        None if bias is None else bias[own],
        scene.dimensions,
        numbered(width),
        scene.names if asks or scene.has_sink else scene.key_names,
        scene.word if asks else scene.own_key,
    )


def joined_names(scene: HeadContext) -> tuple[str, ...]:
    """Return the names of the joined heads' dimensions: ``head:dimension``, the head counted from 1."""
    width = scene.steps.values.shape[-1]
    return tuple(f"{head + 1}:{i}" for head in range(scene.info.n_heads) for i in range(width))


def weights_of(scene: HeadContext, letter: Letter, results: Sequence[str]) -> tuple[Explained, ...]:
    """Return a multiplication's weights, and its bias if it has one; empty if unknown.

    The column of the opened cell is marked if that cell is in one of the matrices ``results``.
    """
    linear = linear_of(scene, letter)
    if linear is None:
        return ()
    column = scene.cell.column if scene.cell is not None and scene.cell.matrix in results else None
    axis = message("head:dimension") if letter == "O" else message("input dimensions")
    weight = _matrix(scene, linear, f"W_{letter}", linear.weight, linear.rows, axis, column)
    found: list[Explained] = [(weight, partial(_explain_weight, letter=letter))]
    if linear.bias is not None:
        rows, axis = (message("all tokens"),), message("tokens")
        bias = _matrix(scene, linear, f"b_{letter}", linear.bias[None], rows, axis, column)
        found.append((bias, partial(_explain_bias, letter=letter)))
    return tuple(found)


def _matrix(
    scene: HeadContext,
    linear: Linear,
    name: str,
    values: Float[Array, "R C"],
    rows: tuple[str, ...],
    axis: str,
    column: int | None,
) -> Matrix:
    return Matrix(
        name=name,
        title=name,
        values=values,
        row_labels=rows,
        column_labels=linear.columns,
        row_axis=axis,
        column_axis=message("output dimensions"),
        palette="signed",
        alt=message(
            "{name}: {n_rows} by {n_columns} weights of layer {layer}, head {head}.",
            name=name,
            n_rows=len(rows),
            n_columns=len(linear.columns),
            layer=scene.layer + 1,
            head=message("all") if linear.letter == "O" else scene.head + 1,
        ),
        title_role=_ROLES[linear.letter],
        focus_column=column,
        selected=scene.selected(name),
    )


def _explain_weight(scene: HeadContext, cell: Cell, *, letter: Letter) -> Detail:
    linear = linear_of(scene, letter)
    assert linear is not None
    value = float(linear.weight[cell.row, cell.column])
    products = linear.inputs[:, cell.row] * linear.weight[cell.row, cell.column]
    title = lesson(
        "factors/cell-weight",
        matrix=f"W<sub>{letter}</sub>",
        row=word(linear.rows[cell.row]),
        column=word(linear.columns[cell.column]),
        value=fact(value),
    )
    note = ""
    if linear.row is not None:
        note = lesson(
            "factors/weight",
            focus=word(linear.tokens[linear.row]),
            input=exact(float(linear.inputs[linear.row, cell.row])),
            value=exact(value),
            product=exact(float(products[linear.row])),
            count=len(linear.rows),
        )
    axis = message("this weight's contribution to each token")
    return Detail(title, note, indexed(linear.tokens), products, axis)


def _explain_bias(scene: HeadContext, cell: Cell, *, letter: Letter) -> Detail:
    linear = linear_of(scene, letter)
    assert linear is not None
    assert linear.bias is not None
    title = lesson(
        "factors/cell-bias",
        matrix=f"b<sub>{letter}</sub>",
        column=word(linear.columns[cell.column]),
        value=linear.bias[cell.column],
    )
    return Detail(title, lesson("factors/bias"), linear.columns, linear.bias, WHOLE_VECTOR)
