"""The explanation of one cell: the terms of its sum, or the softmax that it is part of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.lesson.prose import exact, lesson, word
from attention.lesson.tables import full_precision

# The bars' axis if a cell is explained by the vector that contains it.
WHOLE_VECTOR = message("the whole vector, by dimension")


@dataclass(frozen=True, slots=True)
class Detail:
    """The explanation of one cell: a sentence (HTML), its parts as bars, and, for softmax, a table."""

    title: str
    note: str
    labels: tuple[str, ...]
    parts: Float[Array, " N"]
    axis: str
    columns: dict[str, list[str]] | None = None
    are_weights: bool = False

    def table(self) -> dict[str, list[str]]:
        """Return the parts as columns."""
        if self.columns is not None:
            return self.columns
        return {message("part"): list(self.labels), self.axis: full_precision(self.parts)}


def tell_largest(parts: Float[Array, " N"], labels: tuple[str, ...]) -> str:
    """Return as HTML which part is largest in absolute value."""
    index = int(np.abs(parts).argmax())
    return lesson("cell/largest", label=word(labels[index]), value=exact(float(parts[index]), 2))


def indexed(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return labels made unique by their positions: ``0 the``, ``4 the``."""
    return tuple(f"{position} {label}" for position, label in enumerate(labels))
