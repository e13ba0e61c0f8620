"""Read a chart's Plotly figure: lines and bars, highlighted points, and arrows."""

from typing import NamedTuple

import numpy as np

__all__ = ["Arrow", "arrows", "current", "names_in", "traces", "way_of"]


class Arrow(NamedTuple):
    """An arrow: its ends, its text, and its legend group."""

    start: np.ndarray
    end: np.ndarray
    label: str
    ink: str


def traces(chart):
    """The series of a chart that can be pointed at."""
    return [trace for trace in chart.figure.data if trace.hoverinfo != "skip"]


def current(trace):
    """The index of the highlighted point; None if there is none."""
    sizes = np.asarray(trace.marker.size)
    return int(sizes.argmax()) if sizes.ndim and sizes.max() > sizes.min() else None


def arrows(trace):
    """The arrows of a series: each is a path up to a gap, with its head at the end."""
    places = np.stack([trace.x, trace.y], axis=-1)
    gaps = np.flatnonzero(np.isnan(places[:, 0]))
    found = []
    for first, gap in zip((0, *gaps[:-1] + 1), gaps, strict=True):
        assert np.flatnonzero(trace.marker.size[first:gap]).tolist() == [gap - first - 1]
        found.append(Arrow(places[first], places[gap - 1], trace.hovertext[first], trace.legendgroup))
    return found


def way_of(some):
    """Arrows that form a path, in order, with their positions."""
    left = list(some)
    ends = np.array([arrow.end for arrow in left])
    away = [np.abs(ends - arrow.start).max(axis=1).min() for arrow in left]
    here = left.pop(int(np.argmax(away)))
    path = [here]
    while left:
        distances = [np.abs(arrow.start - here.end).max() for arrow in left]
        assert min(distances) < 1e-4
        here = left.pop(int(np.argmin(distances)))
        path.append(here)
    return np.array([path[0].start, *(arrow.end for arrow in path)]), path


def names_in(chart, side):
    """The labels on this side of their positions (tags, for example, are below arrows)."""
    (names,) = (trace for trace in chart.figure.data if trace.mode == "text")
    return [name for name, at in zip(names.text, names.textposition, strict=True) if at == side]
