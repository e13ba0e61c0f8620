"""A lab as a page: a question with a picture and, once it is answered, the lab's content."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attention.core.messages import message
from attention.figures.bars import Bars
from attention.figures.charts import Chart
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import Guess
from attention.lesson.tables import Columns, bars_table, chart_table, matrix_table
from attention.page.blocks import Blocks, Fold, Picture, Section, Setting, Table, Way, walk
from attention.page.content.pane import Pane, missing
from attention.page.content.quiz import Asked
from attention.page.labs import Lab
from attention.page.labs.base import ONWARD
from attention.page.pages import BY_ADDRESS
from attention.page.parameters import Parameter
from attention.page.view import View


def asked(lab: Lab, view: View, panes: Sequence[Pane]) -> Asked:
    """Return a lab's first question."""
    return Asked(view, is_asked=True, guess=_guess(lab, view, panes[0] if panes else None))


def idle(lab: Lab, view: View, panes: Sequence[Pane]) -> tuple[Parameter[Any], ...]:
    """Return which of word, layer and head do not affect the lab."""
    scene = panes[0].scene if panes else None
    return () if scene is None else lab.idle(view, scene)


def content(lab: Lab, view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the question and the picture before the answer, or the content; a ``whole`` page has the content."""
    pane = panes[0] if panes else None
    scene, found = (None, None) if pane is None else (pane.scene, pane.found)
    question = asked(lab, view, panes)
    if scene is None and not lab.content(view, None, None):
        return () if pane is None else missing(pane.reason)
    if question.is_open and not whole:
        return _under_switch(question.in_place(), lab.before(view, scene, found))
    first = question.in_place() if question.guess is not None and not question.is_open else ()
    ways = () if whole or scene is None else _ways(lab, view, scene)
    shown = _with_ways(lab.content(view, scene, found), ways)
    # Downloads are made from the link, which lacks pasted text; a saved page has no links.
    files = () if whole or (lab.job is not None and lab.job.accepts is not None) else _behind(shown)
    return (*_under_switch(first, shown), *files, *(() if pane is None else missing(pane.reason)))


def _under_switch(question: Blocks, blocks: Blocks) -> Blocks:
    """Put the question below a switch that the lab begins with: its height depends on the switch, which must stay."""
    n_above = int(isinstance(next(iter(blocks), None), Setting))
    return (*blocks[:n_above], *question, *blocks[n_above:])


def _ways(lab: Lab, view: View, scene: HeadContext) -> Blocks:
    found: list[Way] = []
    for number, onward in enumerate(lab.onward(view, scene), 1):
        there = view.for_page(BY_ADDRESS[onward.address])
        for parameter, value in onward.values:
            there = there.with_value(parameter, value)
        found.append(Way(f"way_onward_{number}", onward.label, there.page, there.to_query()))
    return tuple(found)


def _with_ways(blocks: Blocks, ways: Blocks) -> Blocks:
    """Return blocks with the placeholder for links filled, or removed if there are none."""
    filled = (Section(ONWARD, ways, is_line=True),) if ways else ()
    is_place = [isinstance(block, Section) and block.key == ONWARD for block in blocks]
    return tuple(each for block, here in zip(blocks, is_place, strict=True) for each in (filled if here else (block,)))


def _guess(lab: Lab, view: View, pane: Pane | None) -> Guess | None:
    scene = None if pane is None else pane.scene
    if lab.measured_guess is None or pane is None or scene is None or pane.found is None:
        return lab.guess(scene)
    return lab.measured_guess(view, scene, pane.found)


def _behind(blocks: Blocks) -> Blocks:
    """Return, folded, a file for each matrix and chart that has no table of its name on the page."""
    found = walk(blocks)
    files = {each.file for each in found if isinstance(each, Table)}
    drawn = {each.key: each.figure for each in found if isinstance(each, Picture)}
    tables = tuple(
        Table(f"{key}_numbers", partial(_columns, figure), file=key, is_shown=False)
        for key, figure in drawn.items()
        if isinstance(figure, Bars | Chart | Matrix) and key not in files
    )
    files_in_line = Section("behind_files", tables, is_line=True)
    return (Fold("behind", message("Numbers behind the pictures, as files"), (files_in_line,)),) if tables else ()


def _columns(figure: Bars | Chart | Matrix) -> Columns:
    if isinstance(figure, Matrix):
        return matrix_table(figure)
    return bars_table(figure) if isinstance(figure, Bars) else chart_table(figure.figure)
