"""The current search task, on every page until it is handed in or dropped: one line with this view's score."""

from __future__ import annotations

import html
from collections.abc import Sequence

from attention.core.messages import message
from attention.lesson.tasks import Task, UnfitError, headline, task_of
from attention.page.blocks import Block, Blocks, Prose, Section, Way
from attention.page.content.find_it import judged
from attention.page.content.pane import Pane
from attention.page.pages import FIND_IT
from attention.page.settings import SOUGHT, TASK
from attention.page.view import View


def sought(view: View, panes: Sequence[Pane]) -> Blocks:
    """Return the line of the task that the link names; () without one, or on the task's own page."""
    task = task_of(view[SOUGHT])
    if task is None or view.page is FIND_IT:
        return ()
    told, is_solved = _verdict(task, view, panes)
    name = f"<strong>{html.escape(task.title)}</strong>"
    named = message("Find it: {task}", task=name)
    line = Prose(f"<p>{named}{told}</p>")
    return (Section("sought", (line, _back(task, view, is_solved=is_solved), _drop(view)), is_line=True),)


def _verdict(task: Task, view: View, panes: Sequence[Pane]) -> tuple[str, bool]:
    """Return the score as HTML, and whether the task is solved; empty if judging takes long or is impossible."""
    if not task.is_quick:
        return "", False
    try:
        verdict = judged(task, view, panes)
    except UnfitError:
        return "", False
    return f" · {html.escape(headline(verdict.score, is_solved=verdict.is_solved))}", verdict.is_solved


def _back(task: Task, view: View, *, is_solved: bool) -> Block:
    """Return the link to the task's page, where the view is judged."""
    there = view.for_page(FIND_IT).with_value(TASK, task.name)
    if is_solved:
        return Way("sought_back", message("Hand in ▸"), FIND_IT, there.with_value(SOUGHT, "").to_query())
    return Way("sought_back", message("Back to the task ▸"), FIND_IT, there.to_query())


def _drop(view: View) -> Block:
    return Way("sought_drop", message("Drop the task"), view.page, view.with_value(SOUGHT, "").to_query())
