"""Means over many sentences: a head's behaviour in words, as a picture and as a table."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Literal

from attention.core.messages import message
from attention.experiments.study import AlignedMean, StudyResult
from attention.figures.atlas import Atlas, Head, Tiles, by_layer
from attention.figures.matrix import Matrix
from attention.lesson.behaviour import head_table, special_measures, tell_behaviours
from attention.lesson.head_words import in_words
from attention.lesson.matrices import between
from attention.lesson.prose import fact, lesson, listed, word
from attention.measures.five_patterns import PATTERN_TITLES
from attention.measures.summaries import HeadSummary

Alignment = Literal["start", "end"]
ALIGNMENTS: tuple[Alignment, ...] = ("start", "end")


@dataclass(frozen=True, slots=True)
class LayerMeasure:
    """A measure of heads that is drawn layer by layer: its field in a summary, its title, its unit."""

    name: str
    title: str
    unit: str
    is_share: bool = True


LAYER_MEASURES = (
    LayerMeasure("punctuation", message("Weight on punctuation marks"), message("share")),
    LayerMeasure("entropy", message("Spread: entropy"), message("nats"), is_share=False),
    LayerMeasure("mean_distance", message("Reach: mean distance"), message("tokens"), is_share=False),
)


def layer_measures(result: StudyResult) -> list[LayerMeasure]:
    """Return the measures that are drawn, the weight on the last and first special tokens first."""
    special = [
        LayerMeasure(measure, message("Weight on {name}", name=name), message("share"))
        for name, measure in _sinks(result)
    ]
    return [*special, *LAYER_MEASURES]


def _sinks(result: StudyResult) -> list[tuple[str, str]]:
    """Return the special tokens that end and begin a text, each with the measure of the weight on it."""
    return [(name, measure) for name, measure in reversed(special_measures(result.special).items())]


def tell_layers(result: StudyResult) -> str:
    """Describe the layers' charts as HTML, and name the layer that gives most to special tokens."""
    told = lesson("study/layers")
    sinks = [(name, result.measure(measure).mean(axis=1)) for name, measure in _sinks(result)]
    if not sinks:
        return told
    info = result.info
    found = [
        message(
            "{name} gets most in layer {layer} ({share})",
            name=word(name),
            layer=int(share.argmax()) + 1,
            share=fact(float(share.max())),
        )
        for name, share in sinks
    ]
    return told + lesson(
        "study/sinks",
        model=word(info.name),
        layers=info.n_layers,
        heads=info.n_heads,
        tokens=f"<b>{result.n_tokens / result.n_sentences:.0f}</b>",
        sinks=listed(found),
    )


def aligned(result: StudyResult, alignment: Alignment) -> AlignedMean:
    """Return the mean weights, with the sentences aligned at their first or last tokens."""
    return result.from_start if alignment == "start" else result.from_end


def averages(result: StudyResult, alignment: Alignment, current: Head, zoom: int | None = None) -> Atlas:
    """Return the mean weights of all heads as thumbnails."""
    tiles = Tiles.of(list(aligned(result, alignment).weights))
    title = message(
        "{name}: {n_heads} heads, averaged over {n_sentences} sentences",
        name=result.info.name,
        n_heads=len(result.summaries),
        n_sentences=f"{result.n_sentences:,}",
    )
    return Atlas(
        tiles=tiles,
        groups=by_layer(tiles),
        title=title,
        alt=title,
        current=current,
        zoom=zoom,
        descriptions={
            (summary.layer, summary.head): in_words(summary, special=result.special) for summary in result.summaries
        },
    )


def mean_matrix(result: StudyResult, alignment: Alignment, head: Head) -> Matrix:
    """Return the mean weights of one head as a matrix."""
    mean = aligned(result, alignment)
    labels = positions(mean, alignment)
    place = message("layer {layer}, head {head}", layer=head[0] + 1, head=head[1] + 1)
    alt = message(
        "Mean weights of {place} between {n_labels} positions, over {n_sentences} sentences.",
        place=place,
        n_labels=len(labels),
        n_sentences=f"{result.n_sentences:,}",
    )
    return between(
        "mean_weights",
        message("Mean weights of {place}", place=place),
        mean.weights[head],
        labels,
        alt,
        row_axis=message("query positions (attending)"),
        column_axis=message("key positions (attended to)"),
    )


def positions(mean: AlignedMean, alignment: Alignment) -> tuple[str, ...]:
    """Return labels of positions: the token that all sentences have there, or a number from 0 (start) or −1 (end)."""
    size = len(mean.names)
    numbers = [str(i) if alignment == "start" else f"−{size - i}" for i in range(size)]
    return tuple(name or number for name, number in zip(mean.names, numbers, strict=True))


def how_many(result: StudyResult, alignment: Alignment) -> str:
    """Say over how many sentences each cell of the mean is averaged."""
    counts = aligned(result, alignment).counts.diagonal()
    fewest, n = int(counts.min()), result.n_sentences
    facts: dict[str, str | float] = {"total": f"{n:,}", "positions": len(counts)}
    if fewest == n:
        return message("Each cell averages all {total} sentences, at {positions} positions.", **facts)
    return message(
        "A cell averages the sentences that have both positions: all {total} have {full}, {fewest} have all "
        "{positions}.",
        fewest=f"{fewest:,}",
        full=int((counts == n).sum()),
        **facts,
    )


def describe(result: StudyResult, head: Head) -> str:
    """Return as HTML one head's mean behaviour over the sentences, and the rules of its labels."""
    summary = _summary(result, head)
    pattern, n_times = result.commonest_pattern(*head)
    told = lesson(
        "study/head",
        layer=head[0] + 1,
        head=head[1] + 1,
        told=html.escape(in_words(summary, special=result.special)),
        sentences=f"{result.n_sentences:,}",
        entropy=fact(summary.entropy),
        distance=fact(summary.mean_distance),
        previous=fact(summary.previous),
        itself=fact(summary.itself),
        next=fact(summary.next),
        pattern=word(PATTERN_TITLES[pattern]),
        times=f"{n_times:,}",
    )
    special = [
        message("{name} gets {share}", share=fact(getattr(summary, measure)), name=word(name))
        for name, measure in special_measures(result.special).items()
    ]
    if special:
        told += lesson("study/special", shares=listed(special))
    shown = tell_behaviours(summary)
    return told + shown + lesson("study/caveat" if shown else "study/no-behaviour")


def _summary(result: StudyResult, head: Head) -> HeadSummary:
    return result.summaries[head[0] * result.info.n_heads + head[1]]


def study_table(result: StudyResult) -> dict[str, list[str | int | float]]:
    """Return all heads as columns: the means, and how often each has its most common pattern."""
    table = head_table(result.summaries, special=result.special)
    commonest = [result.commonest_pattern(summary.layer, summary.head) for summary in result.summaries]
    pattern = message("pattern")
    front: dict[str, list[str | int | float]] = {name: table.pop(name) for name in (message("layer"), message("head"))}
    front[pattern] = [PATTERN_TITLES[name] for name, _ in commonest]
    front[message("of sentences, %")] = [round(100 * count / result.n_sentences, 1) for _, count in commonest]
    return {**front, **{name: column for name, column in table.items() if name != pattern}}
