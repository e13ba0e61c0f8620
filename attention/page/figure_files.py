"""Files to download: self-contained pictures, and a run's numbers.

The HTML files contain the component and its numbers, work offline (their own policy forbids network access) and behave
like the picture on the page. The SVG is for papers and slides, the ``.npz`` for NumPy.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array
from PIL import Image

from attention.core.trace import LayerTrace, Trace
from attention.figures import colours
from attention.figures.format import MAX_LABELLED, decimals_of, number
from attention.figures.heatmaps import head_heatmap
from attention.figures.matrix import Matrix, Palette
from attention.page.blocks import Figure, Picture
from attention.page.page_file import page, plain

# --------------------------------------------------------------------------------- self-contained HTML


def figure_html(figure: Figure, title: str, caption: str = "") -> str:
    """Return a figure as a self-contained HTML file."""
    return page(title, caption, (Picture("picture", figure),))


def heatmap_figure(data: Matrix, title: str = "") -> go.Figure:
    """Return a head's weights as a Plotly heatmap; the title defaults to the matrix's."""
    return head_heatmap(data.values, data.row_labels, data.column_labels, title or data.title)


def figure_json(figure: go.Figure) -> str:
    """Return a Plotly figure as JSON."""
    written: str = figure.to_json()
    return written


# --------------------------------------------------------------------------------------------- SVG

_FULL = colours.SCALES["light"]
_N_COLOURS = 255  # one byte per cell, less the transparent colour
_INK, _MUTED, _LINE = "#0f1722", "#4a5260", "#d3d9e0"
_ROLES = {"query": colours.QUERY, "key": colours.KEY, "value": colours.VALUE, "plain": _MUTED}

_LABEL, _SMALL, _NUMBER = 14, 12, 12  # font sizes
_NUMBERED_PITCH = (34, 26)  # least width and height of a cell with a number
_SIDE = 640  # largest side of a picture without numbers
_MAX_PITCH = 28
_MAX_LABEL = 14  # letters of a label; its title has all of them
_MAX_CELLS = 1200  # drawn as elements; more become one image
_EDGE = 16
_TOTAL_GAP = 8


def matrix_svg(data: Matrix) -> str:
    """Return the matrix as a plain SVG on white, with its numbers if it has at most 24 rows and columns."""
    return _Svg(data).draw()


class _Svg:
    def __init__(self, data: Matrix) -> None:
        self.data = data
        n_rows, n_columns = data.values.shape
        self.has_numbers = max(n_rows, n_columns) <= MAX_LABELLED
        self.fills, self.inks = _scale(data.palette)
        self.rows = [_shortened(label) for label in data.row_labels]
        self.columns = [_shortened(label) for label in data.column_labels]
        self.pitch_x, self.pitch_y = self._pitches()
        widest = max((_width(label, _LABEL) for label in self.columns), default=0.0)
        self.is_upright = widest > self.pitch_x - 6
        self.left = _EDGE + max((_width(label, _LABEL) for label in self.rows), default=0.0) + 8
        self.top = _EDGE + 44 + (widest if self.is_upright else _LABEL) + 8
        gap = _TOTAL_GAP if data.has_total_row else 0
        self.bottom = self.top + n_rows * self.pitch_y + gap
        # IDs have to be unique in a page that embeds several pictures.
        drawn = data.drawn.tobytes() + data.title.encode("utf-8", "replace")
        self.hatch_id = f"hatch-{hashlib.sha256(drawn).hexdigest()[:12]}"
        self.width = max(self.left + n_columns * self.pitch_x, _EDGE + 340.0) + _EDGE
        self.height = self.bottom + 28 + _EDGE

    def _pitches(self) -> tuple[float, float]:
        n_rows, n_columns = self.data.values.shape
        if not self.has_numbers:
            pitch = min(float(_MAX_PITCH), _SIDE / max(n_rows, n_columns))
            return pitch, max(pitch, min(float(_MAX_PITCH), 120 / n_rows))
        longest = max((_width(self._written(value), _NUMBER) for value in self.data.drawn.flat), default=0.0)
        return max(_NUMBERED_PITCH[0], longest + 10), float(_NUMBERED_PITCH[1])

    def draw(self) -> str:
        data = self.data
        size = {"width": _round(self.width), "height": _round(self.height)}
        parts = [
            _element("title", {}, plain(data.title)),
            _element("desc", {}, plain(data.alt)),
            _HATCHING.format(id=self.hatch_id),
            _element("rect", {**size, "fill": "#ffffff"}),
            *self._words(),
            *self._labels(),
            *(self._elements() if data.values.size <= _MAX_CELLS else self._image()),
            *self._corners(),
            *self._separators(),
        ]
        head = {
            "xmlns": "http://www.w3.org/2000/svg",
            **size,
            "viewBox": f"0 0 {size['width']} {size['height']}",
            "role": "img",
            "font-family": "system-ui, sans-serif",
            "fill": _INK,
        }
        return _element("svg", head, *("\n" + part for part in parts), "\n") + "\n"

    def _words(self) -> Iterator[str]:
        data = self.data
        name = {"x": _EDGE, "y": _EDGE + 14, "font-size": 16, "font-weight": 600}
        fill = _INK if data.title_role == "plain" else _ROLES[data.title_role]
        yield _text(data.title, name | {"fill": fill})
        small = {"font-size": _SMALL, "fill": _MUTED}
        size = " · ".join(filter(None, (data.shape_text, data.range_text, data.beyond_text)))
        yield _text(size, small | {"x": _EDGE, "y": _EDGE + 34})
        axes = f"rows: {data.row_axis} · columns: {data.column_axis}"
        yield _text(axes, small | {"x": _EDGE, "y": self.bottom + 22})
        yield from self._legend(small)

    def _legend(self, small: Mapping[str, object]) -> Iterator[str]:
        limit = self.data.colour_limit
        decimals = decimals_of(limit) if limit < 1 else 1
        ends = ("0", "1") if self.data.palette == "weights" else (number(-limit, decimals), number(limit, decimals))
        right, y = self.width - _EDGE, _EDGE + 34
        start = right - _width(ends[1], _SMALL) - 6 - 80
        for step in range(20):
            fill = self.fills[round(step / 19 * (len(self.fills) - 1))]
            yield _element("rect", {"x": start + 4 * step, "y": y - 10, "width": 4.2, "height": 10, "fill": fill})
        yield _text(ends[0], {**small, "x": start - 6, "y": y, "text-anchor": "end"})
        yield _text(ends[1], {**small, "x": right, "y": y, "text-anchor": "end"})

    def _labels(self) -> Iterator[str]:
        data = self.data
        every = _every(self.pitch_y, _LABEL)
        for row in range(0, len(self.rows), every):
            end = {"x": self.left - 8, "y": self._y(row) + self.pitch_y / 2 + 5, "text-anchor": "end"}
            yield _label(self.rows[row], data.row_labels[row], {**end, "fill": _ROLES[data.row_role]})
        widest = max((_width(label, _LABEL) for label in self.columns), default=0.0)
        every = _every(self.pitch_x, _LABEL if self.is_upright else widest + 6)
        for column in range(0, len(self.columns), every):
            x, y = self._x(column) + self.pitch_x / 2, self.top - 7
            place: dict[str, object] = {"x": x, "y": y, "text-anchor": "middle"}
            if self.is_upright:
                place = {"transform": f"translate({_round(x + 5)} {_round(y)}) rotate(-90)"}
            yield _label(self.columns[column], data.column_labels[column], {**place, "fill": _ROLES[data.column_role]})

    def _elements(self) -> Iterator[str]:
        for (row, column), value in np.ndenumerate(self.data.drawn):
            if np.isnan(value):
                continue
            x, y = self._x(column), self._y(row)
            step = self._steps(value)
            fill = self.fills[step] if np.isfinite(value) else f"url(#{self.hatch_id})"
            size = {"width": self.pitch_x - 1, "height": self.pitch_y - 1}
            yield _element("rect", {"x": x + 0.5, "y": y + 0.5, **size, "fill": fill, "stroke": "#0f172217"})
            if self.has_numbers:
                middle = {"x": x + self.pitch_x / 2, "y": y + self.pitch_y / 2 + 4, "text-anchor": "middle"}
                ink = self.inks[step] if np.isfinite(value) else _INK
                yield _text(self._written(value), {**middle, "font-size": _NUMBER, "fill": ink})

    def _corners(self) -> Iterator[str]:
        """Yield marks at the cells whose numbers lie beyond the colour scale."""
        side = min(6.0, max(2.0, self.pitch_x / 3), max(1.0, self.pitch_y))
        corners = [
            f"M{_round(self._x(column + 1) - 1.0 - side)} {_round(self._y(row) + 0.5)}h{_round(side)}v{_round(side)}z"
            for row, column in zip(*map(np.ndarray.tolist, np.nonzero(self.data.beyond)), strict=True)
        ]
        if corners:
            yield _element("path", {"d": "".join(corners), "fill": _INK, "stroke": "#ffffff", "stroke-width": 0.5})

    def _image(self) -> Iterator[str]:
        """Yield an enlarged image of one pixel per cell; masked cells are transparent, so that hatching shows."""
        n_columns = self.data.values.shape[1]
        body = len(self.rows) - self.data.has_total_row
        for start, stop in ((0, body), (body, len(self.rows))):
            if start == stop:
                continue
            size = {"width": n_columns * self.pitch_x, "height": (stop - start) * self.pitch_y}
            box = {"x": self.left, "y": self._y(start), **size}
            yield _element("rect", {**box, "fill": f"url(#{self.hatch_id})"})
            picture = _png(self._steps(self.data.drawn[start:stop]), self.fills)
            href = "data:image/png;base64," + base64.b64encode(picture).decode("ascii")
            drawn = {"preserveAspectRatio": "none", "style": "image-rendering:pixelated"}
            yield _element("image", {**box, **drawn, "href": href})
            yield _element("rect", {**box, "fill": "none", "stroke": _LINE})

    def _separators(self) -> Iterator[str]:
        data = self.data
        line = {"stroke": _INK, "stroke-opacity": 0.5}
        for column in range(data.block_width or len(self.columns), len(self.columns), data.block_width or 1):
            x = self._x(column)
            yield _element("line", {"x1": x, "x2": x, "y1": self.top, "y2": self.bottom, **line})
        if data.has_total_row:
            y, right = self._y(len(self.rows) - 1) - _TOTAL_GAP / 2, self._x(len(self.columns))
            yield _element("line", {"x1": self.left, "x2": right, "y1": y, "y2": y, **line})

    def _steps(self, values: Any) -> Any:
        """Return the index of each number's colour; masked cells have the one after the last."""
        n_colours = len(self.fills)
        lowest, n_steps = (0, n_colours - 1) if self.data.palette == "weights" else (-1, n_colours // 2)
        limit = self.data.colour_limit
        # A number written as zero has zero's colour.
        is_nothing = np.abs(values) < 0.5 * 10.0 ** -decimals_of(limit)
        part = np.clip(np.where(is_nothing, 0, np.nan_to_num(values, nan=0)) / limit, lowest, 1)
        step = np.floor(part * n_steps + 0.5).astype(int) - lowest * n_steps
        return np.where(np.isfinite(values), step, n_colours)

    def _written(self, value: float) -> str:
        return self.data.masked if np.isneginf(value) else self.data.written(value)

    def _x(self, column: int) -> float:
        return self.left + column * self.pitch_x

    def _y(self, row: int) -> float:
        is_total = self.data.has_total_row and row == len(self.rows) - 1
        return self.top + row * self.pitch_y + (_TOTAL_GAP if is_total else 0)


_HATCHING = (
    '<defs><pattern id="{id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="5" height="5" fill="#eef0f2"/><rect width="1.2" height="5" fill="#b3b8c0"/></pattern></defs>'
)


def _element(tag: str, attributes: Mapping[str, object], *inside: str) -> str:
    """Return an element; its content is already escaped."""
    written = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{written}/>"


def _attribute(value: object) -> str:
    return _round(value) if isinstance(value, float) else html.escape(str(value))


def _round(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str, attributes: Mapping[str, object], *inside: str) -> str:
    """Return text whose writing direction does not affect its surroundings."""
    return _element("text", {**attributes, "style": "unicode-bidi:isolate"}, plain(text), *inside)


def _label(shown: str, whole: str, attributes: Mapping[str, object]) -> str:
    title = [] if shown == whole else [_element("title", {}, plain(whole))]
    return _text(shown, {**attributes, "font-size": _LABEL}, *title)


def _shortened(label: str) -> str:
    if not label.strip():
        return "␣"
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"


def _width(text: str, size: float) -> float:
    """Estimate a text's width, since the reader's fonts are unknown."""
    return size * sum(_letter(letter) for letter in text)


def _letter(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    return 0.32 if letter in " .,:;!|'ijl" else 0.6 if letter.islower() or letter.isdigit() else 0.72


def _every(pitch: float, room: float) -> int:
    """Return the smallest power of two n for which every n-th label fits."""
    every = 1
    while every * pitch < room:
        every *= 2
    return every


@cache
def _scale(palette: Palette) -> tuple[list[str], list[str]]:
    """Return the colours from the smallest number to the largest, and a legible text colour for each."""
    white = _rgb("#ffffff")
    if palette == "weights":
        rgb = _ramp(white, _rgb(_FULL["weights"]), _N_COLOURS)
    else:
        below, above = (_ramp(white, _rgb(_FULL[sign]), _N_COLOURS // 2 + 1) for sign in ("negative", "positive"))
        rgb = np.concatenate([below[::-1], above[1:]])
    luminance = _linear(rgb) @ [0.2126, 0.7152, 0.0722]
    fills = ["#{:02x}{:02x}{:02x}".format(*colour) for colour in rgb]
    return fills, ["#ffffff" if light < 0.18 else _INK for light in luminance]


def _rgb(colour: str) -> Float[Array, " 3"]:
    return np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)], np.float64)


def _linear(rgb: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
    return np.where(rgb <= 10.31475, rgb / 3294.6, ((rgb / 255 + 0.055) / 1.055) ** 2.4)


# OKLab (Ottosson 2020), a perceptually uniform colour space.
_TO_CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
_TO_LAB = np.array([
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
])  # fmt: skip


def _ramp(start: Float[Array, " 3"], end: Float[Array, " 3"], n_colours: int) -> Array:
    """Return ``n_colours`` colours from one to another, both included, as integers for red, green and blue."""
    lab_start, lab_end = (np.cbrt(_linear(rgb) @ _TO_CONES.T) @ _TO_LAB.T for rgb in (start, end))
    lab = lab_start + (lab_end - lab_start) * np.linspace(0, 1, n_colours)[:, None]
    linear = np.clip((lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_CONES).T, 0, 1)
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.floor(255 * rgb + 0.5).astype(int)


def _png(steps: Array, fills: list[str]) -> bytes:
    """Return an image with one pixel per cell; the colour after the last one is transparent."""
    image = Image.fromarray(steps.astype(np.uint8), "P")
    palette = [[*_rgb(fill), 255] for fill in fills] + [[0, 0, 0, 0]]
    image.putpalette(np.array(palette, np.uint8).tobytes(), "RGBA")
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


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

    Raises:
        IndexError: there is no such layer.
    """
    n_layers = len(trace.layers)
    if layer is not None and not 0 <= layer < n_layers:
        raise IndexError(f"layer must be between 0 and {n_layers - 1}, got {layer}")
    layers = range(n_layers) if layer is None else [layer]
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
