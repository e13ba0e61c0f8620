"""Attention as Plotly heatmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attention.core.messages import message
from attention.figures.heatmaps import atlas_heatmap, head_heatmap
from attention.show.weights import Weights

if TYPE_CHECKING:
    import plotly.graph_objects as go


def head_of(part: Weights, layer: int, head: int) -> go.Figure:
    """Return the heatmap of one head; ``layer`` and ``head`` are indices into the given weights."""
    numbers = {"layer": part.layer_numbers[layer] + 1, "head": part.head_numbers[head] + 1}
    return head_heatmap(
        part.layers[layer][head], part.rows, part.columns, message("Layer {layer}, head {head}", **numbers)
    )


def atlas_of(part: Weights, title: str) -> go.Figure:
    """Return all heads as one heatmap."""
    return atlas_heatmap(
        part.layers,
        part.rows,
        part.columns,
        title,
        layer_numbers=part.layer_numbers,
        head_numbers=part.head_numbers,
    )
