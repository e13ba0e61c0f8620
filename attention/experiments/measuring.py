"""Measure a model on many texts in batches; users with the same texts share one measurement.

A measurement advances only while a user is waiting for it. Its key is a hash of the texts, so only a user with the very
same sentences can find it.
"""

from __future__ import annotations

import hashlib
import logging
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any, Generic, Protocol, TypeVar

from cachetools import LRUCache

from attention.core.messages import message
from attention.experiments import corpus
from attention.experiments.study import Collector, Run, Study, StudyResult
from attention.experiments.syntax import SyntaxCheck, SyntaxResult
from attention.models import Model, ModelUnavailableError

_LOGGER = logging.getLogger(__name__)

# A measurement over 5,000 lines holds their text, at most 1 MB, and sums of about 2 MB.
MAX_KEPT = 16

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Measures(Collector, Protocol[R_co]):
    """Accumulates batches and computes a result from them."""

    def result(self) -> R_co:
        """Return the result so far."""


@dataclass(frozen=True, slots=True)
class Measured(Generic[R]):
    """The progress of a measurement and its result so far; ``failure`` is the reason why it stopped early."""

    name: str
    n_done: int
    n_texts: int
    n_unreadable: int
    n_cut: int
    result: R
    failure: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it is finished or has failed."""
        return bool(self.failure) or self.n_done + self.n_unreadable == self.n_texts

    @property
    def share(self) -> float:
        """The completed share, from 0 to 1."""
        return (self.n_done + self.n_unreadable) / self.n_texts


class Measurement(Generic[R]):
    """A run of a model over texts with its result so far; any number of threads may advance it."""

    def __init__(
        self,
        model: Model,
        texts: Sequence[str],
        measures: Measures[R],
        turn: AbstractContextManager[object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare without running; each batch waits for its ``turn``, and ``clock`` returns seconds."""
        self.run = Run(model, texts, measures)
        self.failure = ""
        # A retry may succeed.
        self.has_lost_its_model = False
        self.measures = measures
        self._name = model.info.name
        self._turn, self._clock = turn, clock
        self._lock = Lock()
        self._made: Measured[R] | None = None

    def is_over(self) -> bool:
        """Return whether it is finished or has failed."""
        return self.run.is_finished or bool(self.failure)

    def carry_on(self, seconds: float) -> None:
        """Run batches for a number of seconds, then release large objects."""
        end = self._clock() + seconds
        while not self.is_over() and self._clock() < end:
            self.advance()
        with self._lock:
            self.run.rest()

    def advance(self) -> None:
        """Run the next batch."""
        with self._turn, self._lock:
            if self.is_over():
                return
            try:
                self.run.step()
            except ModelUnavailableError as error:
                self.failure, self.has_lost_its_model = str(error), True
            except Exception as error:
                # Without the message, which may quote the user's text.
                kind = type(error).__name__
                _LOGGER.error(
                    "%s failed with %s:\n%s", self._name, kind, "".join(traceback.format_tb(error.__traceback__))
                )
                self.failure = message(
                    "{name} failed on a sentence ({kind}). Results so far are kept.",
                    name=self._name,
                    kind=kind,
                )

    def measured(self) -> Measured[R]:
        """Return the progress and the result, which is computed once for each number of texts done."""
        with self._lock:
            run, made = self.run, self._made
            now = run.n_done, run.n_unreadable, self.failure
            if made is None or (made.n_done, made.n_unreadable, made.failure) != now:
                made = self._made = Measured(
                    self._name,
                    run.n_done,
                    run.n_texts,
                    run.n_unreadable,
                    run.n_cut,
                    self.measures.result(),
                    self.failure,
                )
            return made


class Measurements:
    """A server's most recently used measurements, of which one at a time runs a batch."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._one = BoundedSemaphore(1)
        self._kept: LRUCache[str, Measurement[Any]] = LRUCache(MAX_KEPT)

    def study(self, model: Model, texts: Sequence[str]) -> Measurement[StudyResult | None]:
        """Return the mean measures of all heads."""
        return self._get(f"study {_identity(model)} {content_key(texts)}", model, texts, lambda: Study(model.info))

    def syntax(self, model: Model) -> Measurement[SyntaxResult]:
        """Return the measurement of how often each head finds the annotated dependencies."""
        sentences = corpus.annotated()
        texts = [sentence.text for sentence in sentences]
        return self._get(f"syntax {_identity(model)}", model, texts, lambda: SyntaxCheck(model.info, sentences))

    def _get(self, key: str, model: Model, texts: Sequence[str], make: Callable[[], Measures[R]]) -> Measurement[R]:
        with self._lock:
            found: Measurement[R] | None = self._kept.get(key)
            if found is None or found.has_lost_its_model:
                found = self._kept[key] = Measurement(model, texts, make(), self._one)
            return found


def content_key(texts: Sequence[str]) -> str:
    """Return a hash of the texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _identity(model: Model) -> str:
    return f"{model.info.model_id} {model.info.revision}"
