"""Something long that the server does when it is asked to: one at a time, for a bounded time, in a process of its own.

Who asks while something goes on has a place in a queue, one for each visitor, and the first in it is the next. A run
that nobody follows any more ends, and so does a place in the queue.

A process can be stopped at any moment and takes all its memory with it, and the pages of this one need not wait for it.
It runs on one core and lets everything else go first. What it finds, it writes to its standard output in frames: named
arrays, in NumPy's own format, with the number of bytes before them. The last result of each job is kept until there is
another one, for whoever comes next; of those that say so, on disk (see ``attention.training.last_run``).

Where a job is given a text of somebody's own, it reads that from its standard input, which no list of processes shows.
What comes of it is for whoever has started it alone, who keeps the only hold on it.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock, Thread, Timer
from typing import IO, Any, Literal, Protocol

import numpy as np
from numpy import ndarray as Array

from attention.core.paths import ROOT

__all__ = [
    "FETCH",
    "REMOVE",
    "SHARE",
    "WHOLE",
    "Ending",
    "Frame",
    "Job",
    "Jobs",
    "Keeper",
    "Run",
    "Status",
    "Task",
    "Turn",
    "give_way",
    "read_frames",
    "write_frame",
]

_LOGGER = logging.getLogger(__name__)
_SIZE = 8  # bytes before each frame
# How much others go before a job, on a scale from 0 to 19.
_NICE = 5
# Who has not looked for so many seconds follows no more; a browser looks once a second at a page that is not in sight.
PATIENCE = 15.0
# What each frame has beside what is found: how much is done, from 0 to 1.
SHARE = "share"

Frame = Mapping[str, Array]
# How a run has ended; one that goes on has not.
Ending = Literal["", "done", "stopped", "late", "failed"]
# Those by which a run has taken all the time that it could.
WHOLE = ("done", "late")


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, the module that does it, and how many seconds it may take at most.

    One that can be given a text has ``accepts``, which returns a text as it is read, and raises ``ValueError`` with a
    sentence for the user if it cannot be.

    If the last run that took all its time is to outlive the server, ``checks`` reads its frames, all of them single
    numbers, and raises an error if they are not what the job finds.
    """

    name: str
    module: str
    most_seconds: float = 60.0
    accepts: Callable[[str], str] | None = None
    checks: Callable[[Sequence[Frame]], object] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: what it was started with, by whom and when, what it has found until now, and how it ended.

    ``seconds`` is how long it took, once it has ended. One that ``is_private`` has read a text of its owner's.
    """

    arguments: tuple[str, ...]
    owner: str = field(repr=False)
    began: datetime
    frames: tuple[Frame, ...] = field(default=(), repr=False)
    ending: Ending = ""
    seconds: float = 0.0
    is_private: bool = False

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return float(self.frames[-1][SHARE]) if self.frames else 0.0


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of a job: the run that goes on, the last one that has ended, and whether another job goes on.

    ``is_own`` tells whether the run that goes on was started by whoever asks. A private run of somebody else's is like
    another job. ``place`` is where in the queue whoever asks waits for this job, counted from 1, and 0 if nowhere;
    ``n_waiting`` how long the queue is, and ``problem`` what was wrong with the last text that whoever asks has
    given it to read.
    """

    now: Run | None = None
    last: Run | None = None
    is_busy: bool = False
    is_own: bool = False
    place: int = 0
    n_waiting: int = 0
    problem: str = ""


# ------------------------------------------------------------------------------- in the job's own process


def give_way() -> None:
    """Let all other processes of this machine go first."""
    if hasattr(os, "nice"):
        os.nice(_NICE)


def write_frame(stream: IO[bytes], share: float, **found: Array | np.generic) -> None:
    """Write what is found when so much is done."""
    packed = io.BytesIO()
    arrays: dict[str, Any] = {SHARE: np.float64(share), **found}
    np.savez(packed, **arrays)
    written = packed.getvalue()
    stream.write(len(written).to_bytes(_SIZE, "big") + written)
    stream.flush()


# ------------------------------------------------------------------------------------- in the server's


def read_frames(stream: IO[bytes]) -> Iterator[Frame]:
    """Yield the frames of a stream until it ends, be it in the midst of one; nobody can change them."""
    while len(size := stream.read(_SIZE)) == _SIZE:
        n_bytes = int.from_bytes(size, "big")
        if len(written := stream.read(n_bytes)) < n_bytes:
            return
        with np.load(io.BytesIO(written), allow_pickle=False) as packed:
            frame = dict(packed)
        for each in frame.values():
            each.flags.writeable = False
        yield frame


class Keeper(Protocol):
    """Where the last runs of some jobs outlive the server."""

    def keep(self, job: Job, run: Run) -> None:
        """Keep a run, if the job is one of them."""

    def find(self, job: Job) -> Run | None:
        """Return the run that is kept of a job; None if there is none."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something that this server does in its own process, for everybody, when a visitor asks for it: its name."""

    name: str


# A model is fetched from the hub, or what was fetched is removed.
FETCH, REMOVE = Task("fetch"), Task("remove")


# Compared by identity: two visitors may ask for the same.
@dataclass(slots=True, eq=False)
class Turn:
    """What a visitor has asked for: it waits, and ``run`` is None; then it goes on, and then ``run`` has ended."""

    job: Job
    owner: str = field(repr=False)
    arguments: tuple[str, ...]
    text: str = field(repr=False)
    followed: float
    going: _Going | None = field(default=None, repr=False)
    failed: Run | None = field(default=None, repr=False)
    is_stopped: bool = False

    @property
    def run(self) -> Run | None:
        """The run as far as it is; None before it begins."""
        return self.failed if self.going is None else self.going.run

    def is_seen(self, job: Job, owner: str) -> bool:
        """Tell whether somebody who looks at a job may see its run."""
        run = self.run
        return run is not None and self.job == job and (not run.is_private or self.owner == owner)

    def stop(self) -> None:
        """Stop its run: it is about to end."""
        if self.going is not None and not self.is_stopped:
            self.is_stopped = True
            self.going.stop("stopped")


class Jobs:
    """The jobs of a server: what goes on, what waits, and what came of each the last time."""

    def __init__(self, keeper: Keeper | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing to do; what came of a job before is looked up when somebody asks for it.

        ``clock`` returns the time in seconds.
        """
        self._lock = Lock()
        self._clock = clock
        self._now: Turn | None = None
        self._queue: list[Turn] = []
        self._keeper = keeper
        self._last: dict[str, Run | None] = {}

    def start(self, job: Job, arguments: tuple[str, ...] = (), owner: str = "", text: str = "") -> Turn | None:
        """Start a job, which reads the text if there is one, or have it wait; None if the owner's own goes on already.

        Whoever waits already keeps the place. Of a run that reads a text, nothing is kept here once it has ended.
        """
        turn = Turn(job, owner, arguments, text, self._clock())
        with self._lock:
            if self._own(job, owner) is not None:
                return None
            owners = [each.owner for each in self._queue]
            place = owners.index(owner) if owner in owners else len(owners)
            self._queue[place : place + 1] = [turn]
            self._go_on()
        return turn

    def stop(self, job: Job, owner: str = "") -> None:
        """Stop a job, or have it wait no longer; only whoever has started it can."""
        with self._lock:
            self._queue = [each for each in self._queue if each.job != job or each.owner != owner]
            if (turn := self._own(job, owner)) is not None:
                turn.stop()

    def status(self, job: Job, owner: str = "") -> Status:
        """Return what is known of a job, to an owner who follows it by that; without one, it is only looked at."""
        with self._lock:
            followed = [each for each in self._queue if each.job == job and each.owner == owner]
            if self._now is not None and self._now.is_seen(job, owner):
                followed.append(self._now)
            for each in followed if owner else ():
                each.followed = self._clock()
            self._go_on()
            seen = self._now if self._now is not None and self._now.is_seen(job, owner) else None
            places = (place for place, each in enumerate(self._queue, start=1) if each in followed)
            return Status(
                None if seen is None else seen.run,
                self._of(job),
                is_busy=self._now is not None and seen is None,
                is_own=seen is not None and seen.owner == owner,
                place=next(places, 0),
                n_waiting=len(self._queue),
            )

    def wait(self, seconds: float) -> None:
        """Wait until nothing goes on, but no longer than this."""
        end = time.monotonic() + seconds
        while (turn := self._now) is not None and turn.going is not None and time.monotonic() < end:
            turn.going.thread.join(max(0.0, end - time.monotonic()))

    def _own(self, job: Job, owner: str) -> Turn | None:
        """Return an owner's run of a job that goes on and is not to end; whoever asks has the lock."""
        turn = self._now
        is_own = turn is not None and (turn.job, turn.owner) == (job, owner)
        return turn if is_own and turn is not None and not turn.is_stopped else None

    def _of(self, job: Job) -> Run | None:
        """Return the last run of a job, looked up on disk once; whoever asks has the lock."""
        if job.name not in self._last:
            self._last[job.name] = None if self._keeper is None else self._keeper.find(job)
        return self._last[job.name]

    def _go_on(self) -> None:
        """Let go of what nobody follows, and begin what is next if nothing goes on; whoever asks has the lock."""
        oldest = self._clock() - PATIENCE
        self._queue = [each for each in self._queue if each.followed > oldest]
        if self._now is not None and self._now.followed <= oldest:
            self._now.stop()
        while self._now is None and self._queue:
            turn = self._queue.pop(0)
            run = Run(turn.arguments, turn.owner, datetime.now(tz=UTC), is_private=bool(turn.text))
            try:
                turn.going = _Going(turn.job, run, turn.text, self._heard, self._end)
                self._now, turn.text = turn, ""
            except OSError as error:
                _LOGGER.error("%s cannot be started: %s", turn.job.name, error.strerror)
                turn.failed = replace(run, ending="failed")
                self._keep(turn.job, turn.failed)

    def _heard(self) -> None:
        """Look after the queue whenever a run has found something."""
        with self._lock:
            self._go_on()

    def _end(self, job: Job, run: Run) -> None:
        """Keep what came of a run, and begin what is next."""
        with self._lock:
            self._now = None
            self._keep(job, run)
            self._go_on()

    def _keep(self, job: Job, run: Run) -> None:
        """Keep what came of a run; one that was stopped, or failed, takes no place of one that was not."""
        before = self._of(job)
        if not run.is_private and (run.ending in WHOLE or before is None or before.ending not in WHOLE):
            self._last[job.name] = run
            if self._keeper is not None and run.ending in WHOLE:
                self._keeper.keep(job, run)


class _Going:
    """A run that goes on, and the thread that reads what it finds; ``run`` is how far it is, or how it ended."""

    def __init__(
        self, job: Job, run: Run, text: str, heard: Callable[[], None], end: Callable[[Job, Run], None]
    ) -> None:
        """Start it, give it the text, and call ``heard`` after each frame, and ``end`` when it has ended.

        Raises:
            OSError: it cannot be started.
        """
        self.job, self.run, self._heard, self._end = job, run, heard, end
        self._ending: Ending = "done"
        self._process = subprocess.Popen(  # noqa: S603 - the project's own module, and arguments that a page has checked
            [sys.executable, "-m", job.module, *run.arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self._timer = Timer(job.most_seconds, self.stop, ["late"])
        self._timer.daemon = True
        self.thread = Thread(target=self._follow, args=(text,), name=f"job {job.name}", daemon=True)
        self._timer.start()
        self.thread.start()

    def stop(self, ending: Ending) -> None:
        """Stop it; what it has found until now stands."""
        self._ending = ending
        self._process.kill()

    def _follow(self, text: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        ending: Ending = "failed"
        try:
            # A process may end before it has read anything.
            with suppress(BrokenPipeError), self._process.stdin as stream:
                stream.write(text.encode())
            with self._process.stdout as stream:
                for frame in read_frames(stream):
                    self.run = replace(self.run, frames=(*self.run.frames, frame))
                    self._heard()
            is_well = self._process.wait() == 0
            ending = "done" if is_well else self._ending if self._ending != "done" else "failed"
        finally:
            self._timer.cancel()
            self._process.kill()
            self._process.wait()
            took = (datetime.now(tz=UTC) - self.run.began).total_seconds()
            self.run = replace(self.run, ending=ending, seconds=took)
            self._end(self.job, self.run)
