"""Attention weights as Plotly heatmaps for export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.charts import escaped, figure, shortened
from attention.figures.colours import PAGES, SCALES
from attention.figures.format import MAX_LABELLED

# In pixels: the side of a cell, and the least and the largest side of a heatmap.
_CELL, _LEAST, _MOST = 34, 240, 900
_AROUND = 120
_TILE = 64


def head_heatmap(weights: Float[Array, "Q K"], rows: Sequence[str], columns: Sequence[str], title: str) -> go.Figure:
    """Return the weights of one head; the cells show their numbers if there is room."""
    has_room = max(weights.shape) <= MAX_LABELLED
    drawn = {
        **_weights(weights),
        "hovertemplate": "%{y} → %{x}: %{z}<extra></extra>",
        **({"texttemplate": "%{z:.2f}"} if has_room else {}),
    }
    height, width = (min(_MOST, max(_LEAST, _CELL * size)) + _AROUND for size in weights.shape)
    return figure(
        [drawn],
        title,
        message("{title}: attention weight of each query for each key.", title=title),
        x={**_tokens(columns), "side": "top", "title": {"text": message("keys (attended to)")}},
        y={**_tokens(rows, is_down=True), "title": {"text": message("queries (attending)")}, "scaleanchor": "x"},
        height=height,
        width=width,
        margin={"t": 60 + _AROUND // 2},
    )


def atlas_heatmap(
    layers: Sequence[Float[Array, "H Q K"]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    *,
    layer_numbers: Sequence[int],
    head_numbers: Sequence[int],
) -> go.Figure:
    """Return all heads as one heatmap: a row of tiles for each layer, a column for each head.

    A single heatmap with gaps draws at once; one for each head would take a second. Layer and head numbers count from 0
    and are written from 1.
    """
    (n_rows, n_columns), (n_layers, n_heads) = (len(rows), len(columns)), (len(layers), len(head_numbers))
    height, width = n_rows + 1, n_columns + 1
    whole = np.full((n_layers * height - 1, n_heads * width - 1), np.nan, dtype=np.float32)
    for layer, head in np.ndindex(n_layers, n_heads):
        top, left = layer * height, head * width
        whole[top : top + n_rows, left : left + n_columns] = layers[layer][head]
    across = [each for _ in range(n_heads) for each in (*map(escaped, columns), "")][:-1]
    down = [each for _ in range(n_layers) for each in (*map(escaped, rows), "")][:-1]
    drawn = {
        **_weights(whole),
        # Tokens repeat in each head, so they are stored with the cells.
        "customdata": np.stack(np.broadcast_arrays(np.array(down)[:, None], np.array(across)), axis=-1),
        "hovertemplate": "%{customdata[0]} → %{customdata[1]}: %{z}<extra></extra>",
        "hoverongaps": False,
    }
    return figure(
        [drawn],
        title,
        message("{title}: every head of every layer as a small heatmap.", title=title),
        x={**_numbered(head_numbers, width, message("head")), "side": "top"},
        y={**_numbered(layer_numbers, height, message("layer")), "autorange": "reversed"},
        height=min(_MOST, _TILE * n_layers) + _AROUND,
        width=_TILE * n_heads + _AROUND,
        margin={"t": 60 + _AROUND // 2},
    )


def _weights(values: Array) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": values,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [(0.0, PAGES["light"]["background"]), (1.0, SCALES["light"]["weights"])],
        "colorbar": {"thickness": 12, "outlinewidth": 0},
        "xgap": 1,
        "ygap": 1,
    }


def _tokens(names: Sequence[str], *, is_down: bool = False) -> dict[str, Any]:
    ends = [-0.5, len(names) - 0.5]
    return {
        "tickvals": np.arange(len(names)),
        "ticktext": [shortened(name) for name in names],
        "range": ends[::-1] if is_down else ends,
        "showgrid": False,
        "constrain": "domain",
    }


def _numbered(numbers: Sequence[int], size: int, title: str) -> dict[str, Any]:
    """Return an axis with each number at the middle of its tile."""
    return {
        "tickvals": [size * place + (size - 2) / 2 for place in range(len(numbers))],
        "ticktext": [str(number + 1) for number in numbers],
        "title": {"text": title},
        "showgrid": False,
        "zeroline": False,
    }
