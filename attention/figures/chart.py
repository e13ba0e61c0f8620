"""Charts as the plain data of the chart component: bars side by side, bars under one another, points by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.atlas import Head
from attention.figures.format import packed
from attention.messages import message

__all__ = ["MAX_NAMED", "Chart", "Series", "candidates_chart", "layers_chart", "parts_chart", "spread_chart"]

# "columns" stand side by side, "rows" under one another; "points" stand over numbered places.
Kind = Literal["columns", "rows", "points"]
# "signed" is the colour of each number's sign.
Ink = Literal["signed", "weight", "inactive"]

# Up to this many bars have room for their names.
MAX_NAMED = 24
# How far to the left and right of its layer the first and the last head stand, so that equal heads are seen apart.
SPREAD = 0.28
N_BINS = 30


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one colour, where each stands, and what each is called to those who point at it."""

    name: str
    ink: Ink
    places: Float[Array, " N"]
    values: Float[Array, " N"]
    labels: tuple[str, ...]
    is_line: bool = False
    # The index of the one that stands out.
    current: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that are not one for each label.

        Raises:
            ValueError: with the shapes that came and the one that was wanted.
        """
        wanted = (len(self.labels),)
        if (self.places.shape, self.values.shape) != (wanted, wanted):
            raise ValueError(
                f"places and values must have shape {wanted}, got {self.places.shape}, {self.values.shape}"
            )

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw them; what all labels begin with is sent once."""
        prefix = _common(self.labels) if len(self.labels) > 1 else ""
        return {
            "name": self.name,
            "ink": self.ink,
            "places": packed(self.places),
            "values": packed(self.values),
            "prefix": prefix,
            "labels": [label[len(prefix) :] for label in self.labels],
            "isLine": self.is_line,
            "current": self.current,
        }


def _common(labels: Sequence[str]) -> str:
    """Return what all labels begin with."""
    # What the first and the last in the order of letters share, all between them share too.
    pairs = zip(min(labels), max(labels), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its numbers, the names of its axes, and how many decimals are read.

    ``names`` are written at whole places, one for each from 0; without them the places are numbers. ``limits`` are the
    ends of the axis of the values, from 0 to the largest number if None.
    """

    component: ClassVar[str] = "chart"

    kind: Kind
    title: str
    alt: str
    series: tuple[Series, ...]
    names: tuple[str, ...] | None = None
    place_axis: str = ""
    value_axis: str = ""
    limits: tuple[float, float] | None = None
    decimals: int = 4

    @property
    def touch(self) -> None:
        """Nothing: a chart is read."""
        return None

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it; numbers travel as little-endian float32 in base64."""
        return {
            "kind": self.kind,
            "title": self.title,
            "alt": self.alt,
            "series": [each.payload() for each in self.series],
            "names": None if self.names is None else list(self.names),
            "placeAxis": self.place_axis,
            "valueAxis": self.value_axis,
            "limits": None if self.limits is None else list(self.limits),
            "decimals": self.decimals,
        }


def parts_chart(labels: Sequence[str], parts: Float[Array, " N"], title: str, *, are_weights: bool = False) -> Chart:
    """Return one bar for each part, red above zero and blue below, or weights in their own colour."""
    ink: Ink = "weight" if are_weights else "signed"
    return Chart(
        kind="columns",
        title=title,
        alt=message("Bars: {title}. The table below has the same numbers.", title=title),
        series=(Series("", ink, np.arange(len(parts)), np.asarray(parts), tuple(labels)),),
        names=tuple(labels) if len(parts) <= MAX_NAMED else None,
    )


def candidates_chart(labels: Sequence[str], probabilities: Sequence[float]) -> Chart:
    """Return a bar for each token that may come next, the likeliest at the top, from 0 to 1."""
    return Chart(
        kind="rows",
        title=message("probability of coming next"),
        alt=message(
            "The {n_labels} likeliest next tokens and their probabilities; the buttons have the same numbers.",
            n_labels=len(labels),
        ),
        series=(Series("", "weight", np.arange(len(labels)), np.asarray(probabilities), tuple(labels)),),
        names=tuple(labels),
        limits=(0.0, 1.0),
    )


def spread_chart(before: Float[Array, "Q K"], after: Float[Array, "Q K"], *, is_closer: bool) -> Chart:
    """Return how often which score occurs, before and after scaling, in the same bins.

    ``is_closer`` tells whether the scaled ones are closer to 0.
    """
    # Scores that are all large are, once they are scaled, below the lowest of before.
    low, high = (float(extreme([extreme(before), extreme(after)])) for extreme in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    centres = (edges[:-1] + edges[1:]) / 2
    labels = tuple(f"scores about {centre:.2f}".replace("-", "\u2212") for centre in centres)
    inks: tuple[tuple[str, Ink, Float[Array, "Q K"]], ...] = (
        ("before", "inactive", before),
        ("after", "weight", after),
    )
    return Chart(
        kind="columns",
        title=message("how often which score occurs"),
        alt="How often which score occurs, before and after scaling"
        + (": afterwards they are closer to 0." if is_closer else "."),
        series=tuple(
            Series(name, ink, centres, np.histogram(scores, edges)[0].astype(float), labels)
            for name, ink, scores in inks
        ),
        place_axis="score",
        value_axis="cells",
        decimals=0,
    )


def layers_chart(values: Float[Array, "L H"], title: str, unit: str, current: Head, *, is_share: bool) -> Chart:
    """Return a point for each head and a line through the layers' means; the current head stands out.

    A share is drawn from 0 to 1, so that charts of shares can be compared; all else from 0 to where it ends.
    """
    n_layers, n_heads = values.shape
    layers, heads = (axis.ravel() + 1 for axis in np.indices(values.shape))
    beside = SPREAD * (2 * (heads - 1) / max(n_heads - 1, 1) - 1)
    numbers = np.arange(1, n_layers + 1)
    return Chart(
        kind="points",
        title=title,
        alt=message("{title}, of every head, layer by layer; the table below has the same numbers.", title=title),
        series=(
            Series(
                "mean of the layer",
                "inactive",
                numbers,
                values.mean(axis=1),
                tuple(f"mean of layer {number}" for number in numbers),
                is_line=True,
            ),
            Series(
                "a head",
                "weight",
                layers + beside,
                values.ravel(),
                tuple(f"layer {layer}, head {head}" for layer, head in zip(layers, heads, strict=True)),
                current=current[0] * n_heads + current[1],
            ),
        ),
        place_axis="layer",
        value_axis=unit,
        limits=(0.0, 1.0) if is_share else None,
        decimals=3,
    )
