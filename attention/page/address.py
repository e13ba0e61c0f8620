"""Keys of runs and scenes, made of names and positions alone, so that they are cheap to keep."""

from __future__ import annotations

from dataclasses import dataclass

from attention.core.masks import MaskName
from attention.core.trace import Part
from attention.figures.matrix import Cell


@dataclass(frozen=True, slots=True)
class RunKey:
    """The key of a run: the model and its revision, the text read, and the mask."""

    model_id: str
    revision: str
    text: str
    mask: MaskName
    pair: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """The key of a scene: the run and its part, and the layer, head, word and cell."""

    run: RunKey
    part: Part
    layer: int
    head: int
    word: int
    cell: Cell | None = None
