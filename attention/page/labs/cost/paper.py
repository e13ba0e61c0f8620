"""The costs of a text for a large model, on paper: scores, key/value cache, and the work for one more token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from attention.core.messages import message
from attention.experiments.costs import LLAMA, Sizes
from attention.figures.charts import Chart, Curve
from attention.figures.colours import INACTIVE, WEIGHT
from attention.lesson.prose import lesson
from attention.page.blocks import Blocks, Picture, Prose, Row, Section, Setting, as_table
from attention.page.labs.cost.amounts import as_bytes, count, factors_chart, short
from attention.page.parameters import Choice, Parameter

ON_PAPER = tuple(2**power for power in range(10, 21))  # from 1k to 1M tokens, where k is 1,024
MOST_ON_PAPER = 2**17  # the model's longest text, according to its paper

TOKENS: Parameter[int] = Parameter("tokens", Choice(lambda _: ON_PAPER), MOST_ON_PAPER)
KEPT: Parameter[int] = Parameter(
    "kept", Choice(lambda _: (LLAMA.n_key_value_heads, LLAMA.n_heads)), LLAMA.n_key_value_heads
)


def paper(tokens: int, kept: int) -> Blocks:
    """Show the needs of a large model for a text of some length, with and without grouped queries."""
    sizes = replace(LLAMA, n_key_value_heads=kept)
    grouped, every = LLAMA.n_key_value_heads, LLAMA.n_heads
    knobs = (
        Setting(TOKENS, message("Tokens"), tokens, {each: short(each) for each in ON_PAPER}, is_scale=True),
        Setting(
            KEPT,
            message("Key/value heads"),
            kept,
            {grouped: message("{n}, as in the model", n=grouped), every: message("{n}, one per head", n=every)},
        ),
    )
    return (
        Section("paper_knobs", knobs, is_line=True),
        Prose(_tell_scores(tokens)),
        Row(
            (
                (Prose(_tell_cache(sizes, tokens)), Picture("caches", _caches(tokens, kept))),
                (Prose(_tell_work(sizes, tokens)), Picture("looking_back", _looking_back(sizes, tokens))),
            )
        ),
        as_table("paper", _table_on_paper, file="paper"),
    )


def _tell_scores(tokens: int) -> str:
    told = lesson(
        "cost/paper",
        layers=LLAMA.n_layers,
        heads=LLAMA.n_heads,
        d_head=LLAMA.d_head,
        tokens=f"{tokens:,}",
        cells=count(tokens**2),
        all=count(LLAMA.scores(tokens)),
    )
    beyond = lesson("cost/paper-beyond", most=f"{MOST_ON_PAPER:,}") if tokens > MOST_ON_PAPER else ""
    return told + beyond


def _tell_cache(sizes: Sizes, tokens: int) -> str:
    return lesson(
        "cost/paper-cache",
        layers=sizes.n_layers,
        kept=sizes.n_key_value_heads,
        d_head=sizes.d_head,
        per_token=message("{n} bytes", n=f"{sizes.cache(1):,}"),
        cache=as_bytes(sizes.cache(tokens)),
        tokens=f"{tokens:,}",
    )


def _tell_work(sizes: Sizes, tokens: int) -> str:
    return lesson(
        "cost/paper-work",
        looking=count(sizes.looking_back(tokens)),
        rest=count(sizes.per_token),
        even=count(sizes.even),
    )


def _caches(tokens: int, kept: int) -> Chart:
    title = message("gigabytes of KV cache, by number of tokens")
    alt = message("KV cache with 32 and with 8 key/value heads, by length.")
    colours = ((LLAMA.n_heads, INACTIVE), (LLAMA.n_key_value_heads, WEIGHT))
    curves = tuple(
        _on_paper(
            message("{n} key/value heads", n=heads),
            colour,
            [replace(LLAMA, n_key_value_heads=heads).cache(each) / 1e9 for each in ON_PAPER],
            ON_PAPER.index(tokens) if heads == kept else None,
        )
        for heads, colour in colours
    )
    return factors_chart(ON_PAPER, curves, title, alt)


def _looking_back(sizes: Sizes, tokens: int) -> Chart:
    """Return the multiplications for the last token: those that grow with the length, and the others."""
    title = message("billions of multiplications for the last token")
    alt = message("Multiplications for the last token, by length: scores and sums, and all others.")
    at = ON_PAPER.index(tokens)
    back = [sizes.looking_back(each) / 1e9 for each in ON_PAPER]
    rest = [sizes.per_token / 1e9 for _ in ON_PAPER]
    curves = (
        _on_paper(message("all else"), INACTIVE, rest, None),
        _on_paper(message("scores and sums"), WEIGHT, back, at),
    )
    return factors_chart(ON_PAPER, curves, title, alt)


def _on_paper(name: str, colour: str, values: Sequence[float], current: int | None) -> Curve:
    return Curve(name, np.array(ON_PAPER), np.array(values), colour, current)


def _table_on_paper() -> dict[str, list[str]]:
    own = replace(LLAMA, n_key_value_heads=LLAMA.n_heads)
    columns: dict[str, Callable[[int], int]] = {
        message("tokens"): int,
        message("scores of a head"): lambda length: length**2,
        message("scores of all heads"): LLAMA.scores,
        message("cache in bytes, {n} key/value heads", n=LLAMA.n_key_value_heads): LLAMA.cache,
        message("cache in bytes, {n} key/value heads", n=LLAMA.n_heads): own.cache,
        message("multiplications of the last token, scores and sums"): LLAMA.looking_back,
        message("all else, {n} key/value heads", n=LLAMA.n_key_value_heads): lambda _: LLAMA.per_token,
        message("all else, {n} key/value heads", n=LLAMA.n_heads): lambda _: own.per_token,
    }
    return {title: [str(work(length)) for length in ON_PAPER] for title, work in columns.items()}
