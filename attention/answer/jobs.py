"""This server's training jobs, which a page starts, stops and follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.answer import state
from attention.answer.once import Owned, once
from attention.models.store import cache_dir
from attention.page.page import Page
from attention.page.pages import OF_LABS
from attention.training.jobs import Job, Jobs, Status, Turn
from attention.training.last_run import LastRuns

# How often a page shows progress.
REFRESH_SECONDS = 0.6


@once
def jobs() -> Jobs:
    """Return this server's jobs; some results survive a restart."""
    return Jobs(LastRuns(cache_dir() / "jobs"))


def status(job: Job) -> Status:
    """Return a job's status; only its visitor sees a private run."""
    own = _own(job)
    found = jobs().status(job, _session())
    run = None if own.turn is None else own.turn.run
    if run is not None and run.ending:
        found = replace(found, last=run)
    return replace(found, problem=own.problem)


def follows(page: Page) -> bool:
    """Tell whether a page must be redrawn regularly: its job is running, waiting or blocked by another."""
    for lab, found in OF_LABS.items():
        if found is page and lab.job is not None:
            known = status(lab.job)
            return known.now is not None or known.is_busy
    return False


def press(job: Job, arguments: tuple[str, ...], wish: object) -> None:
    """Start a job, perhaps with a text, or stop it; invalid requests are ignored."""
    match wish:
        case "start":
            _start(job, arguments, "")
        case {"start": str(text)} if job.accepts is not None:
            _start(job, arguments, text)
        case "stop":
            jobs().stop(job, _session())


def _start(job: Job, arguments: tuple[str, ...], given: str) -> None:
    own = _own(job)
    own.problem, text = "", ""
    if given and job.accepts is not None:
        try:
            text = job.accepts(given)
        except ValueError as error:
            own.problem = str(error)
            return
    turn = jobs().start(job, arguments, _session(), text)
    # None if a repeated press has already started it.
    if turn is not None:
        own.turn = turn if text else None


@dataclass(slots=True)
class _Own:
    """A visitor's last private run of a job, and any problem with its text."""

    problem: str = ""
    turn: Turn | None = None


@once
def _owned() -> Owned[_Own]:
    return Owned(_Own)


def _own(job: Job) -> _Own:
    if not _session():
        return _Own()
    return _owned().of(f"{_session()} {job.name}")


def _session() -> str:
    return state.visitor()
