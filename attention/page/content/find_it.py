"""The page of search tasks: a task's rule, and the verdict on the current view."""

from __future__ import annotations

import html
from collections.abc import Sequence

from attention.core.messages import message
from attention.core.words import folded
from attention.figures.matrix import Matrix
from attention.lesson.compare import Comparison, side_of
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, typed
from attention.lesson.survey import Look, head_matrix
from attention.lesson.tasks import (
    TASKS,
    Handed,
    ModelHead,
    Task,
    UnfitError,
    Verdict,
    both_sentences,
    headline,
    task_of,
)
from attention.page.blocks import Block, Blocks, Heading, Notice, Picture, Prose, Row, Section, Setting, Way
from attention.page.content.pane import Pane, missing
from attention.page.pages import BY_ADDRESS, COMPARE, FIND_IT
from attention.page.settings import BESIDE, CELL, HEAD, LAYER, OTHER, SOUGHT, STEP, TASK
from attention.page.view import View

# Pages with two sentences side by side.
_OF_TWO = (COMPARE, FIND_IT)


def run_as(view: View) -> View:
    """Return the view to run: one model, no cell opened."""
    return view.without(STEP, BESIDE, CELL, OTHER.cell)


def judged(task: Task, view: View, panes: Sequence[Pane], given: ModelHead | None = None) -> Verdict:
    """Judge a view and its runs.

    Raises:
        UnfitError: the task cannot judge the view.
    """
    return task.judge(_handed(view, panes[0] if panes else None, given))


def _handed(view: View, pane: Pane | None, given: ModelHead | None) -> Handed:
    if pane is None:
        raise UnfitError(message("This view has no sentence."))
    if pane.reason is not None:
        raise UnfitError(str(pane.reason))
    if pane.scene is None or pane.found is None or pane.notices:
        raise UnfitError(" ".join(pane.notices))
    if not pane.info.reading.takes_sentences:
        raise UnfitError(message("{name} does not read English. Choose another model.", name=pane.info.name))
    if view.mask != "none":
        raise UnfitError(message("This view has a mask. Choose “none”."))
    if pane.pair:
        raise UnfitError(message("This view has a second sentence. Remove it."))
    if view.page is COMPARE and view[BESIDE]:
        raise UnfitError(message("This view compares two models. Compare two sentences."))
    _, *second = sentences(view)
    is_open = view.page in _OF_TWO and view[LAYER] is None and view[HEAD] is None
    return Handed(pane.scene, pane.found, "".join(second), is_open, given)


def sentences(view: View) -> tuple[str, ...]:
    """Return the sentence of a view and, if its page compares two, the second."""
    has_two = view.page is COMPARE or (view.page is FIND_IT and _task(view).is_of_two)
    return (view.text, view.versus) if view.versus and has_two else (view.text,)


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the rule of the chosen task and the verdict; a ``whole`` page has all rules."""
    task = _task(view)
    options = {each.name: each.title for each in TASKS}
    choice = Setting(TASK, message("Task"), task.name, options, clears=(SOUGHT,))
    others = [each for each in TASKS if whole and each is not task]
    return (
        Section("tasks", (choice,), is_line=True),
        Row(
            (
                _picture(task, view, panes),
                (Heading(task.title), Prose(task.rule(None)), _verdict(task, view, panes), _ways(task, view)),
            )
        ),
        Prose(lesson("find/how"), "detail"),
        *missing(panes[0].reason if panes else None),
        *(block for each in others for block in (Heading(each.title), Prose(each.rule(None)))),
    )


def _task(view: View) -> Task:
    """Return the task chosen on this page or, failing that, the one being sought."""
    chosen = view[TASK] if view[TASK] != TASK.default or not view[SOUGHT] else view[SOUGHT]
    task = task_of(chosen)
    assert task is not None
    return task


def _picture(task: Task, view: View, panes: Sequence[Pane]) -> Blocks:
    """Return the judged weights: the head's or, for two sentences, one word's row in both."""
    scene = panes[0].scene if panes else None
    if scene is None:
        return ()
    if task.is_of_two:
        try:
            first, second = both_sentences(_handed(view, panes[0], None))
        except UnfitError:
            pass
        else:
            return (Picture("judged", _changed_row(first, second)),)
    return (Picture("judged", head_matrix(scene, Look(), scene.head)),)


def _changed_row(first: HeadContext, second: HeadContext) -> Matrix:
    """Return the row of “it” in both sentences or, without one, the row that changes most."""
    compared = Comparison(
        side_of(first, message("The first sentence")), side_of(second, message("The second sentence"))
    )
    changed = compared.most_changed()
    its = [row for row, unit in enumerate(compared.units) if folded(unit) == "it"]
    return compared.row_picture(its[0] if its else changed[0] if changed else 0)


def _ways(task: Task, view: View) -> Block:
    page = BY_ADDRESS[task.page]
    sought = {SOUGHT.name: task.name}
    example = Way(
        "find_example", message("Start with an example: {page} ▸", page=page.title), page, {**task.start(), **sought}
    )
    query = {**view.for_page(page).to_query(), **sought}
    own = Way("find_own", message("With your sentence: {page} ▸", page=page.title), page, query)
    return Section("find_ways", (example, own), is_line=True)


def _next(task: Task, view: View) -> Blocks:
    """Return the link to the task after a solved one, if there is one."""
    after = TASKS[TASKS.index(task) + 1 :][:1]
    return tuple(
        Way(
            "find_next",
            message("Next: {task} ▸", task=each.title),
            FIND_IT,
            view.with_value(TASK, each.name).to_query(),
        )
        for each in after
    )


def _verdict(task: Task, view: View, panes: Sequence[Pane]) -> Block:
    seen = Prose(f"<p>{' · '.join(map(typed, sentences(view)))}</p>", "detail")
    try:
        verdict = judged(task, view, panes)
    except UnfitError as unfit:
        said: Blocks = (Notice(str(unfit)),)
    else:
        told = html.escape(headline(verdict.score, is_solved=verdict.is_solved))
        said = (
            Prose(f"<p><strong>{told}</strong></p>{verdict.told}"),
            *(_next(task, view) if verdict.is_solved else ()),
        )
    return Section("find_verdict", (Heading(message("Your view"), 3), seen, *said), is_framed=True)
