"""All heads of a layer as small pictures of their weights."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.format import number
from attention.figures.heads import HeadThumb, shrink
from attention.lesson.scene import Scene

__all__ = ["head_thumbs"]


def head_thumbs(scene: Scene) -> list[HeadThumb]:
    """Return a small picture of each head's weights, with a sentence about the word in focus."""
    # Head by head, keeping only the small picture: the weights of all heads take much memory for a long text.
    return [_thumb(scene, head, scene.attention.head(head).weights) for head in range(scene.info.n_heads)]


def _thumb(scene: Scene, head: int, weights: Float[Array, "Q K"]) -> HeadThumb:
    row = weights[scene.word]
    best = int(row.argmax())
    names = scene.info.head_names
    label = f"Head {head + 1}" + (f": {names[head]}" if names else "")
    description = f"{scene.names[scene.word]} looks most at {scene.key_names[best]}, {number(float(row[best]))}."
    drawn = np.where(scene.attention.hidden(head), np.float32(-np.inf), weights)
    return HeadThumb(label, shrink(drawn), description, _group(scene, head))


def _group(scene: Scene, head: int) -> str:
    """Name the key/value head that a head shares with others; empty if it does not share one."""
    size = scene.info.group_size
    return "" if size == 1 else f"Key/value head {head // size + 1}, shared by {size} query heads"
