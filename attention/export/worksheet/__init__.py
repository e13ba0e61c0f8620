"""A view as a page to print: the step's matrix with blanks, tasks by hand, questions, and solutions.

It is data; :mod:`attention.export.worksheet.paper` writes it as HTML.
"""

from __future__ import annotations

from attention.export.worksheet.asked import elsewhere, questions_of
from attention.export.worksheet.base import Blank, Grid, Task, Worksheet
from attention.export.worksheet.by_hand import can_be_done, hand_of, tasks_of, worth_computing
from attention.export.worksheet.of_view import of_view
from attention.export.worksheet.paper import POLICY, paper
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, typed, word
from attention.lesson.steps.base import Step
from attention.page.page_file import plain

__all__ = ["POLICY", "Blank", "Grid", "Task", "Worksheet", "can_be_done", "paper", "worksheet_of", "worth_computing"]


def worksheet_of(
    step: Step, scene: HeadContext, small: HeadContext, *, text: str, place: str, notes: tuple[str, ...] = ()
) -> Worksheet:
    """Return the worksheet of a scene's step; its tasks are about ``small``, a head suitable for work by hand.

    ``text`` is the text read, and ``place`` the part of the run. ``small`` is the scene itself if its head is suitable.
    """
    hand, other = hand_of(small), elsewhere(scene)
    view, tasks = of_view(step, scene, hand if small is scene else None, other.word), tasks_of(hand)
    asked = (view, *tasks) if small is scene else (view,)
    return Worksheet(
        step.heading(scene),
        "" if scene.info.reading.is_laid_out else text,
        place,
        notes,
        view,
        tasks,
        _origin(scene, small),
        questions_of(step, other, asked),
    )


def _origin(scene: HeadContext, small: HeadContext) -> str:
    told = lesson("worksheet/origin", place=plain(small.place), focus=word(small.names[small.word]))
    if small is scene:
        return told
    told = lesson("worksheet/origin-other", model=plain(scene.info.name), d=scene.d_head) + told
    if small.trace.text == scene.trace.text:
        return told
    return told + lesson("worksheet/origin-text", text=typed(small.trace.text))
