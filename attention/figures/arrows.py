"""Arrows in a plane as the plain data of the arrows component: how vectors move, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.format import packed

__all__ = ["Arrows", "Chain", "Ink"]

# "sent" is what tokens send, in the colour of values; "change" is what it adds up to; "other" is all else.
Ink = Literal["sent", "change", "other"]


@dataclass(frozen=True, slots=True)
class Chain:
    """Arrows from place to place: one for each label, with an ink each and, if there are any, a short tag beside it.

    Main chains stand out, with the name where they begin; that of any other stands where it ends.
    """

    name: str
    places: Float[Array, "N+1 2"]
    labels: tuple[str, ...]
    inks: tuple[Ink, ...]
    is_main: bool = False
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse places or inks that do not match the labels.

        Raises:
            ValueError: the numbers differ; the message gives what came and what was expected.
        """
        wanted = (len(self.labels) + 1, 2)
        if self.places.shape != wanted or len(self.inks) != len(self.labels):
            raise ValueError(
                f"places must have shape {wanted} and inks length {len(self.labels)}, "
                f"got {self.places.shape} and {len(self.inks)}"
            )

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw them."""
        return {
            "name": self.name,
            "places": packed(self.places),
            "labels": list(self.labels),
            "inks": list(self.inks),
            "isMain": self.is_main,
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True)
class Arrows:
    """Chains of arrows on two axes with the same scale; the legend says what each ink stands for."""

    component: ClassVar[str] = "arrows"

    title: str
    alt: str
    chains: tuple[Chain, ...]
    legend: tuple[tuple[Ink, str], ...]
    x_axis: str
    y_axis: str

    @property
    def touch(self) -> None:
        """None: it is only read."""
        return None

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it."""
        return {
            "title": self.title,
            "alt": self.alt,
            "chains": [chain.payload() for chain in self.chains],
            "legend": [list(entry) for entry in self.legend],
            "xAxis": self.x_axis,
            "yAxis": self.y_axis,
        }
