"""Bars: the parts that add up to a number, and how far scores are spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures import colours

__all__ = ["candidates_figure", "literal", "parts_figure", "spread_figure"]

# Up to this many bars have room for their names.
MAX_NAMED = 24
# Beyond it, a longer name is shortened under its bar and whole on hover.
MAX_NAME = 12


def parts_figure(labels: Sequence[str], parts: Float[Array, " N"], title: str, are_weights: bool = False) -> go.Figure:
    """Draw one bar per part, red above zero and blue below, or weights in their own colour."""
    bar: dict[str, object] = {
        "type": "bar",
        "x": np.arange(len(parts), dtype=np.int32),
        "y": np.asarray(parts, np.float32),
        "marker": {"color": [_colour(float(part), are_weights) for part in parts]},
        "customdata": list(map(literal, labels)),
        "hovertemplate": "%{customdata}: %{y:.4f}<extra></extra>",
    }
    x_axis: dict[str, object] = {"showgrid": False}
    if len(parts) <= MAX_NAMED:
        x_axis |= {
            "ticklabeloverflow": "allow",
            "tickmode": "array",
            "tickvals": list(range(len(parts))),
            "ticktext": list(map(_short, labels)),
        }
    else:
        x_axis |= {"nticks": 8}
    layout: dict[str, object] = {
        **_layout(190),
        "title": {"text": title, "font": {"size": 13, "weight": "normal"}, "x": 0},
        "xaxis": x_axis,
        "yaxis": {"zeroline": True, "zerolinewidth": 1, "nticks": 5},
    }
    return _figure([bar], layout)


def candidates_figure(labels: Sequence[str], probabilities: Sequence[float]) -> go.Figure:
    """Draw a bar for each token that may come next, the likeliest at the top, from 0 to 1."""
    places = list(range(len(labels)))
    bar: dict[str, object] = {
        "type": "bar",
        "orientation": "h",
        "x": np.asarray(probabilities, np.float32),
        "y": places,
        "marker": {"color": colours.WEIGHT},
        "customdata": list(map(literal, labels)),
        "hovertemplate": "%{customdata}: %{x:.4f}<extra></extra>",
    }
    names = {"tickmode": "array", "tickvals": places, "ticktext": list(map(_short, labels)), "autorange": "reversed"}
    layout: dict[str, object] = {
        **_layout(60 + 26 * len(labels)),
        "title": {"text": "probability of coming next", "font": {"size": 13, "weight": "normal"}, "x": 0},
        "xaxis": {"range": [0, 1], "nticks": 6},
        "yaxis": {**names, "automargin": True, "showgrid": False},
    }
    return _figure([bar], layout)


def spread_figure(before: Float[Array, "Q K"], after: Float[Array, "Q K"]) -> go.Figure:
    """Draw how often which score occurs, before and after scaling, in the same bins."""
    # Scores that are all large are, once they are scaled, below the lowest of before.
    low, high = (float(extreme([extreme(before), extreme(after)])) for extreme in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, 31)
    centres = (edges[:-1] + edges[1:]) / 2
    bars: list[dict[str, object]] = []
    for name, scores, colour in (
        ("before", before, colours.INACTIVE),
        ("after", after, colours.WEIGHT),
    ):
        counts, _ = np.histogram(scores, edges)
        bars.append(
            {
                "type": "bar",
                "x": centres.astype(np.float32),
                "y": counts.astype(np.int32),
                "name": name,
                "marker": {"color": colour},
                "opacity": 0.75,
            }
        )
    layout: dict[str, object] = {
        **_layout(200),
        "barmode": "overlay",
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.15},
        "xaxis": {"title": {"text": "score", "font": {"size": 12}}, "showgrid": False},
        "yaxis": {"title": {"text": "cells", "font": {"size": 12}}, "nticks": 4},
    }
    return _figure(bars, layout)


def literal(text: str) -> str:
    """Return a text so that plotly shows it as it is.

    Plotly takes some tags (``<b>``, ``<br>``) and some entities (``&amp;``, ``&lt;``) for markup, and nothing else:
    ``&quot;`` would be shown as it stands, so quotes stay quotes.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _figure(data: list[dict[str, object]], layout: dict[str, object]) -> go.Figure:
    # For plotly to check every property, figure by figure, takes longer than all the rest of a step together.
    return go.Figure({"data": data, "layout": layout}, _validate=False)


def _layout(height: int) -> dict[str, object]:
    return {
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 30, "b": 0},
        "showlegend": False,
        "bargap": 0.15,
        "dragmode": False,
    }


def _colour(part: float, is_weight: bool) -> str:
    if is_weight:
        return colours.WEIGHT
    return colours.NEGATIVE if part < 0 else colours.POSITIVE


def _short(label: str) -> str:
    return literal(label if len(label) <= MAX_NAME else f"{label[: MAX_NAME - 1]}…")
