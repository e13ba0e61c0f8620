"""A layer's attention weights laid over a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import packed


@dataclass(frozen=True, slots=True)
class HeadOverlay:
    """One head's weights for the patches, row by row, and their sum for all other tokens."""

    label: str
    weights: Float[Array, " P"]
    special: float
    description: str


@dataclass(frozen=True, slots=True)
class Overlay(Drawn):
    """A square picture (grey levels from 0 to 1) with heads' weights over its square patches.

    ``asking`` names the token in focus; ``focus`` is the index of its patch, if it is one. With ``is_bare``, the
    picture is only cut into its patches.
    """

    component: ClassVar[str] = "overlay"
    acts: ClassVar[tuple[str, ...]] = ("ask", "choose")

    label: str
    asking: str
    picture: Float[Array, "S S"]
    patches: tuple[str, ...]
    heads: tuple[HeadOverlay, ...]
    current: int
    # The patches' token positions.
    positions: tuple[int, ...]
    focus: int | None = None
    is_bare: bool = False

    @property
    def across(self) -> int:
        """The number of patches in a row."""
        return round(len(self.patches) ** 0.5)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the position of the pressed patch, or the number of the pressed head."""
        if act == "ask" and is_index(value, len(self.positions)):
            return {"word": str(self.positions[value])}
        if act == "choose" and is_index(value, len(self.heads)):
            return {"head": str(value + 1)}
        return None

    def payload(self) -> dict[str, Any]:
        """Return the component's data; numbers are little-endian float32 in base64."""
        return self.plain("label asking picture across patches focus current is_bare") | {
            "side": len(self.picture),
            "heads": [
                {
                    "label": head.label,
                    "values": packed(head.weights),
                    "special": head.special,
                    "description": head.description,
                }
                for head in self.heads
            ],
        }
