"""The two kinds of matrices in the steps: query–key pairs, and one vector per token."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.format import full_colour
from attention.figures.matrix import Matrix, Palette, Role
from attention.lesson.head_context import HeadContext, numbered
from attention.measures.segments import groups

_ASKS, _ASKED = message("queries (attending)"), message("keys (attended to)")


def pairs(
    scene: HeadContext,
    name: str,
    title: str,
    values: Float[Array, "Q K"],
    limit: float | None = None,
    palette: Palette = "signed",
    hidden: Bool[Array, "Q K"] | None = None,
) -> Matrix:
    """Return a head's numbers as a matrix with a row for each query and a column for each key.

    Signed numbers reach the full colour at ``limit``; by default, no number of the word in focus lies beyond it.
    """
    if limit is None and palette == "signed":
        row = values[scene.word]
        limit = max(full_colour(values), float(np.abs(row[np.isfinite(row)]).max(initial=0)))
    alt = message(
        "{title}: {n_labels} queries by {n_key_labels} keys, layer {layer}, head {head}.",
        title=title,
        n_labels=len(scene.labels),
        n_key_labels=len(scene.key_labels),
        **scene.numbers,
    )
    return between(
        name,
        title,
        values,
        scene.labels,
        alt,
        key_labels=scene.key_labels,
        palette=palette,
        limit=limit,
        focus_row=scene.word,
        selected=scene.selected(name),
        row_groups=groups(scene.tokens),
        column_groups=groups(scene.key_tokens),
        hidden=hidden,
    )


def between(
    name: str,
    title: str,
    values: Float[Array, "Q K"],
    labels: tuple[str, ...],
    alt: str,
    *,
    key_labels: tuple[str, ...] = (),
    hidden: Bool[Array, "Q K"] | None = None,
    **more: Any,
) -> Matrix:
    """Return numbers (weights by default) between queries and keys, by default the same, as a matrix."""
    known = {"row_axis": _ASKS, "column_axis": _ASKED, "palette": "weights", "row_role": "query", "column_role": "key"}
    hidden = hidden if hidden is not None and hidden.any() else None
    options = known | more
    return Matrix(name, title, values, labels, key_labels or labels, alt=alt, hidden=hidden, **options)


def weight_matrix(
    scene: HeadContext,
    name: str,
    title: str,
    weights: Float[Array, "Q K"],
    hidden: Bool[Array, "Q K"] | None = None,
) -> Matrix:
    """Return weights as a matrix like ``pairs``, on a scale to 1; ``hidden`` defaults to the model's own mask."""
    return pairs(scene, name, title, weights, 1.0, "weights", ~scene.visible if hidden is None else hidden)


def vectors(
    scene: HeadContext,
    name: str,
    title: str,
    values: Float[Array, "T C"],
    columns: tuple[str, ...] | None = None,
    role: Role = "plain",
    block_width: int | None = None,
    column_axis: str = message("dimensions"),
    *,
    of_keys: bool = False,
) -> Matrix:
    """Return vectors as a matrix with a row for each query token or, with ``of_keys``, each key token."""
    names = numbered(values.shape[1]) if columns is None else columns
    tokens, labels = (scene.key_tokens, scene.key_labels) if of_keys else (scene.tokens, scene.labels)
    return Matrix(
        name=name,
        title=title,
        values=values,
        row_labels=labels,
        column_labels=names,
        row_axis=message("tokens"),
        column_axis=column_axis,
        palette="signed",
        alt=message(
            "{title}: {count} vectors of {width} numbers, one per token.",
            title=title,
            width=values.shape[1],
            count=values.shape[0],
        ),
        row_role=role,
        title_role=role,
        focus_row=scene.own_key if of_keys else scene.word,
        selected=scene.selected(name),
        block_width=block_width,
        row_groups=groups(tokens),
    )
