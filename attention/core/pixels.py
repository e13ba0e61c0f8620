"""A picture of 8×8 pixels as text: one character per pixel, row by row, from "0" (black) to "g" (white)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

SIDE = 8
# The 17 grey levels, from 0 to 16.
GREYS = "0123456789abcdefg"


def parse(text: str) -> Float[Array, "8 8"]:
    """Return a picture's grey levels, from 0 to 16; raise ValueError unless the text is 64 grey levels."""
    if len(text) != SIDE * SIDE:
        raise ValueError(
            f"A picture has {SIDE * SIDE} characters, one for each of its {SIDE}×{SIDE} pixels; this has {len(text)}. "
            "Draw a digit, or choose one."
        )
    unknown = next((character for character in text if character not in GREYS), None)
    if unknown is not None:
        raise ValueError(f"A pixel is one of {GREYS[0]}–9 and a–{GREYS[-1]}, from black to white; {unknown!r} is none.")
    levels = [GREYS.index(character) for character in text]
    return np.array(levels, np.float32).reshape(SIDE, SIDE)


def is_picture(text: str) -> bool:
    """Return whether a text is a picture."""
    return len(text) == SIDE * SIDE and all(character in GREYS for character in text)


def shades(text: str) -> Float[Array, "8 8"]:
    """Return the grey levels of a picture, from 0 to 1; raise ValueError as ``parse`` does."""
    return parse(text) / (len(GREYS) - 1)


def write(levels: Float[Array, "8 8"]) -> str:
    """Write a picture as text, rounding each level; raise ValueError unless it is 8×8 levels from 0 to 16."""
    if levels.shape != (SIDE, SIDE):
        raise ValueError(f"A picture must have shape {(SIDE, SIDE)}, got {levels.shape}")
    whole = np.rint(levels)
    if not ((whole >= 0) & (whole < len(GREYS))).all():
        raise ValueError(f"Grey levels must be between 0 and {len(GREYS) - 1}, got {levels.min()} to {levels.max()}")
    return "".join(GREYS[int(level)] for level in whole.flat)
