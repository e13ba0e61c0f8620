"""Bars: the parts that add up to a number, and how far scores are spread."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures import colours

__all__ = ["parts_figure", "spread_figure"]

# Up to this many bars have room for their names.
MAX_NAMED = 16
# Beyond it, a longer name is shortened under its bar and whole on hover.
MAX_NAME = 12


def parts_figure(labels: Sequence[str], parts: Float[Array, " N"], title: str, are_weights: bool = False) -> go.Figure:
    """Draw one bar per part, red above zero and blue below, or weights in their own colour."""
    safe = [html.escape(label) for label in labels]
    positions = np.arange(len(parts))
    figure = go.Figure(
        go.Bar(
            x=positions,
            y=np.asarray(parts, np.float32),
            marker_color=[_colour(float(part), are_weights) for part in parts],
            customdata=safe,
            hovertemplate="%{customdata}: %{y:.4f}<extra></extra>",
        )
    )
    figure.update_layout(**_layout(190), title={"text": title, "font": {"size": 13, "weight": "normal"}, "x": 0})
    figure.update_yaxes(zeroline=True, zerolinewidth=1, nticks=5)
    if len(parts) <= MAX_NAMED:
        short = [_short(label) for label in labels]
        figure.update_xaxes(tickmode="array", tickvals=positions.tolist(), ticktext=short, showgrid=False)
    else:
        figure.update_xaxes(showgrid=False, nticks=8)
    return figure


def spread_figure(before: Float[Array, "Q K"], after: Float[Array, "Q K"]) -> go.Figure:
    """Draw how often which score occurs, before and after scaling, in the same bins."""
    low, high = float(before.min()), float(before.max())
    edges = np.linspace(low, high if high > low else low + 1, 31)
    figure = go.Figure()
    for name, scores, colour in (
        ("before", before, colours.INACTIVE),
        ("after", after, colours.WEIGHT),
    ):
        counts, _ = np.histogram(scores, _reaching(edges, scores))
        centres = (edges[:-1] + edges[1:]) / 2
        figure.add_bar(x=centres, y=counts, name=name, marker_color=colour, opacity=0.75)
    figure.update_layout(**_layout(200), barmode="overlay")
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.15})
    figure.update_xaxes(title_text="score", title_font_size=12, showgrid=False)
    figure.update_yaxes(title_text="cells", title_font_size=12, nticks=4)
    return figure


def _reaching(edges: Array, scores: Array) -> Array:
    """Stretch the outer edges so that no score falls outside the bins."""
    reaching = edges.copy()
    reaching[0], reaching[-1] = min(reaching[0], scores.min()), max(reaching[-1], scores.max())
    return reaching


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
    return html.escape(label if len(label) <= MAX_NAME else f"{label[: MAX_NAME - 1]}…")
