"""The weights of a layer's heads laid over a picture, as the plain data of the overlay component."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.click_schema import Parts, is_index
from attention.figures.format import packed

__all__ = ["HeadOverlay", "Overlay"]


@dataclass(frozen=True, slots=True)
class HeadOverlay:
    """The weights that one head gives to each patch, row by row, and to the tokens that are not patches."""

    label: str
    weights: Float[Array, " P"]
    special: float
    description: str


@dataclass(frozen=True, slots=True)
class TouchPatch:
    """A patch, known by its position among the tokens, or a head."""

    positions: tuple[int, ...]
    n_heads: int
    acts: tuple[str, ...] = ("ask", "choose")

    def said(self, act: str, value: object) -> Parts | None:
        """Return the patch that is to attend, or the head, that was pressed."""
        if act == "ask" and is_index(value, len(self.positions)):
            return {"word": str(self.positions[value])}
        if act == "choose" and is_index(value, self.n_heads):
            return {"head": str(value + 1)}
        return None


@dataclass(frozen=True, slots=True)
class Overlay:
    """A square picture, with grey levels from 0 to 1, and the weights of heads over its square patches.

    ``asking`` names the token in focus; ``focus`` is the index of its patch, counted from 0, if it is a patch. If
    ``is_bare``, nothing lies over the picture, which is only cut into its patches.
    """

    component: ClassVar[str] = "overlay"

    label: str
    asking: str
    picture: Float[Array, "S S"]
    patches: tuple[str, ...]
    heads: tuple[HeadOverlay, ...]
    current: int
    # The patches' positions among the tokens.
    positions: tuple[int, ...]
    focus: int | None = None
    is_bare: bool = False

    def __post_init__(self) -> None:
        """Refuse patches that do not form a square, or weights that are not one for each patch.

        Raises:
            ValueError: the numbers do not match; the message says what came and what was expected.
        """
        if self.across**2 != len(self.patches):
            raise ValueError(f"patches must make a square, got {len(self.patches)}")
        for head in self.heads:
            if head.weights.shape != (len(self.patches),):
                raise ValueError(f"weights must have shape {(len(self.patches),)}, got {head.weights.shape}")

    @property
    def across(self) -> int:
        """The number of patches in a row."""
        return round(len(self.patches) ** 0.5)

    @property
    def touch(self) -> TouchPatch:
        """A patch that is to attend, or a head."""
        return TouchPatch(self.positions, len(self.heads))

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it; numbers are sent as little-endian float32 in base64."""
        return {
            "label": self.label,
            "asking": self.asking,
            "picture": packed(self.picture),
            "side": len(self.picture),
            "across": self.across,
            "patches": list(self.patches),
            "focus": self.focus,
            "heads": [
                {
                    "label": head.label,
                    "values": packed(head.weights),
                    "special": head.special,
                    "description": head.description,
                }
                for head in self.heads
            ],
            "current": self.current,
            "isBare": self.is_bare,
        }
