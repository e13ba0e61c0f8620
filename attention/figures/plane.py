"""Chains of arrows in a plane as a Plotly figure: how vectors change, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.charts import escaped, figure, shortened
from attention.figures.colours import INACTIVE, VALUE

# "sent" are the tokens' contributions, in the colour of values; "change" is their sum; "other" is everything else.
Ink = Literal["sent", "change", "other"]

# A line without a colour has the text's.
_COLOURS: Mapping[Ink, str | None] = {"sent": VALUE, "change": None, "other": INACTIVE}
# The number of points along an arrow that show its tooltip.
_PLACES = 9
_BEYOND = 0.06


@dataclass(frozen=True, slots=True)
class Chain:
    """Arrows from place to place with labels, inks and, optionally, short tags."""

    name: str
    places: Float[Array, "N+1 2"]
    labels: tuple[str, ...]
    inks: tuple[Ink, ...]
    tags: tuple[str, ...] = ()


def plane_of_arrows(
    chains: Sequence[Chain], legend: Mapping[Ink, str], title: str, alt: str, axes: Sequence[str]
) -> go.Figure:
    """Return chains of arrows on two axes of equal scale; the legend explains each ink."""
    named: set[Ink] = set()
    data = []
    for number, chain in enumerate(chains):
        for ink in legend:
            drawn = _arrows(chain, ink, legend[ink], is_named=ink not in named)
            if drawn is not None:
                data.append({**drawn, "meta": {"chain": number}})
                named.add(ink)
    (left, right), (low, high) = _frame(chains)
    return figure(
        [*data, _starts(chains), _names(chains)],
        title,
        alt,
        x={"title": {"text": axes[0]}, "range": [left, right], "zeroline": False},
        y={"title": {"text": axes[1]}, "range": [low, high], "zeroline": False, "scaleanchor": "x"},
        height=410,
        hovermode="closest",
    )


def _arrows(chain: Chain, ink: Ink, name: str, *, is_named: bool) -> dict[str, Any] | None:
    """Return a chain's arrows of one ink as a single line with gaps; None if there are none."""
    ends, labels = [], []
    for index, label in enumerate(chain.labels):
        if chain.inks[index] == ink:
            ends.append(chain.places[index : index + 2])
            labels.append(escaped(label))
    if not ends:
        return None
    along = np.linspace(0, 1, _PLACES)[:, None]
    paths = np.stack([np.vstack([start + along * (end - start), [[np.nan, np.nan]]]) for start, end in ends])
    sizes = np.zeros(paths.shape[:2], dtype=int)
    sizes[:, _PLACES - 1] = 12
    colour = {} if _COLOURS[ink] is None else {"color": _COLOURS[ink]}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(name),
        "legendgroup": ink,
        "showlegend": is_named,
        "x": paths[..., 0].ravel(),
        "y": paths[..., 1].ravel(),
        "line": {**colour, "width": 2.25},
        "marker": {
            **colour,
            "symbol": "arrow",
            "angleref": "previous",
            "size": sizes.ravel(),
            "opacity": 1,
            "line": {"width": 0},
        },
        "hovertext": [label for label in labels for _ in range(_PLACES + 1)],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _starts(chains: Sequence[Chain]) -> dict[str, Any]:
    places = np.array([chain.places[0] for chain in chains]).reshape(-1, 2)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": places[:, 0],
        "y": places[:, 1],
        "marker": {"size": 7},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _names(chains: Sequence[Chain]) -> dict[str, Any]:
    """Return the chains' names and the arrows' tags; where two overlap, the browser shows the first."""
    own = [(chain.places[0], f"<b>{shortened(chain.name)}</b>") for chain in chains if chain.name]
    tags = [
        (chain.places[index : index + 2].mean(axis=0), shortened(tag))
        for chain in chains
        for index, tag in enumerate(chain.tags)
    ]
    written = [*own, *tags]
    places = np.array([place for place, _ in written]).reshape(-1, 2)
    return {
        "type": "scatter",
        "mode": "text",
        "x": places[:, 0],
        "y": places[:, 1],
        "text": [text for _, text in written],
        # A halo keeps them readable over an arrow.
        "textfont": {"shadow": "auto"},
        "textposition": ["top right"] * len(own) + ["bottom center"] * len(tags),
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _frame(chains: Sequence[Chain]) -> Float[Array, "2 2"]:
    """Return the ends of both axes, around all chains."""
    places = np.vstack([chain.places for chain in chains])
    low, high = places.min(axis=0), places.max(axis=0)
    beyond = _BEYOND * ((high - low).max() or 1)
    return np.stack([low - beyond, high + beyond], axis=-1)
