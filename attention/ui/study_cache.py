"""Work over many texts that sessions share: done batch by batch, once for all users, and bounded in memory.

A job belongs to no session. Every session that looks at it runs a batch at a time, several sessions in turns; if none
does, it pauses. Its key is the hash of its texts, so that a user's own sentences are found only by those who have the
very same ones.
"""

from __future__ import annotations

import hashlib
import logging
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any, Generic, TypeVar

import streamlit as st
from cachetools import LRUCache

from attention import corpus
from attention.messages import message
from attention.models import Model, ModelUnavailableError
from attention.study import Collector, Run, Study
from attention.syntax import SyntaxCheck
from attention.ui.cache import turns

__all__ = ["Job", "Snapshot", "content_key", "counted_syntax", "find_job", "study_job", "syntax_job"]

_LOGGER = logging.getLogger(__name__)

# A job over 5,000 lines keeps their text, at most 1 MB, and sums of about 2 MB.
MAX_JOBS = 16

C = TypeVar("C", bound=Collector)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[R]):
    """The progress of a job at one moment, and its result at that point."""

    n_done: int
    n_texts: int
    n_unreadable: int
    n_cut: int
    result: R


class Job(Generic[C]):
    """A run of a model over texts, and its result so far."""

    def __init__(self, key: str, model: Model, texts: Sequence[str], collector: C, turn: BoundedSemaphore) -> None:
        """Prepare; nothing is run yet."""
        self.key = key
        self.name = model.info.name
        self.collector = collector
        self.run = Run(model, texts, collector)
        self.failure: str | None = None
        # A failure that another attempt may put right.
        self.has_lost_its_model = False
        self._turn = turn
        self._lock = Lock()
        self._made: Snapshot[Any] | None = None

    def is_over(self) -> bool:
        """Tell whether everything is done, or no more can be."""
        return self.run.is_finished or self.failure is not None

    def advance(self) -> None:
        """Run the next batch, in turn with sessions that only run a single sentence."""
        # All jobs together have one turn; the others are left to such sessions.
        with self._lock, self._turn, turns():
            if self.is_over():
                return
            try:
                self.run.step()
            except ModelUnavailableError as error:
                self.failure, self.has_lost_its_model = str(error), True
            except Exception as error:
                # Without the message, which may quote what was read.
                kind = type(error).__name__
                _LOGGER.error(
                    "%s failed with %s:\n%s", self.name, kind, "".join(traceback.format_tb(error.__traceback__))
                )
                self.failure = message(
                    "{name} failed on one of the sentences ({kind}); what it did before stands.",
                    name=self.name,
                    kind=kind,
                )

    def rest(self) -> None:
        """Keep nothing large in memory while nobody goes on."""
        with self._lock:
            self.run.rest()

    def snapshot(self, make: Callable[[C], R]) -> Snapshot[R]:
        """Return the result so far; ``make`` computes it from the collector, once for each number of texts done.

        For one job, ``make`` is always the same. The numbers are consistent even if another session goes on meanwhile.
        """
        with self._lock:
            run = self.run
            if self._made is None or self._made.n_done != run.n_done:
                self._made = Snapshot(run.n_done, run.n_texts, run.n_unreadable, run.n_cut, make(self.collector))
            found: Snapshot[R] = self._made
            return found


class _Jobs:
    """The most recently used jobs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._turn = BoundedSemaphore(1)
        self._jobs: LRUCache[str, Job[Any]] = LRUCache(MAX_JOBS)

    def get(self, key: str, make: Callable[[BoundedSemaphore], Job[C]]) -> Job[C]:
        with self._lock:
            found: Job[C] | None = self._jobs.get(key)
            if found is None or found.has_lost_its_model:
                found = self._jobs[key] = make(self._turn)
            return found

    def find(self, key: str) -> Job[Any] | None:
        with self._lock:
            return self._jobs.get(key)


@st.cache_resource(show_spinner=False)
def _jobs() -> _Jobs:
    return _Jobs()


def content_key(texts: Sequence[str]) -> str:
    """Return a key that only these texts have."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def find_job(key: str) -> Job[Any] | None:
    """Return the job with this key, if it is still there."""
    return _jobs().find(key)


def study_job(model: Model, texts: Sequence[str], content: str) -> Job[Study]:
    """Return the job that studies all heads of a model over texts; the first session that asks starts it."""
    key = f"study {_identity(model)} {content}"
    return _jobs().get(key, lambda turn: Job(key, model, texts, Study(model.info), turn))


def syntax_job(model: Model) -> Job[SyntaxCheck]:
    """Return the job that checks all heads of a model against the annotated sentences."""
    key = f"syntax {_identity(model)}"
    sentences = corpus.annotated()
    texts = [sentence.text for sentence in sentences]
    return _jobs().get(key, lambda turn: Job(key, model, texts, SyntaxCheck(model.info, sentences), turn))


def counted_syntax(model: Model, patience: float = 20.0) -> SyntaxCheck | None:
    """Return what all heads of a model do on the annotated sentences, counted if it has not been.

    None if that takes longer than so many seconds, or fails: what is counted by then is kept for the next who asks.
    """
    job, end = syntax_job(model), time.monotonic() + patience
    while not job.is_over() and time.monotonic() < end:
        job.advance()
    job.rest()
    return job.collector if job.run.is_finished else None


def _identity(model: Model) -> str:
    return f"{model.info.model_id} {model.info.revision}"
