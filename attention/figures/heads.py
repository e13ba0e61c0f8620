"""A grid of heads, each a thumbnail of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import shades

# A thumbnail's width in pixels: more numbers would be sent but not seen.
MAX_SIDE = 128


@dataclass(frozen=True, slots=True)
class HeadThumb:
    """A thumbnail of one head's weights (``-inf`` is masked) or, with ``is_picture``, of a picture's grey levels."""

    label: str
    weights: Float[Array, "Q K"]
    description: str = ""
    group: str = ""
    is_picture: bool = False

    def payload(self) -> dict[str, Any]:
        """Return the component's data; nobody reads exact numbers here, so weights are sent as shades."""
        small = shrink(self.weights)
        return {
            "label": self.label,
            "description": self.description,
            "group": self.group,
            "isPicture": self.is_picture,
            "shades": shades(small, 1, is_signed=False),
            "rows": small.shape[0],
            "columns": small.shape[1],
        }


@dataclass(frozen=True, slots=True)
class HeadGrid(Drawn):
    """Thumbnails of heads to choose from, with the index of the current one."""

    component: ClassVar[str] = "head_grid"
    acts: ClassVar[tuple[str, ...]] = ("choose",)

    heads: tuple[HeadThumb, ...]
    current: int
    label: str = message("Heads of this layer")

    def said(self, act: str, value: object) -> Parts | None:
        """Return the number of the pressed head, counted from 1."""
        return {"head": str(value + 1)} if act == "choose" and is_index(value, len(self.heads)) else None

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        return {"label": self.label, "heads": [head.payload() for head in self.heads], "current": self.current}


def shrink(weights: Float[Array, "Q K"], side: int = MAX_SIDE) -> Float[Array, "q k"]:
    """Max-pool a matrix to at most ``side`` rows and columns, so that a thin line of a long text remains visible.

    >>> shrink(np.array([[0.1, 0.9, 0.0], [0.2, 0.3, 0.4]]), side=2)
    array([[0.9, 0. ],
           [0.3, 0.4]])
    """
    for axis, size in enumerate(weights.shape):
        block = -(-size // side)
        if block > 1:
            weights = np.maximum.reduceat(weights, np.arange(0, size, block), axis=axis)
    return weights
