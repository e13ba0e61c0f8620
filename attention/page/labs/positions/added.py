"""Added position vectors: the first Transformer's formula, and a model's own table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core import positions
from attention.core.messages import message
from attention.core.trace import PositionTable
from attention.figures import charts
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext, numbered
from attention.lesson.prose import exact, fact, lesson, word
from attention.lesson.tables import full_precision
from attention.page.blocks import Blocks, Fold, Formula, Notice, Picture, Prose, Row, Table, as_table
from attention.page.labs.positions.knobs import opened
from attention.page.parameters import Values

N_SHOWN, WIDTH = 64, 64  # positions shown, and the width of the formula's vectors
WAVES = (0, 8)  # drawn as lines
_ANGLE = r"\big(p / 10\,000^{2i/d}\big)"


@cache
def _formula() -> Float[Array, "P M"]:
    """Return the vectors of the formula, shared and therefore read-only."""
    found = positions.sinusoidal(N_SHOWN, WIDTH)
    found.flags.writeable = False
    return found


def sinusoids(values: Values, scene: HeadContext | None) -> Blocks:
    """Show the formula as a picture, two of its waves, and the dot products of its vectors."""
    vectors = _formula()
    products = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    at = 0 if scene is None else min(scene.word, N_SHOWN - 1)
    waves = charts.lines(
        [(message("number {number}", number=index), vectors[:, index]) for index in WAVES],
        message("two of the waves"),
        message("Numbers {one} and {other} of each position’s vector.", one=WAVES[0], other=WAVES[1]),
        message("position"),
        limits=(-1.0, 1.0),
        current=at,
    )
    by_distance = products[0]
    told = lesson(
        "positions/sinusoids-product",
        near=exact(by_distance[1], 2),
        far=exact(by_distance[10], 2),
        own=exact(by_distance[0], 2),
    )
    product = charts.lines(
        [(message("dot product"), by_distance)],
        message("dot product of two positions"),
        message("Dot products of two positions’ vectors, by distance."),
        message("distance"),
    )
    return (
        *opened(message("Added waves"), values),
        Formula(rf"PE_{{p,\,2i}} = \sin {_ANGLE}, \quad PE_{{p,\,2i+1}} = \cos {_ANGLE}"),
        Prose(lesson("positions/sinusoids", width=WIDTH, waves=WIDTH // 2)),
        Row(
            (
                (Picture("sinusoids", _rows_of_positions(vectors, at)),),
                (Picture("waves", charts.Chart(waves)), Prose(told), Picture("products", charts.Chart(product))),
            )
        ),
        Fold("products_fold", message("As a table"), (_by_distance(message("dot product"), by_distance),)),
    )


def _by_distance(name: str, numbers: Float[Array, " P"]) -> Table:
    columns = {message("distance"): list(map(str, range(len(numbers)))), name: full_precision(numbers)}
    return Table("distances_table", lambda: columns, file="distances")


def _rows_of_positions(vectors: Float[Array, "P M"], at: int) -> Matrix:
    return Matrix(
        name="sinusoids",
        title=message("the vector of each position"),
        values=vectors,
        row_labels=numbered(len(vectors)),
        column_labels=numbered(vectors.shape[1]),
        row_axis=message("positions"),
        column_axis=message("dimensions"),
        palette="signed",
        alt=message("{n} numbers of each of {count} positions: waves, fast on the left.", n=WIDTH, count=N_SHOWN),
        limit=1.0,
        focus_row=at,
    )


def own_table(scene: HeadContext) -> PositionTable | None:
    """Return the vectors that the model adds at its positions; None if it adds none."""
    return None if scene.trace.embeddings is None else scene.trace.embeddings.table


def table(values: Values, scene: HeadContext | None) -> Blocks:
    """Show the cosines of the vectors that the model adds at its positions."""
    begun = opened(message("A vector for each position"), values)
    if scene is None:
        return begun
    own = own_table(scene)
    if own is None:
        told = message("{name} adds no position vectors.", name=scene.info.name)
        return (*begun, Notice(told + " " + message("Choose another model, such as MiniLM.")))
    likeness = _cosines(own)
    n_shown = len(likeness)
    at = min(scene.word, n_shown - 1)
    means = [float(np.diagonal(likeness, distance).mean()) for distance in range(n_shown)]
    told = lesson(
        "positions/learned" if own.is_learned else "positions/given",
        model=word(scene.info.name),
        count=len(own.rows),
        width=own.rows.shape[1],
        shown=n_shown,
    )
    line = charts.lines(
        [(message("cosine"), likeness[at])],
        message("cosine with position {place}", place=at),
        message("Cosine of each position’s vector with that of position {place}.", place=at),
        message("position"),
        limits=(min(0.0, float(likeness[at].min())), 1.0),
        current=at,
    )
    columns = {message("distance"): list(map(str, range(n_shown))), message("mean cosine"): list(map(repr, means))}
    return (
        *begun,
        Prose(told),
        Row(
            (
                (Picture("likeness", _drawn_likeness(likeness, at)),),
                (Picture("cosines", charts.Chart(line)), Prose(_tell_likeness(means))),
            )
        ),
        as_table("means", lambda: columns, file="cosines"),
    )


def _tell_likeness(means: Sequence[float]) -> str:
    """Say how similar the vectors of neighbours are, and of distant positions."""
    n_shown = len(means)
    if n_shown < 2:
        return ""
    return lesson(
        "positions/likeness",
        neighbours=fact(means[1]),
        far=n_shown // 2,
        half=fact(means[n_shown // 2]),
    )


def _cosines(table: PositionTable) -> Float[Array, "P P"]:
    """Return the cosine of every two of the first positions' vectors."""
    rows = table.rows[:N_SHOWN].astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(lengths == 0, 1, lengths)
    return (unit @ unit.T).astype(np.float32)


def _drawn_likeness(likeness: Float[Array, "P P"], at: int) -> Matrix:
    names = numbered(len(likeness))
    return Matrix(
        name="likeness",
        title=message("cosine of the vectors of two positions"),
        values=likeness,
        row_labels=names,
        column_labels=names,
        row_axis=message("positions"),
        column_axis=message("positions"),
        palette="signed",
        alt=message("Cosines of the vectors of all pairs of {count} positions.", count=len(likeness)),
        limit=1.0,
        focus_row=at,
    )
