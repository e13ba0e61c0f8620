"""A long job of a lab: its button, its progress, and its last result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attention.core.messages import message, messages
from attention.page.blocks import LongText, Work
from attention.page.parameters import Parameter
from attention.training.jobs import Job, Run, Status


@dataclass(frozen=True, slots=True)
class Words:
    """The job's texts: the button for the first run and for another, and the message before any run.

    ``going`` returns a run's progress; ``ended`` its result, given its date and how it ended.
    """

    start: str
    again: str
    nothing: str
    going: Callable[[Run], str]
    ended: Callable[[Run, Mapping[str, str]], str]


def work(
    key: str,
    job: Job,
    status: Status,
    words: Words,
    *,
    is_here: bool,
    arguments: tuple[str, ...] = (),
    clears: tuple[Parameter[Any], ...] = (),
    text: LongText | None = None,
) -> Work:
    """Return the button or the progress; the button is disabled unless the page ``is_here``, not in a file."""
    run = status.now or status.last
    told = words.nothing if run is None else _run_message(run, words)
    stops = message("Stop") if status.now is not None and status.is_own else ""
    return Work(
        key,
        job,
        arguments,
        words.start if run is None else words.again,
        " ".join((told, *_queue_messages(status))),
        share=None if status.now is None else status.now.share,
        is_off=not is_here,
        stops=message("Leave the queue") if status.place else stops,
        clears=clears,
        text=text,
    )


def _queue_messages(status: Status) -> Iterator[str]:
    if status.is_busy:
        yield message("Something else is running.")
    if status.place:
        yield message(
            "You are number {place} of {n} in the queue. Keep this page open.",
            place=status.place,
            n=status.n_waiting,
        )
    elif status.n_waiting:
        yield messages("{n} visitor is waiting.", "{n} visitors are waiting.", status.n_waiting)


def _run_message(run: Run, words: Words) -> str:
    if not run.ending:
        return words.going(run)
    seconds = f"{run.seconds:.0f}"
    how = {
        "done": message("in {seconds} s", seconds=seconds),
        "late": message("time ran out after {seconds} s", seconds=seconds),
        "stopped": message("stopped after {seconds} s", seconds=seconds),
        "failed": message("failed"),
    }
    return words.ended(run, {"date": f"{run.began.astimezone():%Y-%m-%d %H:%M}", "how": how[run.ending]})
