"""A model measured on many texts: batch by batch, once for all who look, and only while somebody does.

The key of a measurement is the hash of its texts, so that somebody's own sentences are found only by those who have the
very same ones.
"""

from __future__ import annotations

import hashlib
import logging
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any, Generic, Protocol, TypeVar

from cachetools import LRUCache

from attention.core.messages import message
from attention.experiments import corpus
from attention.experiments.study import Collector, Run, Study, StudyResult
from attention.experiments.syntax import SyntaxCheck, SyntaxResult
from attention.models import Model, ModelUnavailableError

__all__ = ["MAX_KEPT", "Measured", "Measurement", "Measurements", "content_key"]

_LOGGER = logging.getLogger(__name__)

# A measurement over 5,000 lines keeps their text, at most 1 MB, and sums of about 2 MB.
MAX_KEPT = 16

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Measures(Collector, Protocol[R_co]):
    """What adds up batches, and what comes of them so far."""

    def result(self) -> R_co:
        """Return the result so far."""


@dataclass(frozen=True, slots=True)
class Measured(Generic[R]):
    """How far a measurement of the model of this name is, and its result so far; why it cannot go on, if so."""

    name: str
    n_done: int
    n_texts: int
    n_unreadable: int
    n_cut: int
    result: R
    failure: str = ""

    @property
    def is_over(self) -> bool:
        """Whether everything is done, or no more can be."""
        return bool(self.failure) or self.n_done + self.n_unreadable == self.n_texts

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return (self.n_done + self.n_unreadable) / self.n_texts


class Measurement(Generic[R]):
    """A run of a model over texts, and its result so far. It goes on while somebody carries it on, and several can."""

    def __init__(
        self,
        model: Model,
        texts: Sequence[str],
        measures: Measures[R],
        turn: Callable[[], AbstractContextManager[object]] = nullcontext,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is run yet. Each batch waits for its ``turn``; ``clock`` returns the time in seconds."""
        self.run = Run(model, texts, measures)
        self.failure = ""
        # A failure that another attempt may put right.
        self.has_lost_its_model = False
        self.measures = measures
        self._name = model.info.name
        self._turn, self._clock = turn, clock
        self._lock = Lock()
        self._made: Measured[R] | None = None

    def is_over(self) -> bool:
        """Tell whether everything is done, or no more can be."""
        return self.run.is_finished or bool(self.failure)

    def carry_on(self, seconds: float) -> None:
        """Run batches until it is over, or so many seconds have passed; then keep nothing large in memory."""
        end = self._clock() + seconds
        while not self.is_over() and self._clock() < end:
            self.advance()
        with self._lock:
            self.run.rest()

    def advance(self) -> None:
        """Run the next batch."""
        with self._turn(), self._lock:
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
                    "%s failed with %s:\n%s", self._name, kind, "".join(traceback.format_tb(error.__traceback__))
                )
                self.failure = message(
                    "{name} failed on one of the sentences ({kind}); what it did before stands.",
                    name=self._name,
                    kind=kind,
                )

    def measured(self) -> Measured[R]:
        """Return how far it is, and the result so far, which is made once for each number of texts done."""
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
    """The most recently used measurements of a server, of which one runs a batch at a time."""

    def __init__(self, turns: Callable[[], AbstractContextManager[object]] = nullcontext) -> None:
        """Begin with none; in ``turns``, a batch takes turns with whoever runs a single sentence."""
        self._lock = Lock()
        self._one = BoundedSemaphore(1)
        self._turns = turns
        self._kept: LRUCache[str, Measurement[Any]] = LRUCache(MAX_KEPT)

    def study(self, model: Model, texts: Sequence[str]) -> Measurement[StudyResult | None]:
        """Return what all heads of a model do on average over texts."""
        return self._get(f"study {_identity(model)} {content_key(texts)}", model, texts, lambda: Study(model.info))

    def syntax(self, model: Model) -> Measurement[SyntaxResult]:
        """Return how often all heads of a model find what the annotated sentences say."""
        sentences = corpus.annotated()
        texts = [sentence.text for sentence in sentences]
        return self._get(f"syntax {_identity(model)}", model, texts, lambda: SyntaxCheck(model.info, sentences))

    def _get(self, key: str, model: Model, texts: Sequence[str], make: Callable[[], Measures[R]]) -> Measurement[R]:
        with self._lock:
            found: Measurement[R] | None = self._kept.get(key)
            if found is None or found.has_lost_its_model:
                found = self._kept[key] = Measurement(model, texts, make(), self._in_turn)
            return found

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        # All together have one turn; the others are left to whoever runs a single sentence.
        with self._one, self._turns():
            yield


def content_key(texts: Sequence[str]) -> str:
    """Return a key that only these texts have."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _identity(model: Model) -> str:
    return f"{model.info.model_id} {model.info.revision}"
