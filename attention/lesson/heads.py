"""Thumbnails of all heads of a layer."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.trace import ModelInfo
from attention.figures.format import number
from attention.figures.heads import HeadThumb, shrink
from attention.lesson.head_context import HeadContext


def head_thumbs(scene: HeadContext) -> list[HeadThumb]:
    """Return a thumbnail of each head's weights, with a sentence about the word in focus."""
    # Head by head, keeping only the thumbnail: a long text's weights take much memory.
    return [_thumb(scene, head, scene.attention.head(head).weights) for head in range(scene.info.n_heads)]


def head_label(info: ModelInfo, head: int) -> str:
    """Return a head's number and, if it has one, its name."""
    if not info.head_names:
        return message("Head {head}", head=head + 1)
    return message("Head {head}: {name}", head=head + 1, name=info.head_names[head])


def _thumb(scene: HeadContext, head: int, weights: Float[Array, "Q K"]) -> HeadThumb:
    row = weights[scene.word]
    best = int(row.argmax())
    description = message(
        "“{query}” attends most to “{key}”, {weight}.",
        query=scene.names[scene.word],
        key=scene.key_names[best],
        weight=number(float(row[best])),
    )
    drawn = np.where(scene.attention.hidden(head), np.float32(-np.inf), weights)
    return HeadThumb(head_label(scene.info, head), shrink(drawn), description, _group(scene, head))


def _group(scene: HeadContext, head: int) -> str:
    """Return a label for the key/value head that a head shares with others; empty if it is not shared."""
    size = scene.info.group_size
    if size == 1:
        return ""
    return messages(
        "Key/value head {head}, shared by {n} query head",
        "Key/value head {head}, shared by {n} query heads",
        size,
        head=head // size + 1,
    )
