"""Charts as Plotly figures, made of arrays and names: every analytical chart of the app, in one template.

A figure's title and names are escaped, since Plotly reads ``<b>`` in them; what it shows in words is its alternative
text, which travels in ``layout.meta``. The numbers are those of the arrays.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.atlas import Head, TouchHead
from attention.figures.colours import INACTIVE, WEIGHT
from attention.figures.spread import binned, told_spread
from attention.figures.template import TEMPLATES

__all__ = [
    "MAX_NAMED",
    "Chart",
    "Curve",
    "by_layer",
    "compared",
    "escaped",
    "factors",
    "figure",
    "growth",
    "layer_lines",
    "layers",
    "lengths",
    "lines",
    "portions",
    "shares",
    "shortened",
    "spots",
    "spread",
    "stages",
]

# The most places that have room for their names, and the most letters of such a name.
MAX_NAMED = 24
MAX_LETTERS = 15
# How far to the left and right of its layer the first and last head are drawn, so that equal values do not coincide.
SPREAD = 0.28
# So much of its range an axis goes on beyond its ends, so that a point there is whole.
BEYOND = 0.03
_POINT, _CURRENT = 6, 12
_COUNTS = ",d"


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure as a part of a page. Where its points stand for heads, a press on one chooses that head."""

    component: ClassVar[str] = "chart"

    figure: go.Figure

    @property
    def touch(self) -> TouchHead | None:
        """One of the heads for which points stand; None if they stand for none: such a chart is only read."""
        heads = [np.asarray(trace.customdata) for trace in self.figure.data if trace.customdata is not None]
        if not heads:
            return None
        counts = [0] * int(max(each[:, 0].max() for each in heads))
        for layer, head in np.concatenate(heads).tolist():
            counts[layer - 1] = max(counts[layer - 1], head)
        return TouchHead(tuple(counts))

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it, without the template, which its script has."""
        parts = self.figure.to_dict()
        layout = {name: each for name, each in parts["layout"].items() if name not in {"template", "title", "meta"}}
        return {
            "title": html.unescape(self.figure.layout.title.text),
            "alt": self.figure.layout.meta["alt"],
            "data": _plain(parts["data"]),
            "layout": _plain(layout),
            "selectable": False,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points: its name, the places and the values of its points, and its colour.

    Without a colour, it has that of the text. The point at the index ``current`` is emphasised. Curves of one ``group``
    have one entry in the legend, which switches all of them.
    """

    name: str
    places: Array
    values: Float[Array, " N"]
    colour: str | None = None
    current: int | None = None
    is_dashed: bool = False
    group: str = ""


# ------------------------------------------------------------------------------------ what all have in common


def _plain(part: Any) -> Any:
    """Return a part of a figure without arrays: Plotly packs numbers, and leaves an array without any as it is."""
    if isinstance(part, dict):
        return {name: _plain(each) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(each) for each in part]
    return part.tolist() if isinstance(part, np.ndarray) else part


def escaped(text: str) -> str:
    """Return a text that Plotly shows as it is: white space alone would look like nothing at all."""
    return html.escape(text, quote=False) if text.strip() else "␣"


def shortened(name: str) -> str:
    """Return a name as it stands on an axis: of a long one, the beginning.

    >>> shortened("a <b> of many letters"), shortened(" ")
    ('a &lt;b&gt; of many …', '␣')
    """
    return escaped(name if len(name) <= MAX_LETTERS else f"{name[: MAX_LETTERS - 1]}…")


def figure(
    data: Sequence[Mapping[str, Any]],
    title: str,
    alt: str,
    *,
    x: Mapping[str, Any] | None = None,
    y: Mapping[str, Any] | None = None,
    height: int = 290,
    hovermode: str | None = None,
    **layout: Any,
) -> go.Figure:
    """Return a figure in the project's template; with several series, one points at all that share a place."""
    are_several = len(data) > 1
    return go.Figure(
        data=data,
        layout={
            "template": TEMPLATES["light"],
            "title": {"text": html.escape(title, quote=False)},
            "meta": {"alt": alt},
            # What a reader has zoomed into stays, whatever becomes of the numbers.
            "uirevision": title,
            "xaxis": x or {},
            "yaxis": y or {},
            "height": height,
            "hovermode": hovermode or ("x unified" if are_several else "closest"),
            "showlegend": are_several,
            **layout,
        },
    )


def _titled(title: str) -> dict[str, Any]:
    return {"title": {"text": escaped(title)}} if title else {}


def _named(names: Sequence[str], title: str = "") -> dict[str, Any]:
    """Return an axis with names at the places 0, 1, 2, …; of so many that they have no room, one points at a place."""
    axis = {**_titled(title), "range": [-0.5, len(names) - 0.5]}
    written = {"tickvals": np.arange(len(names)), "ticktext": [shortened(name) for name in names]}
    return {**axis, **written, "showticklabels": len(names) <= MAX_NAMED}


def _counted(first: int, last: int, title: str) -> dict[str, Any]:
    """Return an axis with whole numbers, of which so many are written that they have room on a phone."""
    step = next(step for step in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if (last - first) / step <= 12)
    ticks = sorted({first, *range(step, last + 1, step)})
    return {**_titled(title), "tickvals": ticks, "ticktext": list(map(str, ticks)), "range": [first - 0.5, last + 0.5]}


def _values(title: str = "", limits: tuple[float, float] | None = None) -> dict[str, Any]:
    """Return the axis of values: between limits or, without any, from 0 on."""
    if limits is None:
        return {**_titled(title), "rangemode": "tozero"}
    low, high = limits
    beyond = BEYOND * ((high - low) or 1)
    return {**_titled(title), "range": [low - beyond, high + beyond]}


def _log(values: Sequence[Array]) -> dict[str, Any]:
    """Return an axis of values on which equal distances are factors, with few numbers where there are many powers."""
    every = np.concatenate([np.asarray(each, dtype=float) for each in values] or [np.ones(1)])
    above = every[every > 0]
    is_wide = above.size > 0 and above.max() > 100 * above.min()
    # As many decimals as a number has: 0.001, 20, 5,000.
    return {"type": "log", "dtick": 1 if is_wide else "D2", "tickformat": ",~r"}


def _curve(curve: Curve) -> dict[str, Any]:
    """Return a line through points; the one that is emphasised is larger."""
    sizes: Any = _POINT
    if curve.current is not None:
        sizes = np.where(np.arange(len(curve.values)) == curve.current, _CURRENT, _POINT)
    colour = {} if curve.colour is None else {"color": curve.colour}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(curve.name) if curve.name else "",
        "x": np.asarray(curve.places),
        "y": np.asarray(curve.values),
        "line": {**colour, "width": 2, **({"dash": "dash"} if curve.is_dashed else {})},
        "marker": {**colour, "size": sizes, "opacity": 1, "line": {"width": 0}},
        **({"legendgroup": curve.group, "showlegend": False} if curve.group else {}),
    }


def _groups(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Return an entry in the legend for each group of curves: a line with no point."""
    firsts = {curve.group: curve for curve in reversed(curves) if curve.group}
    return [
        {
            **_curve(first),
            "x": [None],
            "y": [None],
            "name": escaped(group),
            "showlegend": True,
            "hoverinfo": "skip",
        }
        for group, first in sorted(firsts.items())
    ]


def _bars(name: str, values: Array, colour: str | None = None, labels: Sequence[str] = ()) -> dict[str, Any]:
    """Return bars at the places 0, 1, 2, …; a tooltip writes their labels in full."""
    return {
        "type": "bar",
        "name": escaped(name) if name else "",
        "x": np.arange(len(values)),
        "y": np.asarray(values),
        "marker": {} if colour is None else {"color": colour},
        **({"hovertext": [escaped(label) for label in labels]} if labels else {}),
        "hovertemplate": "%{hovertext}: %{y}<extra></extra>" if labels else "%{y}",
    }


# ------------------------------------------------------------------------------------------- heads and layers


def layers(values: Float[Array, "L H"], title: str, unit: str, current: Head, *, is_share: bool) -> go.Figure:
    """Return a point for each head and a line through the means of the layers; the current head is emphasised.

    Shares are drawn from 0 to 1, so that their charts can be compared; all else from 0 to the largest value.
    """
    n_layers, n_heads = values.shape
    layer, head = (axis.ravel() + 1 for axis in np.indices(values.shape))
    beside = SPREAD * (2 * (head - 1) / max(n_heads - 1, 1) - 1)
    is_current = (layer == current[0] + 1) & (head == current[1] + 1)
    numbers = np.arange(1, n_layers + 1)
    mean = {
        **_curve(Curve(message("mean of the layer"), numbers, values.mean(axis=1), INACTIVE)),
        "hovertext": [message("mean of layer {layer}", layer=int(number)) for number in numbers],
    }
    heads = {
        "type": "scatter",
        "mode": "markers",
        "name": message("a head"),
        "x": layer + beside,
        "y": values.ravel(),
        "marker": {
            "color": WEIGHT,
            "size": np.where(is_current, 14, 7),
            "opacity": np.where(is_current, 1, 0.75),
            "line": {"width": np.where(is_current, 2, 0), "color": INACTIVE},
        },
        "customdata": np.stack([layer, head], axis=-1),
        "hovertext": [
            message("layer {layer}, head {head}", layer=int(one), head=int(other))
            for one, other in zip(layer, head, strict=True)
        ],
    }
    alt = message("{title}, of every head, layer by layer; the table below has the same numbers.", title=title)
    return figure(
        [{**each, "hovertemplate": "%{hovertext}: %{y}<extra></extra>"} for each in (mean, heads)],
        title,
        alt,
        x=_counted(1, n_layers, message("layer")),
        y=_values(unit, (0.0, 1.0) if is_share else None),
        hovermode="closest",
    )


def by_layer(
    curves: Sequence[tuple[str, Float[Array, " L"]]],
    title: str,
    alt: str,
    limits: tuple[float, float] | None = None,
    points: Sequence[tuple[str, int, float]] = (),
) -> go.Figure:
    """Return one or two numbers for each layer, each with its name and a line through them.

    ``points`` are numbers of one layer alone, each with its name and the layer, counted from 0.
    """
    n_layers = len(curves[0][1])
    numbers = np.arange(1, n_layers + 1)
    drawn = [
        *(
            Curve(name, numbers, values, colour)
            for (name, values), colour in zip(curves, (INACTIVE, WEIGHT), strict=False)
        ),
        *(Curve(name, np.array([layer + 1]), np.array([value])) for name, layer, value in points),
    ]
    return figure(
        [*map(_curve, drawn)], title, alt, x=_counted(1, n_layers, message("layer")), y=_values(limits=limits)
    )


def layer_lines(
    places: Sequence[str],
    curves: Sequence[Curve],
    title: str,
    alt: str,
    *,
    limits: tuple[float, float] | None = None,
    is_log: bool = False,
) -> go.Figure:
    """Return a line for each of several things that change from layer to layer, the layers being numbered."""
    return figure(
        [*map(_curve, curves)],
        title,
        alt,
        x=_counted(int(places[0]), int(places[-1]), message("layer")),
        y=_log([curve.values for curve in curves]) if is_log else _values(limits=limits),
    )


# ------------------------------------------------------------------------------------------------- lines


def lines(
    curves: Sequence[tuple[str, Float[Array, " N"]]],
    title: str,
    alt: str,
    axis: str,
    *,
    limits: tuple[float, float] | None = None,
    current: int | None = None,
) -> go.Figure:
    """Return one or two lines through points at the places from 0; the point at ``current`` is emphasised."""
    drawn = [
        Curve(name, np.arange(len(values)), values, colour, current)
        for (name, values), colour in zip(curves, (WEIGHT, INACTIVE), strict=False)
    ]
    return figure(
        [*map(_curve, drawn)],
        title,
        alt,
        x=_counted(0, len(curves[0][1]) - 1, axis),
        y=_values(limits=limits),
        hovermode="x unified",
    )


def growth(
    sizes: Sequence[int],
    before: Float[Array, " N"],
    after: Float[Array, " N"],
    title: str,
    alt: str,
    axis: str,
    current: int | None,
) -> go.Figure:
    """Return how something changes with a size, before and after, on two axes on which equal distances are factors.

    ``current`` is the index of the size that is emphasised. The last sizes may have a place and no point.
    """
    reached = np.asarray(sizes[: len(before)])
    curves = (
        Curve(message("before"), reached, before, INACTIVE, current),
        Curve(message("after"), reached, after, WEIGHT, current),
    )
    return factors(sizes, curves, title, alt, axis)


def factors(
    sizes: Sequence[int],
    curves: Sequence[Curve],
    title: str,
    alt: str,
    axis: str,
    written: Callable[[int], str] = str,
) -> go.Figure:
    """Return lines on two axes on which equal distances are equal factors; nothing has no place there.

    The places are ``sizes``, ``written`` as on an axis; all of them are on it, though there may be no points there yet.
    """
    step = 1 + len(sizes) // 12
    ticks = list(sizes[::step])
    low, high = np.log10([sizes[0], sizes[-1]])
    beyond = BEYOND * (high - low)
    return figure(
        [*map(_curve, curves)],
        title,
        alt,
        x={
            **_titled(axis),
            "type": "log",
            "tickvals": ticks,
            "ticktext": [written(size) for size in ticks],
            "range": [low - beyond, high + beyond],
            "hoverformat": ",d",
        },
        y=_log([curve.values for curve in curves]),
        hovermode="x unified",
    )


def stages(
    curves: Sequence[Curve], title: str, alt: str, *, n_steps: int, limits: tuple[float, float], axis: str
) -> go.Figure:
    """Return lines over the steps of a training, whose axis has all steps, though it may not have come so far."""
    beyond = BEYOND * n_steps
    return figure(
        [*map(_curve, curves), *_groups(curves)],
        title,
        alt,
        x={**_titled(axis), "range": [-beyond, n_steps + beyond], "hoverformat": "d"},
        y=_values(limits=limits),
        hovermode="x unified",
    )


# -------------------------------------------------------------------------------------------------- bars


def lengths(
    labels: Sequence[str],
    values: Sequence[float] | Array,
    title: str,
    *,
    heads: Sequence[Head] = (),
    current: int | None = None,
    alt: str = "",
    are_counts: bool = False,
) -> go.Figure:
    """Return one bar for each length, the first at the top; each may stand for a head."""
    numbers = np.asarray(values)
    colours = [WEIGHT if index == current else INACTIVE for index in range(len(numbers))]
    bars = {
        **_bars("", numbers, labels=labels),
        "orientation": "h",
        "x": numbers,
        "y": np.arange(len(numbers)),
        "marker": {"color": INACTIVE if current is None else colours},
        "hovertemplate": "%{hovertext}: %{x}<extra></extra>",
        **({"customdata": np.array(heads) + 1} if heads else {}),
    }
    names = {
        "tickvals": np.arange(len(labels)),
        "ticktext": [shortened(label) for label in labels],
        "range": [len(labels) - 0.5, -0.5],
    }
    return figure(
        [bars],
        title,
        alt or message("Bars: {title}. The words beside them have the same numbers.", title=title),
        x={**_values(), "hoverformat": _COUNTS if are_counts else ".4~r"},
        y={**names, "showgrid": False},
        height=84 + 26 * max(len(numbers), 2),
    )


def portions(names: Sequence[str], values: Float[Array, " N"], title: str, alt: str, axis: str) -> go.Figure:
    """Return one bar for each portion of weight, from 0 to 1, so that charts can be compared."""
    return figure(
        [_bars("", values, WEIGHT, [f"{axis} {name}" for name in names])],
        title,
        alt,
        x=_named(names, axis),
        y=_values(limits=(0.0, 1.0)),
    )


def shares(
    before: Float[Array, " K"],
    after: Float[Array, " K"],
    names: Sequence[str],
    title: str,
    alt: str,
    series: tuple[str, str] = (message("before"), message("after")),
) -> go.Figure:
    """Return two bars for each key: the weight that it would get before, and the one that it gets after.

    Other shares than these have other names of their ``series``.
    """
    found = compared(names, (series[0], before), (series[1], after), title, alt)
    found.layout.yaxis = _values(message("weight"), (0.0, 1.0))
    return found


def compared(
    names: Sequence[str],
    before: tuple[str, Float[Array, " N"]],
    after: tuple[str, Float[Array, " N"]],
    title: str,
    alt: str,
) -> go.Figure:
    """Return two bars for each of several things."""
    data = [_bars(*before, INACTIVE), _bars(*after, WEIGHT)]
    return figure(data, title, alt, x=_named(names), y=_values(), barmode="group")


def spread(
    before: Float[Array, "Q K"], after: Float[Array, "Q K"], *, is_closer: bool, counted: str = message("cells")
) -> go.Figure:
    """Return histograms of the scores before and after scaling, with the same bins.

    ``is_closer`` tells whether scaling brings the scores closer to 0; ``counted`` says what has a score.
    """
    edges, counts = binned(before, after)
    data = [
        {
            **_bars(name, count, colour),
            "x": (edges[:-1] + edges[1:]) / 2,
            "width": float(edges[1] - edges[0]) * 0.95,
            "opacity": opacity,
        }
        for name, colour, opacity, count in zip(
            (message("before"), message("after")), (INACTIVE, WEIGHT), (1, 0.75), counts, strict=True
        )
    ]
    return figure(
        data,
        message("how often each score occurs"),
        told_spread(is_closer=is_closer),
        x={**_titled(message("score")), "hoverformat": ".2f"},
        y={**_values(counted), "hoverformat": _COUNTS},
        barmode="overlay",
    )


def spots(names: Sequence[str], values: Float[Array, "P N"], medians: Float[Array, " P"], title: str) -> go.Figure:
    """Return N points over each of P named places, side by side, and a short line across each place: their median."""
    n_values = values.shape[1]
    places, index = (axis.ravel() for axis in np.indices(values.shape))
    times = {
        "type": "scatter",
        "mode": "markers",
        "name": message("shuffled once"),
        "x": places + SPREAD * (2 * index / max(n_values - 1, 1) - 1),
        "y": values.ravel(),
        "marker": {"color": WEIGHT, "size": 7, "opacity": 0.75},
        "hovertext": [f"{escaped(name)}, {time + 1}" for name in names for time in range(n_values)],
    }
    middle = {
        "type": "scatter",
        "mode": "markers",
        "name": message("median"),
        "x": np.arange(len(names)),
        "y": np.asarray(medians),
        # A line across the place.
        "marker": {"symbol": "line-ew", "size": 44, "line": {"width": 3, "color": INACTIVE}},
        "hovertext": [message("{name}, median", name=escaped(name)) for name in names],
    }
    return figure(
        [{**each, "hovertemplate": "%{hovertext}: %{y}<extra></extra>"} for each in (times, middle)],
        title,
        message("{title}: a point for each time, and the medians; the table below has the same numbers.", title=title),
        x=_named(names),
        y=_values(),
        hovermode="closest",
    )
