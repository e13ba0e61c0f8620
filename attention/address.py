"""Where a run and a scene are found, in names and positions alone: what may be kept as long as anybody likes."""

from __future__ import annotations

from dataclasses import dataclass

from attention.figures.matrix import Cell
from attention.masks import MaskName
from attention.trace import Part

__all__ = ["Address", "RunKey"]


@dataclass(frozen=True, slots=True)
class RunKey:
    """What a run is found by, names alone: which model, of which revision, what it read and with which mask."""

    model_id: str
    revision: str
    text: str
    mask: MaskName
    pair: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a scene is: in which part of which run, and which layer, head, word and cell of it."""

    run: RunKey
    part: Part
    layer: int
    head: int
    word: int
    cell: Cell | None = None
