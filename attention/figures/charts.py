"""Plotly charts from arrays and names, in one template.

Titles and names are escaped because Plotly reads ``<b>`` in them. The alternative text is in ``layout.meta``.
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
from attention.figures.atlas import Head, chosen_head
from attention.figures.colours import INACTIVE, WEIGHT
from attention.figures.drawn import Drawn, Parts
from attention.figures.spread import binned
from attention.figures.template import TEMPLATES

# The most names on an axis, and the most letters of one.
MAX_NAMED = 24
MAX_LETTERS = 15
# How far from their layer the first and last head are drawn, so that equal values do not coincide.
SPREAD = 0.28
# An axis extends this part of its range beyond its ends, so that a point there is not cut off.
BEYOND = 0.03
_POINT, _CURRENT = 6, 12
_COUNTS = ",d"


@dataclass(frozen=True, slots=True)
class Chart(Drawn):
    """A figure on a page; if its points stand for heads, a press on one chooses that head."""

    component: ClassVar[str] = "chart"
    acts: ClassVar[tuple[str, ...]] = ("choose",)

    figure: go.Figure

    def said(self, act: str, value: object) -> Parts | None:
        """Return the head that the pressed point represents, if points represent heads."""
        heads = [np.asarray(trace.customdata) for trace in self.figure.data if trace.customdata is not None]
        if act != "choose" or not heads:
            return None
        counts = [0] * int(max(each[:, 0].max() for each in heads))
        for layer, head in np.concatenate(heads).tolist():
            counts[layer - 1] = max(counts[layer - 1], head)
        return chosen_head(value, counts)

    def payload(self) -> dict[str, Any]:
        """Return the component's data, without the template, which its script has."""
        parts = self.figure.to_dict()
        layout = {name: each for name, each in parts["layout"].items() if name not in {"template", "title", "meta"}}
        return {
            "title": html.unescape(self.figure.layout.title.text),
            "alt": self.figure.layout.meta["alt"],
            "axis": self.figure.layout.meta.get("axis", ""),
            "data": _plain(parts["data"]),
            "layout": _plain(layout),
            "selectable": False,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points.

    Without a ``colour``, it has the text's. The point at the index ``current`` is emphasised. Curves of one ``group``
    share an entry in the legend, which toggles all of them.
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
    """Return a part of a figure without arrays; Plotly packs arrays of numbers, but leaves empty ones."""
    if isinstance(part, dict):
        return {name: _plain(each) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(each) for each in part]
    return part.tolist() if isinstance(part, np.ndarray) else part


def escaped(text: str) -> str:
    """Escape a text for Plotly; blank text becomes ␣, so that it is visible."""
    return html.escape(text, quote=False) if text.strip() else "␣"


def shortened(name: str) -> str:
    """Escape and truncate a name for an axis.

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
    """Return a figure in the project's template; several series share one tooltip."""
    are_several = len(data) > 1
    return go.Figure(
        data=data,
        layout={
            "template": TEMPLATES["light"],
            "title": {"text": html.escape(title, quote=False)},
            "meta": {"alt": alt},
            # Keeps the reader's zoom when the numbers change.
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
    """Return an axis with names at 0, 1, 2, …, which are hidden if there are too many."""
    axis = {**_titled(title), "range": [-0.5, len(names) - 0.5]}
    written = {"tickvals": np.arange(len(names)), "ticktext": [shortened(name) for name in names]}
    return {**axis, **written, "showticklabels": len(names) <= MAX_NAMED}


def _counted(first: int, last: int, title: str) -> dict[str, Any]:
    """Return an axis of integers with few enough ticks for a phone."""
    step = next(step for step in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if (last - first) / step <= 12)
    ticks = sorted({first, *range(step, last + 1, step)})
    return {**_titled(title), "tickvals": ticks, "ticktext": list(map(str, ticks)), "range": [first - 0.5, last + 0.5]}


def _values(title: str = "", limits: tuple[float, float] | None = None) -> dict[str, Any]:
    """Return the axis of values, within limits or from 0."""
    if limits is None:
        return {**_titled(title), "rangemode": "tozero"}
    low, high = limits
    beyond = BEYOND * ((high - low) or 1)
    return {**_titled(title), "range": [low - beyond, high + beyond]}


def _log(values: Sequence[Array]) -> dict[str, Any]:
    """Return a logarithmic axis, with sparse ticks over many powers of ten."""
    every = np.concatenate([np.asarray(each, dtype=float) for each in values] or [np.ones(1)])
    above = every[every > 0]
    is_wide = above.size > 0 and above.max() > 100 * above.min()
    # No superfluous decimals: 0.001, 20, 5,000.
    return {"type": "log", "dtick": 1 if is_wide else "D2", "tickformat": ",~r"}


def _curve(curve: Curve) -> dict[str, Any]:
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
    """Return a legend entry, a line without points, for each group of curves."""
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
    """Return bars at 0, 1, 2, …; ``labels`` are for tooltips."""
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
    """Return a point for each head and a line through each layer's mean; the current head is emphasised.

    Shares are drawn from 0 to 1, so that charts are comparable; other values from 0 to the largest.
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
    alt = message("{title} of every head, by layer.", title=title)
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
    """Return one or two lines over the layers, and ``points`` of single layers (name, layer from 0, value)."""
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
    """Return a line over the layers for each curve."""
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
    """Return one or two lines through points at 0, 1, 2, …; the point at ``current`` is emphasised."""
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
    """Return a log-log chart of a quantity before and after.

    ``current`` is the index of the emphasised size. The last sizes may still lack a point.
    """
    reached = np.asarray(sizes[: len(before)])
    curves = (
        Curve(message("before scaling"), reached, before, INACTIVE, current),
        Curve(message("after scaling"), reached, after, WEIGHT, current),
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
    """Return a log-log chart over all ``sizes``, even those without points yet; zeros are not drawn."""
    step = 1 + len(sizes) // 12
    ticks = list(sizes[::step])
    low, high = np.log10([sizes[0], sizes[-1]])
    beyond = BEYOND * (high - low)
    return figure(
        [*map(_curve, curves)],
        title,
        alt,
        x={
            **_titled(message("{axis} (both scales logarithmic)", axis=axis)),
            "type": "log",
            "tickvals": ticks,
            "ticktext": [written(size) for size in ticks],
            "range": [low - beyond, high + beyond],
            "hoverformat": ",d",
        },
        y=_log([curve.values for curve in curves]),
        hovermode="x unified",
        # A single curve is named, too: the others may be covered.
        showlegend=True,
        # A readout names the axis at every point, without the note on its scale.
        meta={"alt": alt, "axis": escaped(axis)},
    )


def stages(
    curves: Sequence[Curve], title: str, alt: str, *, n_steps: int, limits: tuple[float, float], axis: str
) -> go.Figure:
    """Return lines over all steps of a training run, even if it has not finished."""
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
    """Return one horizontal bar for each label, the first at the top; each may stand for a head."""
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
        alt or message("Bar chart: {title}.", title=title),
        x={**_values(), "hoverformat": _COUNTS if are_counts else ".4~r"},
        y={**names, "showgrid": False},
        height=84 + 26 * max(len(numbers), 2),
    )


def portions(names: Sequence[str], values: Float[Array, " N"], title: str, alt: str, axis: str) -> go.Figure:
    """Return one bar from 0 to 1 for each portion of weight."""
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
    series: tuple[str, str] = (message("before scaling"), message("after scaling")),
) -> go.Figure:
    """Return two bars for each key, its weight before and after, or as ``series`` names them."""
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
    """Return two bars for each name."""
    data = [_bars(*before, INACTIVE), _bars(*after, WEIGHT)]
    return figure(data, title, alt, x=_named(names), y=_values(), barmode="group")


def spread(before: Float[Array, "Q K"], after: Float[Array, "Q K"], counted: str) -> go.Figure:
    """Return histograms of the scores before and after division; ``counted`` is the unit of the counts."""
    edges, counts = binned(before, after)
    data = [
        {
            **_bars(name, count, colour),
            "x": (edges[:-1] + edges[1:]) / 2,
            "width": float(edges[1] - edges[0]) * 0.95,
            "opacity": opacity,
        }
        for name, colour, opacity, count in zip(
            (message("before scaling"), message("after scaling")), (INACTIVE, WEIGHT), (1, 0.75), counts, strict=True
        )
    ]
    return figure(
        data,
        message("distribution of scores"),
        message("Distribution of the scores before and after scaling."),
        x={**_titled(message("score")), "hoverformat": ".2f"},
        y={**_values(counted), "hoverformat": _COUNTS},
        barmode="overlay",
    )


def spots(names: Sequence[str], values: Float[Array, "P N"], medians: Float[Array, " P"], title: str) -> go.Figure:
    """Return N points at each of P named places, with a short line at each median."""
    n_values = values.shape[1]
    places, index = (axis.ravel() for axis in np.indices(values.shape))
    times = {
        "type": "scatter",
        "mode": "markers",
        "name": message("one shuffle"),
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
        "marker": {"symbol": "line-ew", "size": 44, "line": {"width": 3, "color": INACTIVE}},
        "hovertext": [message("{name}, median", name=escaped(name)) for name in names],
    }
    return figure(
        [{**each, "hovertemplate": "%{hovertext}: %{y}<extra></extra>"} for each in (times, middle)],
        title,
        message("{title}: a point per run, and the medians.", title=title),
        x=_named(names),
        y=_values(),
        hovermode="closest",
    )
