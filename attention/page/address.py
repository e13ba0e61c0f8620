"""Keys for a run and for a scene, made of names and positions alone, so that they can be kept for as long as needed."""

from __future__ import annotations

from dataclasses import dataclass

from attention.core.masks import MaskName
from attention.core.trace import Part
from attention.figures.matrix import Cell

__all__ = ["Address", "RunKey"]


@dataclass(frozen=True, slots=True)
class RunKey:
    """The key of a run: the model and its revision, what it read, and the mask."""

    model_id: str
    revision: str
    text: str
    mask: MaskName
    pair: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """The key of a scene: the run and its part, and the layer, head, word and cell that are looked at."""

    run: RunKey
    part: Part
    layer: int
    head: int
    word: int
    cell: Cell | None = None
