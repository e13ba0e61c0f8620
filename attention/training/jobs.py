"""Long computations that visitors request: one at a time, for a bounded time, in a process of its own.

Further requests wait in a queue, one for each visitor. A run or a request that no visitor follows any more ends.

A process can be killed at any moment with all its memory, and pages need not wait for it. It runs on one core with low
priority and writes its results to standard output in frames: named arrays in NumPy's npz format, each preceded by its
number of bytes. The last result of each job is kept until the next one; some jobs keep it on disk too (see
``attention.training.last_run``).

A user's own text is passed through standard input, which no process list shows. The results are private: only the
user's ``Turn`` refers to them.
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

_LOGGER = logging.getLogger(__name__)
_SIZE = 8  # bytes of a frame's length
# The niceness of a job, from 0 to 19.
_NICE = 5
# A visitor who has not looked for this many seconds has left; browsers poll a hidden page once a second.
PATIENCE = 15.0
# The progress, from 0 to 1, in every frame.
SHARE = "share"

Frame = Mapping[str, Array]
# How a run ended; empty while it is running.
Ending = Literal["", "done", "stopped", "late", "failed"]
# The endings of runs that used all the time they could.
WHOLE = ("done", "late")


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, its module, and its time limit in seconds.

    ``accepts`` cleans a user's text for the job, or raises ``ValueError`` with a message for the user. ``checks``, if
    given, makes the last whole run outlive the server: it raises an error unless the frames, all single numbers, are
    valid.
    """

    name: str
    module: str
    most_seconds: float = 60.0
    accepts: Callable[[str], str] | None = None
    checks: Callable[[Sequence[Frame]], object] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: its arguments, owner and start, the frames so far, and how it ended.

    ``seconds`` is its duration once it has ended. A run that ``is_private`` has read its owner's text.
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
        """The progress, from 0 to 1."""
        return float(self.frames[-1][SHARE]) if self.frames else 0.0


@dataclass(frozen=True, slots=True)
class Status:
    """A job as one visitor sees it: its current run, its last run, and whether another job is running.

    ``is_own`` means that the visitor started the current run; another visitor's private run counts as another job.
    ``place`` is the visitor's place in the queue for this job, from 1, or 0; ``n_waiting`` is the queue's length.
    ``problem`` describes any problem with the visitor's last text.
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
    """Lower this process's priority."""
    if hasattr(os, "nice"):
        os.nice(_NICE)


def write_frame(stream: IO[bytes], share: float, **found: Array | np.generic) -> None:
    """Write results at a progress from 0 to 1."""
    packed = io.BytesIO()
    arrays: dict[str, Any] = {SHARE: np.float64(share), **found}
    np.savez(packed, **arrays)
    written = packed.getvalue()
    stream.write(len(written).to_bytes(_SIZE, "big") + written)
    stream.flush()


# ------------------------------------------------------------------------------------- in the server's


def read_frames(stream: IO[bytes]) -> Iterator[Frame]:
    """Yield a stream's frames as read-only arrays; an incomplete last one is dropped."""
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
    """Keeps the last runs of some jobs beyond the server's lifetime."""

    def keep(self, job: Job, run: Run) -> None:
        """Keep a run, if its job qualifies."""

    def find(self, job: Job) -> Run | None:
        """Return a job's kept run, if any."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something this server does for everyone in its own process when a visitor requests it."""

    name: str


# Download a model from the hub, or remove it.
FETCH, REMOVE = Task("fetch"), Task("remove")


# Compared by identity: two visitors may request the same.
@dataclass(slots=True, eq=False)
class Turn:
    """A visitor's request: ``run`` is None while it waits."""

    job: Job
    owner: str = field(repr=False)
    arguments: tuple[str, ...]
    text: str = field(repr=False)
    followed: float
    going: _RunningProcess | None = field(default=None, repr=False)
    failed: Run | None = field(default=None, repr=False)
    is_stopped: bool = False

    @property
    def run(self) -> Run | None:
        """The run so far; None before it starts."""
        return self.failed if self.going is None else self.going.run

    def is_seen(self, job: Job, owner: str) -> bool:
        """Return whether a visitor of a job's page may see its run."""
        run = self.run
        return run is not None and self.job == job and (not run.is_private or self.owner == owner)

    def stop(self) -> None:
        """Stop its run; it ends soon after."""
        if self.going is not None and not self.is_stopped:
            self.is_stopped = True
            self.going.stop("stopped")


class Jobs:
    """A server's jobs: the running one, the queue, and each job's last result."""

    def __init__(self, keeper: Keeper | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start idle; ``clock`` returns seconds."""
        self._lock = Lock()
        self._clock = clock
        self._now: Turn | None = None
        self._queue: list[Turn] = []
        self._keeper = keeper
        self._last: dict[str, Run | None] = {}

    def start(self, job: Job, arguments: tuple[str, ...] = (), owner: str = "", text: str = "") -> Turn | None:
        """Queue a job, with the text it reads, if any; None if the owner's own run of it is still going.

        A new request of a waiting owner replaces the old one and keeps its place. After a run that reads a text,
        nothing is kept here.
        """
        turn = Turn(job, owner, arguments, text, self._clock())
        with self._lock:
            if self._running_turn(job, owner) is not None:
                return None
            owners = [each.owner for each in self._queue]
            place = owners.index(owner) if owner in owners else len(owners)
            self._queue[place : place + 1] = [turn]
            self._start_next()
        return turn

    def stop(self, job: Job, owner: str = "") -> None:
        """Stop an owner's run of a job, or remove it from the queue."""
        with self._lock:
            self._queue = [each for each in self._queue if each.job != job or each.owner != owner]
            if (turn := self._running_turn(job, owner)) is not None:
                turn.stop()

    def status(self, job: Job, owner: str = "") -> Status:
        """Return a job's status. An owner who asks keeps following it; without an owner, it is only looked at."""
        with self._lock:
            followed = [each for each in self._queue if each.job == job and each.owner == owner]
            if self._now is not None and self._now.is_seen(job, owner):
                followed.append(self._now)
            for each in followed if owner else ():
                each.followed = self._clock()
            self._start_next()
            seen = self._now if self._now is not None and self._now.is_seen(job, owner) else None
            places = (place for place, each in enumerate(self._queue, start=1) if each in followed)
            return Status(
                None if seen is None else seen.run,
                self._last_run_of(job),
                is_busy=self._now is not None and seen is None,
                is_own=seen is not None and seen.owner == owner,
                place=next(places, 0),
                n_waiting=len(self._queue),
            )

    def wait(self, seconds: float) -> None:
        """Wait until nothing runs, at most this long."""
        end = time.monotonic() + seconds
        while (turn := self._now) is not None and turn.going is not None and time.monotonic() < end:
            turn.going.thread.join(max(0.0, end - time.monotonic()))

    def _running_turn(self, job: Job, owner: str) -> Turn | None:
        """Return an owner's run of a job unless it is stopping; the caller holds the lock."""
        turn = self._now
        is_own = turn is not None and (turn.job, turn.owner) == (job, owner)
        return turn if is_own and turn is not None and not turn.is_stopped else None

    def _last_run_of(self, job: Job) -> Run | None:
        """Return a job's last run, looked up on disk once; the caller holds the lock."""
        if job.name not in self._last:
            self._last[job.name] = None if self._keeper is None else self._keeper.find(job)
        return self._last[job.name]

    def _start_next(self) -> None:
        """Drop runs that no visitor follows and start the next if idle; the caller holds the lock."""
        oldest = self._clock() - PATIENCE
        self._queue = [each for each in self._queue if each.followed > oldest]
        if self._now is not None and self._now.followed <= oldest:
            self._now.stop()
        while self._now is None and self._queue:
            turn = self._queue.pop(0)
            run = Run(turn.arguments, turn.owner, datetime.now(tz=UTC), is_private=bool(turn.text))
            try:
                turn.going = _RunningProcess(turn.job, run, turn.text, self._on_frame, self._on_end)
                self._now, turn.text = turn, ""
            except OSError as error:
                _LOGGER.error("%s cannot be started: %s", turn.job.name, error.strerror)
                turn.failed = replace(run, ending="failed")
                self._keep(turn.job, turn.failed)

    def _on_frame(self) -> None:
        with self._lock:
            self._start_next()

    def _on_end(self, job: Job, run: Run) -> None:
        with self._lock:
            self._now = None
            self._keep(job, run)
            self._start_next()

    def _keep(self, job: Job, run: Run) -> None:
        """Keep a run, unless it was stopped or failed and would replace a complete one."""
        before = self._last_run_of(job)
        if not run.is_private and (run.ending in WHOLE or before is None or before.ending not in WHOLE):
            self._last[job.name] = run
            if self._keeper is not None and run.ending in WHOLE:
                self._keeper.keep(job, run)


class _RunningProcess:
    """A running process and the thread that reads its frames; ``run`` is the state so far."""

    def __init__(
        self, job: Job, run: Run, text: str, on_frame: Callable[[], None], on_end: Callable[[Job, Run], None]
    ) -> None:
        """Start it, and call ``on_frame`` after each frame and ``on_end`` at the end; raise OSError if it fails."""
        self.job, self.run, self._on_frame, self._on_end = job, run, on_frame, on_end
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
        """Kill it; its frames so far are kept."""
        self._ending = ending
        self._process.kill()

    def _follow(self, text: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        ending: Ending = "failed"
        try:
            # The process may end before it has read anything.
            with suppress(BrokenPipeError), self._process.stdin as stream:
                stream.write(text.encode())
            with self._process.stdout as stream:
                for frame in read_frames(stream):
                    self.run = replace(self.run, frames=(*self.run.frames, frame))
                    self._on_frame()
            is_well = self._process.wait() == 0
            ending = "done" if is_well else self._ending if self._ending != "done" else "failed"
        finally:
            self._timer.cancel()
            self._process.kill()
            self._process.wait()
            took = (datetime.now(tz=UTC) - self.run.began).total_seconds()
            self.run = replace(self.run, ending=ending, seconds=took)
            self._on_end(self.job, self.run)
