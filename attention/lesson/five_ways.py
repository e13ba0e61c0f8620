"""The results of attention written five ways, in words and as tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.core.messages import message
from attention.experiments.five_ways import Result
from attention.figures.format import scientific
from attention.lesson.head_context import HeadContext
from attention.lesson.proof import TOLERANCE
from attention.lesson.prose import lesson, word


def ways_table(results: Sequence[Result]) -> dict[str, list[str | int]]:
    """Return each way's result, number of lines, difference from the model's own output, and time."""
    return {
        message("written as"): [result.way.name for result in results],
        message("gives"): [_given(result) for result in results],
        message("lines"): [_n_lines(result.way.source) for result in results],
        message("largest difference"): [scientific(result.difference.absolute) for result in results],
        message("milliseconds"): [f"{1000 * result.seconds:.3f}" for result in results],
    }


def _given(result: Result) -> str:
    return message("one head's output") if result.way.is_one_head else message("output of all heads")


def shape_table(result: Result) -> dict[str, list[str]]:
    """Return the shapes of a way's variables when it ran on this text."""
    shapes = [" × ".join(map(str, shape)) for shape in result.shapes.values()]
    return {message("variable"): list(result.shapes), message("shape"): shapes}


def tell_five_ways(scene: HeadContext, results: Sequence[Result]) -> str:
    """Return as HTML how well the five ways agree."""
    differences = [result.difference for result in results]
    told = lesson("five-ways/intro", model=word(scene.info.name), **scene.numbers)
    told += lesson(
        "five-ways/agree" if all(each.relative <= TOLERANCE for each in differences) else "five-ways/disagree",
        model=word(scene.info.name),
        largest=f"<b>{scientific(float(np.max([each.absolute for each in differences])))}</b>",
    )
    if not all(result.is_models_own for result in results):
        told += lesson("five-ways/not-kept", model=word(scene.info.name))
    return told


def _n_lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())
