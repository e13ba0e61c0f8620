"""One number of every head, layer by layer: each head a point, the mean of a layer on a line."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures import colours
from attention.figures.atlas import Head

__all__ = ["layers_figure"]

# How far to the left and right of its layer the first and the last head stand, so that equal heads are seen apart.
SPREAD = 0.28


def layers_figure(values: Float[Array, "L H"], title: str, unit: str, current: Head, is_share: bool) -> go.Figure:
    """Draw a point for each head and a line through the layers' means; the current head is a large diamond.

    A share is drawn from 0 to 1, so that pictures of shares can be compared; all else from 0 to where it ends.
    """
    n_layers, n_heads = values.shape
    layers, heads = (axis.ravel() + 1 for axis in np.indices(values.shape))
    beside = SPREAD * (2 * (heads - 1) / max(n_heads - 1, 1) - 1)
    is_current = (layers - 1 == current[0]) & (heads - 1 == current[1])
    points: dict[str, object] = {
        "type": "scatter",
        "mode": "markers",
        "name": "a head",
        "x": (layers + beside).astype(np.float32),
        "y": values.ravel().astype(np.float32),
        "customdata": np.stack([layers, heads], axis=-1),
        "marker": {
            "color": colours.WEIGHT,
            "opacity": np.where(is_current, 1, 0.75),
            "size": np.where(is_current, 15, 7),
            "symbol": ["diamond" if each else "circle" for each in is_current],
        },
        "hovertemplate": "layer %{customdata[0]}, head %{customdata[1]}: %{y:.3f}<extra></extra>",
    }
    means: dict[str, object] = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "mean of the layer",
        "x": np.arange(1, n_layers + 1),
        "y": values.mean(axis=1).astype(np.float32),
        "line": {"color": colours.INACTIVE, "width": 2},
        "marker": {"size": 5},
        "hovertemplate": "mean of layer %{x}: %{y:.3f}<extra></extra>",
    }
    layout: dict[str, object] = {
        "height": 260,
        "margin": {"l": 0, "r": 0, "t": 34, "b": 0},
        "showlegend": False,
        "dragmode": False,
        "title": {"text": title, "font": {"size": 14, "weight": "normal"}, "x": 0},
        "xaxis": {
            "title": {"text": "layer", "font": {"size": 12}},
            "tickmode": "array",
            "tickvals": list(range(1, n_layers + 1)),
            "range": [0.5, n_layers + 0.5],
            "showgrid": False,
        },
        "yaxis": {
            "title": {"text": unit, "font": {"size": 12}},
            "range": [-0.03, 1.03] if is_share else [0, 1.08 * max(float(values.max()), 1e-6)],
            "nticks": 6,
        },
    }
    # As in attention.figures.bars, plotly's own check of every property would take longer than all the rest.
    return go.Figure({"data": [means, points], "layout": layout}, _validate=False)
