"""Files to download: self-contained pictures, and a run's numbers.

The HTML files contain the component and its numbers, work offline (their own policy forbids network access) and behave
like the picture on the page. The ``.npz`` is for NumPy.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy import ndarray as Array

from attention.core.trace import LayerTrace, Trace
from attention.figures.drawn import Drawn
from attention.figures.heatmaps import head_heatmap
from attention.figures.matrix import Matrix
from attention.page.blocks import Picture
from attention.page.page_file import page

# --------------------------------------------------------------------------------- self-contained HTML


def figure_html(figure: Drawn, title: str, caption: str = "") -> str:
    """Return a figure as a self-contained HTML file."""
    return page(title, caption, (Picture("picture", figure),))


def heatmap_figure(data: Matrix, title: str = "") -> go.Figure:
    """Return a head's weights as a Plotly heatmap; the title defaults to the matrix's."""
    return head_heatmap(data.values, data.row_labels, data.column_labels, title or data.title)


def figure_json(figure: go.Figure) -> str:
    """Return a Plotly figure as JSON."""
    written: str = figure.to_json()
    return written


# ---------------------------------------------------------------------------------- a run's numbers


def trace_npz(trace: Trace, layer: int | None = None) -> bytes:
    """Return a run as a compressed ``.npz``, which ``np.load`` opens without pickles.

    Every number is the trace's own float32, bit for bit. To stay under 1 MB for 32 tokens and a BERT of 12 layers, 12
    heads and d_model 768, a file contains one layer or a part of all:

    - with a ``layer``, counted from 0: its inputs, queries, keys, values, mask and position bias (if any), scale,
      weights, and the model's own head outputs;
    - without it: the weights, scale and mask of every layer.

    Both have the text, the tokens (with a word of -1 for none) and the model's name; for cross-attention also
    ``key_tokens``. A layer's arrays are named ``layer_5_weights`` and have the shapes (heads, queries, keys) or (heads,
    tokens, d_head).
    """
    layers = range(len(trace.layers)) if layer is None else [layer]
    return _npz(_named_arrays(trace, layers, whole=layer is not None))


def _named_arrays(trace: Trace, layers: Sequence[int], *, whole: bool) -> Iterator[tuple[str, Array]]:
    """Yield a file's arrays one by one: the weights of all layers may be hundreds of megabytes."""
    yield from _token_arrays(trace).items()
    for index in layers:
        for name, part in _layer_arrays(trace.layers[index], whole=whole).items():
            yield f"layer_{index}_{name}", part


def _npz(arrays: Iterable[tuple[str, Array]]) -> bytes:
    """Return arrays as ``np.savez_compressed`` writes them, but one at a time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    return file.getvalue()


def _token_arrays(trace: Trace) -> dict[str, Array]:
    tokens = trace.tokens
    read = {} if trace.memory is None else {"key_tokens": np.array([token.text for token in trace.memory], np.str_)}
    return read | {
        "model_id": np.array(trace.info.model_id),
        "text": np.array(trace.text),
        "tokens": np.array([token.text for token in tokens], np.str_),
        "typed": np.array([token.typed for token in tokens], np.str_),
        "token_ids": np.array([token.token_id for token in tokens], np.int64),
        "words": np.array([-1 if token.word is None else token.word for token in tokens], np.int64),
        "segments": np.array([token.segment for token in tokens], np.int64),
        "is_special": np.array([token.is_special for token in tokens], np.bool_),
        "is_padding": np.array([token.is_padding for token in tokens], np.bool_),
    }


def _layer_arrays(layer: LayerTrace, *, whole: bool) -> dict[str, Array]:
    arrays = {"weights": layer.steps().weights, "scale": np.array(layer.scale, np.float64), "mask": layer.mask}
    arrays["softcap"] = None if layer.softcap is None else np.array(layer.softcap, np.float64)
    if whole:
        names = ("inputs", "key_inputs", "queries", "keys", "values", "bias", "model_output")
        arrays |= {name: getattr(layer, name) for name in names}
    return {name: array for name, array in arrays.items() if array is not None}
