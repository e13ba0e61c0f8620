"""The lab What it costs: attention's time and memory, as measured, and on paper for a large model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, get_args

from attention.core.messages import message, messages
from attention.experiments.costs import JOB, curves, points, shipped
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, word
from attention.lesson.quiz import Guess
from attention.page.blocks import Blocks, Heading, Panels, Prose, Section
from attention.page.labs.base import Lab, Runs, always, covered
from attention.page.labs.cost.amounts import count
from attention.page.labs.cost.measured import Source, memory, tables, time, writing
from attention.page.labs.cost.paper import KEPT, TOKENS, paper
from attention.page.labs.work import Words, work
from attention.page.parameters import Choice, Parameter, Values
from attention.page.settings import HEAD, LAYER, WORD
from attention.training.jobs import Run, Status

__all__ = ["COST", "KEPT", "LAB", "TOKENS"]

Side = Literal["time", "memory", "writing", "paper"]

ASKED_LENGTH = 1024  # where there is no text

COST: Parameter[Side] = Parameter("cost", Choice(lambda _: get_args(Side)), "time")
_SIDES: Mapping[Side, str] = {
    "time": message("Time"),
    "memory": message("Memory"),
    "writing": message("Writing"),
    "paper": message("On paper"),
}


# ------------------------------------------------------------------------------------- the question


def _guess(scene: HeadContext | None) -> Guess:
    """Ask how many scores there are with twice as many tokens."""
    queries, keys = (ASKED_LENGTH, ASKED_LENGTH) if scene is None else scene.steps.scores.shape
    cells = f"{queries * keys:,}"
    if scene is None:
        question = lesson("cost/guess-any", keys=f"{keys:,}", cells=cells)
    else:
        info = scene.info
        facts: dict[str, str | int] = {"queries": queries, "keys": keys, "cells": cells}
        question = lesson("cost/guess", model=word(info.name), kind=info.reading.kind, **facts)
    because = lesson(
        "cost/guess-because", queries=f"{2 * queries:,}", keys=f"{2 * keys:,}", cells=f"{4 * queries * keys:,}"
    )
    answers = (
        message("just as many"),
        message("twice as many"),
        message("four times as many"),
        message("eight times as many"),
    )
    return Guess(question, answers, because, frozenset({2}))


# -------------------------------------------------------------------------------------- the content


def _source(status: Status) -> Source:
    """Return this server's measurements or, without any, the bundled ones."""
    run = status.now or status.last
    if run is not None and run.frames:
        return Source(curves(points(run.frames)), lesson("cost/own"))
    machine = shipped().machine
    told = lesson("cost/shipped", day=machine.day, processor=word(machine.processor))
    return Source(curves(shipped().points), told)


def _status(runs: Runs | None) -> Status:
    return Status() if runs is None else runs.job(JOB)


def _before(values: Values, _: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return the growth of an LSTM, with attention's covered."""
    source = _source(_status(runs))
    alone = replace(source, curves={way: curve for way, curve in source.curves.items() if way == "lstm"})
    make: Mapping[Side, Callable[[], Blocks]] = {
        "time": lambda: time(alone, is_asked=True),
        "memory": lambda: memory(alone, is_asked=True),
        "writing": lambda: covered(writing(source)),
        "paper": lambda: covered(paper(values[TOKENS], values[KEPT])),
    }
    return _sides(values, source.told, {values[COST]: make[values[COST]]()})


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    status = _status(runs)
    source = _source(status)
    contents: Mapping[Side, Blocks] = {
        "time": time(source),
        "memory": memory(source),
        "writing": writing(source),
        "paper": paper(values[TOKENS], values[KEPT]),
    }
    yours = () if scene is None else (Prose(_tell_yours(scene)),)
    return (
        *_sides(values, source.told, contents),
        Section("measuring", (work("measure", JOB, status, _WORDS, is_here=runs is not None),), is_line=True),
        *yours,
        *tables(source.curves),
    )


def _sides(values: Values, told: str, contents: Mapping[Side, Blocks]) -> Blocks:
    """Return the sides to choose from; those that were measured begin with what is ``told`` of the machine."""
    named = {side: each if side == "paper" else (Prose(told, "detail"), *each) for side, each in contents.items()}
    return (
        Heading(message("How cost grows with length")),
        Panels("cost", COST, message("What is shown"), values[COST], _SIDES, named),
    )


def _tell_yours(scene: HeadContext) -> str:
    queries, keys = scene.steps.scores.shape
    n_layers, n_heads = len(scene.trace.attended), scene.info.n_heads
    return lesson(
        "cost/yours",
        kind=scene.info.reading.kind,
        model=word(scene.info.name),
        cells=count(queries * keys),
        heads=messages("{n} head", "{n} heads", n_heads),
        layers=messages("{n} layer", "{n} layers", n_layers),
        all=count(n_layers * n_heads * queries * keys),
    )


def _tell_going(run: Run) -> str:
    length = max((each.length for each in points(run.frames)), default=0)
    if not length:
        return message("Measuring")
    return message("Measuring up to {length} tokens", length=f"{length:,}")


def _tell_ended(_: Run, facts: Mapping[str, str]) -> str:
    return message("Measured on {date}: {how}.", **facts)


_WORDS = Words(
    message("Measure time and memory"),
    message("Measure again"),
    message("Not yet measured on this server. It takes half a minute."),
    _tell_going,
    _tell_ended,
)

LAB = Lab(
    address="cost",
    title=message("What it costs"),
    purpose=message("Time and memory of attention by length: measured, and on paper for a large model."),
    knobs=(COST, TOKENS, KEPT),
    guess=_guess,
    content=_content,
    before=_before,
    idle=always(WORD, LAYER, HEAD),
    job=JOB,
    without=frozenset({"mask"}),
    minutes=3,
)
