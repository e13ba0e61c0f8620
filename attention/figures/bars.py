"""Small bars inside a step, as the plain data of a component of HTML: they need no chart library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.format import packed
from attention.figures.spread import binned, told_spread

__all__ = ["MAX_NAMED", "Bars", "candidates_bars", "lengths_bars", "parts_bars", "spread_bars"]

# "signed" colours each number by its sign.
Ink = Literal["signed", "weight", "inactive"]

# The most bars beside one another that have room for their names.
MAX_NAMED = 24


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars with their names: under one another with the numbers beside them, or beside one another (``are_upright``).

    ``series`` are one or two times as many numbers as there are names, of which the second lie over the first; each has
    a name and an ink. ``limit`` is the number of a whole bar; None is the largest one.
    """

    component: ClassVar[str] = "bars"

    title: str
    alt: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, Ink, Float[Array, " N"]], ...]
    are_upright: bool = False
    limit: float | None = None
    decimals: int = 4

    def __post_init__(self) -> None:
        """Refuse arrays that do not have one number for each name.

        Raises:
            ValueError: the lengths differ; the message gives the shape that came and the one expected.
        """
        for _, _, values in self.series:
            if values.shape != (len(self.labels),):
                raise ValueError(f"values must have shape {(len(self.labels),)}, got {values.shape}")

    @property
    def touch(self) -> None:
        """None: they are only read."""
        return None

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw them; numbers are sent as little-endian float32 in base64."""
        return {
            "title": self.title,
            "alt": self.alt,
            "labels": list(self.labels),
            "series": [{"name": name, "ink": ink, "values": packed(values)} for name, ink, values in self.series],
            "areUpright": self.are_upright,
            "areNamed": len(self.labels) <= MAX_NAMED,
            "limit": self.limit,
            "decimals": self.decimals,
        }


def parts_bars(labels: Sequence[str], parts: Float[Array, " N"], title: str, *, are_weights: bool = False) -> Bars:
    """Return one bar for each part, red above zero and teal below; weights have a colour of their own."""
    return Bars(
        title=title,
        alt=message("Bars: {title}. The table below has the same numbers.", title=title),
        labels=tuple(labels),
        series=(("", "weight" if are_weights else "signed", parts),),
        are_upright=True,
    )


def lengths_bars(labels: Sequence[str], lengths: Sequence[float] | Array, title: str, *, decimals: int = 2) -> Bars:
    """Return one bar for each length, the first at the top."""
    return Bars(
        title=title,
        alt=message("Bars: {title}. The words beside them have the same numbers.", title=title),
        labels=tuple(labels),
        series=(("", "inactive", np.asarray(lengths)),),
        decimals=decimals,
    )


def candidates_bars(labels: Sequence[str], probabilities: Sequence[float]) -> Bars:
    """Return one bar for each candidate for the next token, from 0 to 1, the most likely at the top."""
    return Bars(
        title=message("probability of coming next"),
        alt=message(
            "The {n_labels} likeliest next tokens and their probabilities; the buttons have the same numbers.",
            n_labels=len(labels),
        ),
        labels=tuple(labels),
        series=(("", "weight", np.asarray(probabilities)),),
        limit=1.0,
    )


def spread_bars(before: Float[Array, "Q K"], after: Float[Array, "Q K"], *, is_closer: bool) -> Bars:
    """Return histograms of the scores before and after scaling, with the same bins, over one another.

    ``is_closer`` tells whether scaling brings the scores closer to 0.
    """
    edges, (counts_before, counts_after) = binned(before, after)
    centres = (edges[:-1] + edges[1:]) / 2
    scores = (f"{centre:.2f}".replace("-", "\u2212") for centre in centres)
    return Bars(
        title=message("how often each score occurs"),
        alt=told_spread(is_closer=is_closer),
        labels=tuple(message("scores about {score}", score=score) for score in scores),
        series=((message("before"), "inactive", counts_before), (message("after"), "weight", counts_after)),
        are_upright=True,
        decimals=0,
    )
