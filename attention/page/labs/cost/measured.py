"""Measurements of attention and an LSTM, and of a decoder with and without a cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.experiments.costs import D_HEAD, LENGTHS, N_HEADS, NEW, Curve, Growth, Way, growth
from attention.figures import charts
from attention.figures.charts import Chart
from attention.figures.colours import INACTIVE, WEIGHT
from attention.lesson.prose import fact, lesson, small
from attention.page.blocks import Blocks, Fold, Picture, Prose, Row, Table
from attention.page.labs.cost.amounts import as_bytes, factors_chart, seconds

Curves = Mapping[Way, Curve]


@dataclass(frozen=True, slots=True)
class Source:
    """Measurements, and a sentence about the machine (HTML)."""

    curves: Curves
    told: str


AGAINST_LENGTH: tuple[Way, ...] = ("explicit", "fused", "lstm")
WRITING: tuple[Way, ...] = ("anew", "cached")
_NAMES: Mapping[Way, str] = {
    "explicit": message("explicit"),
    "fused": message("fused"),
    "lstm": message("LSTM"),
    "anew": message("without a cache"),
    "cached": message("with a cache"),
}
# None is the colour of the text.
_COLOURS: Mapping[Way, str | None] = {
    "explicit": WEIGHT,
    "fused": None,
    "lstm": INACTIVE,
    "anew": INACTIVE,
    "cached": WEIGHT,
}


def time(source: Source, *, is_asked: bool = False) -> Blocks:
    """Show the time of attention and an LSTM; the LSTM alone while the question ``is_asked``."""
    drawn = _chart(
        LENGTHS,
        source.curves,
        AGAINST_LENGTH,
        lambda curve: 1000 * curve.seconds,
        message("milliseconds, by number of tokens"),
        message("Time of explicit attention, fused attention and an LSTM, by length."),
    )
    if is_asked:
        return _asked("time", drawn, source.curves, lambda curve: curve.seconds)
    return _shown("time", drawn, source.curves, AGAINST_LENGTH, _tell_time, _tell_setup)


def _asked(name: str, drawn: Chart, found: Curves, amount: Callable[[Curve], Array]) -> Blocks:
    """Return the LSTM's curve, and how much it rises."""
    curve = found.get("lstm")
    if curve is None or len(curve.lengths) < 2:
        return (Prose(lesson("cost/not-yet")),)
    lengths, amounts = curve.lengths, amount(curve)
    rise = {"longer": f"{lengths[-1] / lengths[0]:.0f}", "more": f"<b>{amounts[-1] / amounts[0]:.1f}</b>"}
    return (Row(((Picture(f"{name}_chart", drawn),), (Prose(lesson("cost/before", **rise)),))),)


def _tell_setup(found: Curves) -> str:
    difference = small(float(found["fused"].differences.max()))
    return lesson("cost/setup", heads=N_HEADS, d_head=D_HEAD, difference=difference)


def _tell_time(found: Curves) -> str:
    grown = _grown(found, lambda curve: curve.seconds)
    last = f"{grown['explicit'].last:,}"
    told = lesson(
        "cost/time",
        first=f"{grown['explicit'].first:,}",
        last=last,
        explicit=fact(grown["explicit"].exponent),
        fused=fact(grown["fused"].exponent),
        lstm=fact(grown["lstm"].exponent),
    )
    return told + lesson("cost/waits", last=last)


def memory(source: Source, *, is_asked: bool = False) -> Blocks:
    """Show the memory of attention and an LSTM; the LSTM alone while the question ``is_asked``."""
    drawn = _chart(
        LENGTHS,
        source.curves,
        AGAINST_LENGTH,
        lambda curve: curve.n_bytes / 1e6,
        message("megabytes, by number of tokens"),
        message("Memory of explicit attention, fused attention and an LSTM, by length."),
    )
    if is_asked:
        return _asked("memory", drawn, source.curves, lambda curve: curve.n_bytes)
    return _shown("memory", drawn, source.curves, AGAINST_LENGTH, _tell_memory, lambda _: lesson("cost/memory-how"))


def _tell_memory(found: Curves) -> str:
    grown = _grown(found, lambda curve: curve.n_bytes)
    held = {way: int(curve.n_bytes[-1]) for way, curve in found.items()}
    last = grown["explicit"].last
    array = N_HEADS * last**2 * 4
    told = lesson(
        "cost/memory",
        last=f"{last:,}",
        array=as_bytes(array),
        explicit_bytes=as_bytes(held["explicit"]),
        explicit=fact(grown["explicit"].exponent),
    )
    others = lesson(
        "cost/memory-blocks" if held["fused"] < array else "cost/memory-whole",
        fused_bytes=as_bytes(held["fused"]),
        fused=fact(grown["fused"].exponent),
    )
    return told + others


def writing(source: Source) -> Blocks:
    """Show a decoder's time for new tokens, with and without a key/value cache."""
    drawn = _chart(
        NEW,
        source.curves,
        WRITING,
        lambda curve: 1000 * curve.seconds,
        message("milliseconds for all new tokens, by their number"),
        message("Time a decoder takes with and without a KV cache, by length."),
    )
    return _shown("writing", drawn, source.curves, WRITING, _tell_writing, _tell_decoder)


def _tell_decoder(found: Curves) -> str:
    difference = small(float(found["anew"].differences.max()))
    return lesson("cost/writing", difference=difference)


def _tell_writing(found: Curves) -> str:
    grown = _grown(found, lambda curve: curve.seconds)
    anew, cached = (float(found[way].seconds[-1]) for way in WRITING)
    return lesson(
        "cost/writing-time",
        last=grown["anew"].last,
        anew_time=seconds(anew),
        cached_time=seconds(cached),
        times=f"<b>{anew / cached:.1f}</b>",
        anew=fact(grown["anew"].exponent),
        cached=fact(grown["cached"].exponent),
        cache=as_bytes(int(found["cached"].n_bytes[-1])),
    )


# ----------------------------------------------------------------------------------------- the blocks


def _shown(
    name: str,
    drawn: Chart,
    found: Curves,
    ways: Sequence[Way],
    tell: Callable[[Curves], str],
    tell_how: Callable[[Curves], str],
) -> Blocks:
    """Return a chart, its description and its set-up, once all ways have enough points."""
    if not drawn.figure.data:
        return (Prose(lesson("cost/not-yet")),)
    picture = Picture(f"{name}_chart", drawn)
    count = min(len(found[way].lengths) if way in found else 0 for way in ways)
    alike = {way: found[way].cut(count) for way in ways} if count else {}
    if len(_grown(alike, lambda curve: curve.seconds)) < len(ways):
        return (Row(((picture,), (Prose(lesson("cost/not-enough")),))),)
    return (Row(((picture, Prose(tell_how(alike), "detail")), (Prose(tell(alike)),))),)


def _grown(found: Curves, amount: Callable[[Curve], Array]) -> dict[Way, Growth]:
    grown = {way: growth(curve.lengths, amount(curve)) for way, curve in found.items()}
    return {way: each for way, each in grown.items() if each is not None}


def _chart(
    lengths: Sequence[int],
    found: Curves,
    ways: Sequence[Way],
    amount: Callable[[Curve], Float[Array, " N"]],
    title: str,
    alt: str,
) -> Chart:
    lines = [
        charts.Curve(_NAMES[way], found[way].lengths, amount(found[way]), _COLOURS[way]) for way in ways if way in found
    ]
    return factors_chart(lengths, lines, title, alt)


def tables(found: Curves) -> Blocks:
    """Return all measurements as tables."""
    made = {
        "lengths_table": partial(_table, found, AGAINST_LENGTH),
        "writing_table": partial(_table, found, WRITING),
    }
    tables = tuple(
        Table(key, make, file=key.replace("_table", "")) for key, make in made.items() if len(make()[message("tokens")])
    )
    return (Fold("measured_fold", message("Measurements as tables"), tables),) if tables else ()


def _table(found: Curves, ways: Sequence[Way]) -> dict[str, list[str]]:
    shown = {way: found[way] for way in ways if way in found}
    lengths = sorted({length for curve in shown.values() for length in curve.lengths.tolist()})
    columns = {message("tokens"): [str(length) for length in lengths]}
    for way, curve in shown.items():
        for title, amounts in ((message("seconds"), curve.seconds), (message("bytes"), curve.n_bytes)):
            given = dict(zip(curve.lengths.tolist(), amounts.tolist(), strict=True))
            columns[f"{_NAMES[way]}: {title}"] = [repr(given[each]) if each in given else "" for each in lengths]
    return columns
