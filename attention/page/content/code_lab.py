"""The code lab: attention written five ways, with each result on the user's text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attention.core.messages import message
from attention.experiments.five_ways import WAYS, Result, why_not
from attention.lesson.five_ways import shape_table, tell_five_ways, ways_table
from attention.lesson.steps import softmax
from attention.page.blocks import Blocks, Code, Notice, Panels, Picture, Prose, Row, Table
from attention.page.content.pane import Pane, missing
from attention.page.settings import WAY, WORD
from attention.page.view import View


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return how well the five ways agree, and the code and shapes of one of them, or of all on a ``whole`` page."""
    return tuple(block for pane in panes for block in _pane(view, pane, whole))


def _pane(view: View, pane: Pane, whole: bool) -> Blocks:
    scene, found = pane.scene, pane.found
    if scene is None or found is None:
        return missing(pane.reason)
    reason = why_not(scene.attention)
    if reason:
        told = message(
            "Not available for this layer of {name}: {reason}. Choose {others}.",
            name=scene.info.name,
            reason=reason,
            others=scene.use.others,
        )
        return (Notice(told),)
    results = found.five_ways()
    words = Prose(tell_five_ways(scene, results)), Table("lab_table", partial(ways_table, results), file="lab")
    weights = Picture("lab_weights", softmax.STEP.matrices(scene)[0], sets={"row": WORD})
    return (
        Row((words, (weights,)), (3, 2)),
        _ways(view, results, scene.info.reading.kind, whole),
    )


def _ways(view: View, results: list[Result], kind: str, whole: bool) -> Panels:
    shown = {way.file: result for way, result in zip(WAYS, results, strict=True)}
    made = shown if whole else {view[WAY]: shown[view[WAY]]}
    return Panels(
        "way",
        WAY,
        message("Written as"),
        view[WAY],
        {way.file: way.name for way in WAYS},
        {name: _one(result, kind) for name, result in made.items()},
        is_labelled=True,
    )


def _one(result: Result, kind: str) -> Blocks:
    note = Notice(message("Shapes of its variables, on this {kind}", kind=kind), is_quiet=True)
    shapes = Table("lab_shapes", partial(shape_table, result), is_whole=True)
    return (Row(((Code(result.way.source),), (note, shapes)), (3, 1)),)
