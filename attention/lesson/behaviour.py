"""Descriptions of a head in words and as a table: measurements on this text, and labels whose rules are shown."""

from __future__ import annotations

import html
from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.reading import TEXT, Reading
from attention.figures.format import number
from attention.lesson.prose import exact, fact, lesson, listed, word
from attention.measures.cross import CrossSummary
from attention.measures.five_patterns import PATTERN_TITLES
from attention.measures.marks import SPECIAL_MEASURES
from attention.measures.segments import SENTENCES
from attention.measures.summaries import HeadSummary

# Column title → field of the summary.
_MEASURES = {
    message("entropy (nats)"): "entropy",
    message("mean distance"): "mean_distance",
    message("previous"): "previous",
    message("same token"): "itself",
    message("next"): "next",
    message("punctuation"): "punctuation",
    message("same word"): "same_word",
    message("positional"): "positional",
}


_CROSS_MEASURES = {
    message("entropy (nats)"): "entropy",
    message("largest weight of a row"): "largest",
    message("special tokens"): "special",
    message("most attended to"): "vertical",
}


def describe(summary: HeadSummary | CrossSummary, told: str, reading: Reading = TEXT) -> str:
    """Return as HTML the phrase ``told`` about a head, its measurements, and the rules of its labels."""
    told = html.escape(told)
    if isinstance(summary, CrossSummary):
        return lesson(
            "head/words-cross",
            layer=summary.layer + 1,
            head=summary.head + 1,
            told=told,
            entropy=fact(summary.entropy),
            largest=fact(summary.largest),
            special=fact(summary.special),
        )
    text = lesson(
        "head/words",
        noun=reading.noun,
        layer=summary.layer + 1,
        head=summary.head + 1,
        told=told,
        previous=fact(summary.previous),
        itself=fact(summary.itself),
        next=fact(summary.next),
    )
    return text + tell_behaviours(summary) + lesson("head/caveat", noun=reading.noun)


def tell_behaviours(summary: HeadSummary) -> str:
    """Return as HTML the named behaviours of a head, each with its rule; empty if it has none."""
    return "".join(
        lesson(
            "head/behaviour",
            behaviour=word(behaviour.name),
            score=_above(behaviour.score, behaviour.rule.threshold),
            threshold=fact(behaviour.rule.threshold),
            meaning=html.escape(behaviour.rule.meaning),
            source=html.escape(behaviour.rule.source),
        )
        for behaviour in summary.behaviours
        if behaviour.passes
    )


def _above(score: float, threshold: float) -> str:
    """Format a score above a threshold with enough digits to show the difference."""
    decimals = 2
    while decimals < 6 and number(score, decimals) == number(threshold, decimals):
        decimals += 1
    return exact(score, decimals)


def head_table(
    summaries: Sequence[HeadSummary | CrossSummary],
    shares: Float[Array, "N 2 2"] | None = None,
    special: Sequence[str] = (),
    told: Sequence[str] = (),
) -> dict[str, list[str | int | float]]:
    """Return all heads as columns of numbers, rounded for reading, to sort and to save as CSV.

    Args:
        summaries: one for each head.
        shares: for two sentences, the weight within and between them (``attention.measures.segments.block_shares``).
        special: the text's special tokens; there is a column for each that begins or ends it.
        told: a phrase for each head.
    """
    table: dict[str, list[str | int | float]] = {
        message("layer"): [summary.layer + 1 for summary in summaries],
        message("head"): [summary.head + 1 for summary in summaries],
    }
    labelled = [summary for summary in summaries if isinstance(summary, HeadSummary)]
    behaviours: list[str | int | float] = [", ".join(summary.behaviour_names) for summary in labelled]
    if labelled:
        if told:
            table[message("what it does")] = list(told)
        table[message("pattern")] = [PATTERN_TITLES[summary.pattern.label] for summary in labelled]
        if not told:
            table[message("behaviours")] = behaviours
    for title, measure in ({**_MEASURES, **special_measures(special)} if labelled else _CROSS_MEASURES).items():
        table[title] = [round(float(getattr(summary, measure)), 4) for summary in summaries]
    if shares is not None:
        for row, asking in enumerate(SENTENCES):
            for column, asked in enumerate(SENTENCES):
                table[f"{asking} → {asked}"] = [round(float(share), 4) for share in shares[:, row, column]]
    if told:
        # Last, because a link refers to a column by its index.
        table.update({message("behaviours"): behaviours} if labelled else {message("what it does"): list(told)})
    return table


def special_measures(special: Sequence[str]) -> dict[str, str]:
    """Map the special tokens that begin or end a text to the summary field with the weight on them."""
    return {name: measure for measure, known in SPECIAL_MEASURES.items() for name in special if name in known}


def share_table(
    shares: Float[Array, "2 2"], word_shares: Float[Array, "2 2"], special: Sequence[str]
) -> dict[str, list[str]]:
    """Return how one head's weight is divided between two sentences, with and without special tokens."""
    named = listed(special) if special else message("special tokens")
    given: list[str] = []
    columns: list[list[str]] = [[], [], []]
    for counted, table in (
        (message("with {special}", special=named), shares),
        (message("words only"), word_shares),
    ):
        for asking, (to_first, to_second) in zip(SENTENCES, table.tolist(), strict=True):
            given.append(f"{asking}, {counted}")
            rest = max(0.0, 1 - to_first - to_second)
            for column, value in zip(columns, (to_first, to_second, rest), strict=True):
                column.append(number(value))
    # Special tokens have a share of their own only where they are not counted in.
    columns[2][:2] = ["–", "–"]
    first, second = SENTENCES
    to = (message("to {name}", name=name) for name in (first, second, named))
    return {message("from"): given, **dict(zip(to, columns, strict=True))}
