"""Search tasks, judged by the app from the link of a view: by a rule, from the record."""

from __future__ import annotations

from attention.lesson.tasks import adjective, change, it, layer, previous
from attention.lesson.tasks.base import Handed, ModelHead, Runs, Task, UnfitError, Verdict, both_sentences, headline

__all__ = [
    "TASKS",
    "Handed",
    "ModelHead",
    "Runs",
    "Task",
    "UnfitError",
    "Verdict",
    "both_sentences",
    "headline",
    "task_of",
]

TASKS: tuple[Task, ...] = (previous.TASK, adjective.TASK, it.TASK, layer.TASK, change.TASK)


def task_of(name: str) -> Task | None:
    """Return the task with this name; None if it does not exist."""
    return next((each for each in TASKS if each.name == name), None)
