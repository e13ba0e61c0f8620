"""Charts as the plain data of the chart component: vertical bars, horizontal bars, and points by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.atlas import Head, TouchHead
from attention.figures.format import named, packed
from attention.messages import message

__all__ = [
    "MAX_NAMED",
    "Chart",
    "Ink",
    "Line",
    "Series",
    "by_layer_chart",
    "candidates_chart",
    "compared_chart",
    "growth_chart",
    "layer_lines",
    "layers_chart",
    "lengths_chart",
    "lines_chart",
    "parts_chart",
    "portions_chart",
    "shares_chart",
    "spots_chart",
    "spread_chart",
]

# "columns" are vertical bars, "rows" horizontal ones; "points" are drawn over numbered places.
Kind = Literal["columns", "rows", "points"]
# "signed" colours each number by its sign.
Ink = Literal["signed", "weight", "value", "plain", "inactive"]
# A line of numbers: its name, its colour, and the numbers.
Line = tuple[str, Ink, Float[Array, " N"]]
T = TypeVar("T")

# The most bars that have room for their names.
MAX_NAMED = 24
# How far to the left and right of its layer the first and last head are drawn, so that equal values do not coincide.
SPREAD = 0.28
N_BINS = 30


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one colour, with a position and a tooltip for each.

    Over numbered places, a line may lead through them, which ``is_dashed`` where another one has the same colour; or
    each is a ``level``, a short line across its place, where places have no order.
    """

    name: str
    ink: Ink
    places: Float[Array, " N"]
    values: Float[Array, " N"]
    labels: tuple[str, ...]
    is_line: bool = False
    is_dashed: bool = False
    are_levels: bool = False
    # The index of the number that is emphasised.
    current: int | None = None
    # The head for which each number stands, where they stand for heads: a press chooses it.
    heads: tuple[Head, ...] = ()

    def __post_init__(self) -> None:
        """Refuse arrays that do not have one number for each label.

        Raises:
            ValueError: the lengths differ; the message gives the shapes that came and the one expected.
        """
        wanted = (len(self.labels),)
        if (self.places.shape, self.values.shape) != (wanted, wanted):
            raise ValueError(
                f"places and values must have shape {wanted}, got {self.places.shape}, {self.values.shape}"
            )

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw them; the common prefix of the labels is sent once.

        Places that are 0, 1, 2, … are not sent.
        """
        are_in_order = np.array_equal(self.places, np.arange(len(self.labels)))
        prefix = _common(self.labels) if len(self.labels) > 1 else ""
        return {
            "name": self.name,
            "ink": self.ink,
            "places": None if are_in_order else packed(self.places),
            "values": packed(self.values),
            "prefix": prefix,
            "labels": named([label[len(prefix) :] for label in self.labels]),
            "isLine": self.is_line,
            "isDashed": self.is_dashed,
            "areLevels": self.are_levels,
            "current": self.current,
            "heads": [list(head) for head in self.heads],
        }


def _common(labels: Sequence[str]) -> str:
    """Return the longest common prefix of the labels."""
    # A prefix shared by the alphabetically first and last label is shared by all between them.
    pairs = zip(min(labels), max(labels), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its numbers, the names of its axes, and the number of decimals shown.

    ``names`` label the places 0, 1, 2, … on the axis; without them the places are labelled by numbers. ``limits`` are
    the ends of the value axis; None is from 0 to the largest number. If ``is_log``, equal distances along that axis are
    equal factors. Points without names stand at places that are counted from ``first``; their axis has at least
    ``n_places``, though there may be no points there yet.
    """

    component: ClassVar[str] = "chart"

    kind: Kind
    title: str
    alt: str
    series: tuple[Series, ...]
    names: tuple[str, ...] | None = None
    place_axis: str = ""
    value_axis: str = ""
    limits: tuple[float, float] | None = None
    decimals: int = 4
    is_log: bool = False
    first: int = 1
    n_places: int = 0

    @property
    def touch(self) -> TouchHead | None:
        """One of the heads for which numbers stand; None if they stand for none: such a chart is only read."""
        heads = [head for each in self.series for head in each.heads]
        if not heads:
            return None
        counts = [0] * (1 + max(layer for layer, _ in heads))
        for layer, head in heads:
            counts[layer] = max(counts[layer], head + 1)
        return TouchHead(tuple(counts))

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it; numbers are sent as little-endian float32 in base64."""
        return {
            "kind": self.kind,
            "title": self.title,
            "alt": self.alt,
            "series": [each.payload() for each in self.series],
            "names": None if self.names is None else list(self.names),
            "placeAxis": self.place_axis,
            "valueAxis": self.value_axis,
            "limits": None if self.limits is None else list(self.limits),
            "decimals": self.decimals,
            "isLog": self.is_log,
            "first": self.first,
            "nPlaces": self.n_places,
            "selectable": False,
        }


def _bars(lines: Sequence[Line], labels: Sequence[str]) -> tuple[Series, ...]:
    """Return bars at the places 0, 1, 2, …, several of them at each if there are several lines of numbers."""
    return tuple(Series(name, ink, np.arange(len(labels)), values, tuple(labels)) for name, ink, values in lines)


def _lines(
    lines: Sequence[Line],
    places: Sequence[T],
    label: Callable[[str, T], str],
    *,
    current: int | None = None,
    is_even: bool = False,
) -> tuple[Series, ...]:
    """Return lines through points at their places (or, if even, at 0, 1, 2, …); a label says which line."""
    numbers = np.arange(len(places)) if is_even else np.asarray(places)
    return tuple(
        Series(name, ink, numbers, values, tuple(label(name, place) for place in places), is_line=True, current=current)
        for name, ink, values in lines
    )


def _of_layer(name: str, layer: object) -> str:
    return message("layer {layer}, {name}", layer=str(layer), name=name)


def parts_chart(labels: Sequence[str], parts: Float[Array, " N"], title: str, *, are_weights: bool = False) -> Chart:
    """Return one bar for each part, red above zero and teal below; weights have a colour of their own."""
    ink: Ink = "weight" if are_weights else "signed"
    return Chart(
        kind="columns",
        title=title,
        alt=message("Bars: {title}. The table below has the same numbers.", title=title),
        series=_bars([("", ink, parts)], labels),
        names=tuple(labels) if len(parts) <= MAX_NAMED else None,
    )


def lengths_chart(labels: Sequence[str], lengths: Sequence[float] | Array, title: str, *, decimals: int = 2) -> Chart:
    """Return one bar for each length, the first at the top."""
    return Chart(
        kind="rows",
        title=title,
        alt=message("Bars: {title}. The words beside them have the same numbers.", title=title),
        series=_bars([("", "inactive", np.asarray(lengths))], labels),
        names=tuple(labels),
        decimals=decimals,
    )


def candidates_chart(labels: Sequence[str], probabilities: Sequence[float]) -> Chart:
    """Return one bar for each candidate for the next token, from 0 to 1, the most likely at the top."""
    return Chart(
        kind="rows",
        title=message("probability of coming next"),
        alt=message(
            "The {n_labels} likeliest next tokens and their probabilities; the buttons have the same numbers.",
            n_labels=len(labels),
        ),
        series=_bars([("", "weight", np.asarray(probabilities))], labels),
        names=tuple(labels),
        limits=(0.0, 1.0),
    )


def portions_chart(labels: Sequence[str], portions: Float[Array, " N"], title: str, alt: str, axis: str) -> Chart:
    """Return one bar for each portion of weight, from 0 to 1, so that charts can be compared."""
    parts = parts_chart(labels, portions, title, are_weights=True)
    return replace(parts, alt=alt, place_axis=axis, limits=(0.0, 1.0), decimals=3)


def spread_chart(
    before: Float[Array, "Q K"], after: Float[Array, "Q K"], *, is_closer: bool, counted: str = message("cells")
) -> Chart:
    """Return histograms of the scores before and after scaling, with the same bins.

    ``is_closer`` tells whether scaling brings the scores closer to 0; ``counted`` says what has a score.
    """
    # If all scores are large, the scaled ones lie below the lowest unscaled one, so the bins must cover both.
    low, high = (float(extreme([extreme(before), extreme(after)])) for extreme in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    centres = (edges[:-1] + edges[1:]) / 2
    labels = tuple(message("scores about {score}", score=f"{centre:.2f}".replace("-", "\u2212")) for centre in centres)
    inks: tuple[tuple[str, Ink, Float[Array, "Q K"]], ...] = (
        (message("before"), "inactive", before),
        (message("after"), "weight", after),
    )
    return Chart(
        kind="columns",
        title=message("how often each score occurs"),
        alt=message("How often each score occurs, before and after scaling: afterwards they are closer to 0.")
        if is_closer
        else message("How often each score occurs, before and after scaling."),
        series=tuple(
            Series(name, ink, centres, np.histogram(scores, edges)[0].astype(float), labels)
            for name, ink, scores in inks
        ),
        place_axis=message("score"),
        value_axis=counted,
        decimals=0,
    )


def shares_chart(
    before: Float[Array, " K"],
    after: Float[Array, " K"],
    labels: Sequence[str],
    title: str,
    alt: str,
    names: tuple[str, str] = (message("before"), message("after")),
) -> Chart:
    """Return two bars for each key: the weight that it would get before, and the one that it gets after.

    Other shares than these have other ``names``.
    """
    both = compared_chart(labels, (names[0], before), (names[1], after), title, alt)
    return replace(both, names=tuple(labels), value_axis=message("weight"), limits=(0.0, 1.0))


def compared_chart(
    labels: Sequence[str],
    before: tuple[str, Float[Array, " N"]],
    after: tuple[str, Float[Array, " N"]],
    title: str,
    alt: str,
) -> Chart:
    """Return two bars for each of several things; what they stand for comes with their numbers."""
    return Chart(
        kind="columns",
        title=title,
        alt=alt,
        series=_bars([(before[0], "inactive", before[1]), (after[0], "weight", after[1])], labels),
        names=tuple(labels) if len(labels) <= MAX_NAMED else None,
        decimals=3,
    )


def lines_chart(
    lines: Sequence[tuple[str, Float[Array, " N"]]],
    title: str,
    alt: str,
    axis: str,
    *,
    limits: tuple[float, float] | None = None,
    current: int | None = None,
) -> Chart:
    """Return one or two lines through points at the places from 0; the point at ``current`` is emphasised."""
    inks: tuple[Ink, ...] = ("weight", "inactive")
    with_names = len(lines) > 1
    return Chart(
        kind="points",
        title=title,
        alt=alt,
        series=_lines(
            [(name, ink, values) for (name, values), ink in zip(lines, inks, strict=False)],
            range(len(lines[0][1])),
            lambda name, place: f"{name}, {axis} {place}" if with_names else f"{axis} {place}",
            current=current,
        ),
        place_axis=axis,
        limits=limits,
        decimals=3,
        first=0,
    )


def growth_chart(
    sizes: Sequence[int],
    before: Float[Array, " N"],
    after: Float[Array, " N"],
    title: str,
    alt: str,
    axis: str,
    current: int,
) -> Chart:
    """Return how something changes with a size, before and after, on two axes on which equal distances are factors.

    The sizes are evenly spaced on their axis, so each is the same multiple of the one before; ``current`` is the index
    of the one that is emphasised.
    """
    lines: tuple[Line, Line] = ((message("before"), "inactive", before), (message("after"), "weight", after))
    return Chart(
        kind="points",
        title=title,
        alt=alt,
        series=_lines(lines, sizes, lambda name, size: f"{axis} = {size}, {name}", current=current, is_even=True),
        names=tuple(map(str, sizes)),
        place_axis=axis,
        decimals=3,
        is_log=True,
    )


def layer_lines(
    layers: Sequence[str],
    lines: Sequence[Line],
    title: str,
    alt: str,
    *,
    current: int | None = None,
    limits: tuple[float, float] | None = None,
) -> Chart:
    """Return a line for each of several things that change from layer to layer; the ``current`` layer is emphasised."""
    return Chart(
        kind="points",
        title=title,
        alt=alt,
        series=_lines(lines, layers, _of_layer, current=current, is_even=True),
        names=tuple(layers),
        place_axis=message("layer"),
        limits=limits,
        decimals=3,
    )


def layers_chart(values: Float[Array, "L H"], title: str, unit: str, current: Head, *, is_share: bool) -> Chart:
    """Return a point for each head and a line through the means of the layers; the current head is emphasised.

    Shares are drawn from 0 to 1, so that their charts can be compared; all else from 0 to the largest value.
    """
    n_layers, n_heads = values.shape
    layers, heads = (axis.ravel() + 1 for axis in np.indices(values.shape))
    beside = SPREAD * (2 * (heads - 1) / max(n_heads - 1, 1) - 1)
    numbers = np.arange(1, n_layers + 1)
    return Chart(
        kind="points",
        title=title,
        alt=message("{title}, of every head, layer by layer; the table below has the same numbers.", title=title),
        series=(
            Series(
                message("mean of the layer"),
                "inactive",
                numbers,
                values.mean(axis=1),
                tuple(message("mean of layer {layer}", layer=int(number)) for number in numbers),
                is_line=True,
            ),
            Series(
                message("a head"),
                "weight",
                layers + beside,
                values.ravel(),
                tuple(
                    message("layer {layer}, head {head}", layer=int(layer), head=int(head))
                    for layer, head in zip(layers, heads, strict=True)
                ),
                current=current[0] * n_heads + current[1],
                heads=tuple(np.ndindex(n_layers, n_heads)),
            ),
        ),
        place_axis=message("layer"),
        value_axis=unit,
        limits=(0.0, 1.0) if is_share else None,
        decimals=3,
    )


def by_layer_chart(
    lines: Sequence[tuple[str, Float[Array, " L"]]],
    title: str,
    alt: str,
    limits: tuple[float, float] | None = None,
    points: Sequence[tuple[str, int, float]] = (),
) -> Chart:
    """Return one or two numbers for each layer, each with its name and a line through them.

    ``points`` are numbers of one layer alone, each with its name and the layer, counted from 0.
    """
    inks: tuple[Ink, ...] = ("inactive", "weight")
    numbers = range(1, len(lines[0][1]) + 1)
    return Chart(
        kind="points",
        title=title,
        alt=alt,
        series=(
            *_lines(
                [(name, ink, values) for (name, values), ink in zip(lines, inks, strict=False)], numbers, _of_layer
            ),
            *(
                Series(name, "plain", np.array([layer + 1]), np.array([value]), (_of_layer(name, layer + 1),))
                for name, layer, value in points
            ),
        ),
        place_axis=message("layer"),
        limits=limits,
        decimals=3,
    )


def spots_chart(names: Sequence[str], values: Float[Array, "P N"], medians: Float[Array, " P"], title: str) -> Chart:
    """Return N points over each of P named places, side by side, and a short line across each place: their median."""
    n_places, n_values = values.shape
    places, index = (axis.ravel() for axis in np.indices(values.shape))
    beside = SPREAD * (2 * index / max(n_values - 1, 1) - 1)
    return Chart(
        kind="points",
        title=title,
        alt=message(
            "{title}: a point for each time, and the medians; the table below has the same numbers.", title=title
        ),
        series=(
            Series(
                message("shuffled once"),
                "weight",
                places + beside,
                values.ravel(),
                tuple(f"{name}, {time + 1}" for name in names for time in range(n_values)),
            ),
            Series(
                message("median"),
                "inactive",
                np.arange(n_places),
                medians,
                tuple(message("{name}, median", name=name) for name in names),
                are_levels=True,
            ),
        ),
        names=tuple(names),
        decimals=4,
    )
