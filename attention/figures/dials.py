"""Dials that show a query and a key as pairs of numbers that rotate (RoPE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.drawn import Drawn


@dataclass(frozen=True, slots=True)
class Dials(Drawn):
    """A dial with captions for each pair of dimensions: arrows for query and key, rotated by an angle in radians."""

    component: ClassVar[str] = "dials"

    title: str
    alt: str
    query_name: str
    key_name: str
    query: Float[Array, "P 2"]
    key: Float[Array, "P 2"]
    turned: Float[Array, " P"]
    captions: tuple[tuple[str, ...], ...]

    def payload(self) -> dict[str, Any]:
        """Return the component's data: angles and lengths, each length relative to the longer arrow of its dial."""
        lengths = np.stack([np.linalg.norm(self.query, axis=1), np.linalg.norm(self.key, axis=1)], axis=1)
        longest = lengths.max(axis=1, initial=0, keepdims=True)
        parts = lengths / np.where(longest == 0, 1, longest)
        angles = np.stack([np.arctan2(each[:, 1], each[:, 0]) for each in (self.query, self.key)], axis=1)
        return {
            "title": self.title,
            "alt": self.alt,
            "names": [self.query_name, self.key_name],
            "dials": [
                {
                    "angles": np.round(angle, 4).tolist(),
                    "lengths": np.round(part, 4).tolist(),
                    "turned": round(float(turned), 4),
                    "captions": list(captions),
                }
                for angle, part, turned, captions in zip(angles, parts, self.turned, self.captions, strict=True)
            ],
        }
