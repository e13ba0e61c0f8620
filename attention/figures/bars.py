"""Small bar charts in plain HTML, without the chart library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.drawn import Drawn
from attention.figures.format import packed
from attention.figures.spread import binned

# "signed" colours each number by its sign.
Ink = Literal["signed", "weight", "inactive"]

# Up to this many vertical bars have room for their names.
MAX_NAMED = 24


@dataclass(frozen=True, slots=True)
class Bars(Drawn):
    """Named bars: horizontal with their numbers or, if ``are_upright``, vertical.

    Each of the one or two ``series`` has a name, an ink and one number for each label; the second is drawn over the
    first. ``limit`` is the number of a full bar, by default the largest.
    """

    component: ClassVar[str] = "bars"

    title: str
    alt: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, Ink, Float[Array, " N"]], ...]
    are_upright: bool = False
    limit: float | None = None
    decimals: int = 4

    def payload(self) -> dict[str, Any]:
        """Return the component's data; numbers are little-endian float32 in base64."""
        return self.plain("title alt labels are_upright limit decimals") | {
            "series": [{"name": name, "ink": ink, "values": packed(values)} for name, ink, values in self.series],
            "areNamed": len(self.labels) <= MAX_NAMED,
        }


def parts_bars(labels: Sequence[str], parts: Float[Array, " N"], title: str, *, are_weights: bool = False) -> Bars:
    """Return one vertical bar for each part, coloured by its sign unless they ``are_weights``."""
    return Bars(
        title=title,
        alt=message("Bar chart: {title}.", title=title),
        labels=tuple(labels),
        series=(("", "weight" if are_weights else "signed", parts),),
        are_upright=True,
    )


def lengths_bars(labels: Sequence[str], lengths: Sequence[float] | Array, title: str) -> Bars:
    """Return one horizontal bar for each norm."""
    return Bars(
        title=title,
        alt=message("Bar chart: {title}.", title=title),
        labels=tuple(labels),
        series=(("", "inactive", np.asarray(lengths)),),
        decimals=2,
    )


def candidates_bars(labels: Sequence[str], probabilities: Sequence[float]) -> Bars:
    """Return one bar for each candidate for the next token, from 0 to 1."""
    return Bars(
        title=message("next-token probability"),
        alt=message(
            "Probabilities of the {n_labels} likeliest next tokens; numbers on the buttons.",
            n_labels=len(labels),
        ),
        labels=tuple(labels),
        series=(("", "weight", np.asarray(probabilities)),),
        limit=1.0,
    )


def spread_bars(before: Float[Array, "Q K"], after: Float[Array, "Q K"]) -> Bars:
    """Return overlaid histograms of scores."""
    edges, (counts_before, counts_after) = binned(before, after)
    centres = (edges[:-1] + edges[1:]) / 2
    scores = (f"{centre:.2f}".replace("-", "\u2212") for centre in centres)
    return Bars(
        title=message("distribution of scores"),
        alt=message("Distribution of the scores before and after scaling."),
        labels=tuple(message("scores near {score}", score=score) for score in scores),
        series=((message("before"), "inactive", counts_before), (message("after"), "weight", counts_after)),
        are_upright=True,
        decimals=0,
    )
