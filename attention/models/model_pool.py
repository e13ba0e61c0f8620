"""The models in memory, limited in number and size: the least recently used is unloaded first, never one in use."""

from __future__ import annotations

import logging
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread
from typing import Any

from attention.core.ablation import Change, Output
from attention.core.messages import message
from attention.core.trace import ModelInfo
from attention.models.base import Model, ModelUnavailableError
from attention.models.memory import Needed, allowed_bytes
from attention.models.store import OnProgress, Progress

_LOGGER = logging.getLogger(__name__)

MAX_MODELS_VARIABLE, DEFAULT_MAX_MODELS = "ATTENTION_MAX_MODELS", 4
# Seconds before a failed load is tried again: the missing file may be there by then.
RETRY_SECONDS = 5.0
# The interval of progress reports to a waiting caller.
_REPORT_SECONDS = 0.2

Load = Callable[[str, OnProgress], Model]


def max_models() -> int:
    """Return how many models may be in memory: ``ATTENTION_MAX_MODELS``, at least one."""
    chosen = os.environ.get(MAX_MODELS_VARIABLE, "").strip()
    return max(1, int(chosen)) if chosen.isdecimal() else DEFAULT_MAX_MODELS


class _Slot:
    """The place of one model; empty while it is being loaded."""

    def __init__(self, n_bytes: int, used_at: float) -> None:
        self.model: Model | None = None
        # The memory of the model and the record of a long text.
        self.n_bytes = n_bytes
        self.progress: Progress | None = None
        self.n_users = 0
        self.used_at = used_at


class ModelPool:
    """Models by ID, loaded on demand.

    Callers that ask for the same model share one load, which continues even if they leave; callers of other models do
    not wait. If every slot is in use, or memory is short, a caller waits for room. A single model always has room,
    because the catalogue has none above the owner's limit.
    """

    def __init__(
        self,
        load: Load,
        limit: int,
        *,
        uncounted: frozenset[str] = frozenset(),
        on_put_out: Callable[[str], None] | None = None,
        info_of: Callable[[str], ModelInfo | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start empty; the ``uncounted`` models are so small that they always stay.

        ``on_put_out`` is called with the ID of an unloaded model, to release everything that shares its memory.
        ``info_of`` returns a model's current description, or None: a model of another revision is reloaded, and all
        models together stay below ``ATTENTION_MAX_MEMORY_MB``.
        """
        self._load = load
        self._limit = limit
        self._uncounted = uncounted
        self._on_put_out = on_put_out
        self._info_of = info_of
        self._clock = clock
        self._changed = Condition()
        self._slots: dict[str, _Slot] = {}
        self._failures: dict[str, tuple[ModelUnavailableError, float]] = {}
        self._kept_out: set[str] = set()

    @contextmanager
    def borrow(self, model_id: str, on_wait: Callable[[Progress | None], None] | None = None) -> Iterator[Model]:
        """Lend a model for the duration of the block, loading it first if necessary.

        ``on_wait`` is called repeatedly while it loads, with the progress if known.

        Raises:
            ModelUnavailableError: it cannot be loaded; a call a little later tries again.
        """
        slot, model = self._acquire(model_id, on_wait)
        try:
            yield model
        finally:
            with self._changed:
                slot.n_users -= 1
                slot.used_at = self._clock()
                self._changed.notify_all()

    def in_memory(self) -> frozenset[str]:
        """Return the IDs of the loaded models."""
        with self._changed:
            return frozenset(model_id for model_id, slot in self._slots.items() if slot.model is not None)

    @contextmanager
    def kept_out(self, model_id: str, idle_seconds: float = 0.0) -> Iterator[bool]:
        """Unload a model for the duration of the block; callers that ask for it wait.

        Yields False if it is in use, was used within ``idle_seconds``, is being loaded, or is already kept out.
        """
        with self._changed:
            is_out = model_id not in self._kept_out and self._put_out(model_id, idle_seconds)
            if is_out:
                self._kept_out.add(model_id)
        try:
            yield is_out
        finally:
            if is_out:
                with self._changed:
                    self._kept_out.remove(model_id)
                    self._changed.notify_all()

    def _put_out(self, model_id: str, idle_seconds: float) -> bool:
        slot = self._slots.get(model_id)
        if slot is not None:
            if slot.model is None or slot.n_users or self._clock() - slot.used_at < idle_seconds:
                return False
            self._drop(model_id)
        self._failures.pop(model_id, None)
        self._changed.notify_all()
        return True

    def _acquire(self, model_id: str, on_wait: Callable[[Progress | None], None] | None) -> tuple[_Slot, Model]:
        # Asked once, outside the lock. If files change while they are loaded, the result is accepted: otherwise, files
        # that are constantly written to would be loaded for ever.
        info = None if self._info_of is None else self._info_of(model_id)
        revision, n_bytes = (None, 0) if info is None else (info.revision, Needed.by(info).total)
        while True:
            with self._changed:
                slot = self._slots.get(model_id)
                if slot is not None and slot.model is not None:
                    if revision is None or slot.model.info.revision == revision:
                        slot.n_users += 1
                        return slot, slot.model
                    if not slot.n_users:
                        self._drop(model_id)
                        slot = None
                if slot is None and model_id not in self._kept_out:
                    self._check_failure(model_id)
                    slot, revision = self._start_loading(model_id, n_bytes), None
                self._changed.wait(_REPORT_SECONDS)
                progress = None if slot is None else slot.progress
            # Outside the lock: a page's run may be stopped here, because its user has left.
            if on_wait is not None:
                on_wait(progress)

    def _check_failure(self, model_id: str) -> None:
        error, failed_at = self._failures.get(model_id, (None, 0.0))
        if error is None:
            return
        if self._clock() - failed_at < RETRY_SECONDS:
            raise ModelUnavailableError(str(error), error.remedy)
        del self._failures[model_id]

    def _start_loading(self, model_id: str, n_bytes: int) -> _Slot | None:
        """Make room for a model and start to load it; None if there is no room yet."""
        if model_id not in self._uncounted and not self._make_room(n_bytes):
            return None
        slot = self._slots[model_id] = _Slot(n_bytes, self._clock())
        Thread(target=self._load_into, args=(model_id, slot), name=f"load {model_id}", daemon=True).start()
        return slot

    def _make_room(self, n_bytes: int) -> bool:
        """Unload idle models until a model of this size has room; none if that is not enough."""
        left = {model_id: slot for model_id, slot in self._slots.items() if model_id not in self._uncounted}
        idle = [model_id for model_id, slot in left.items() if slot.model is not None and not slot.n_users]
        idle.sort(key=lambda model_id: left[model_id].used_at, reverse=True)
        most = allowed_bytes()
        going = []
        while len(left) >= self._limit or (left and sum(slot.n_bytes for slot in left.values()) + n_bytes > most):
            if not idle:
                return False
            going.append(idle.pop())
            del left[going[-1]]
        for model_id in going:
            self._drop(model_id)
        return True

    def _drop(self, model_id: str) -> None:
        del self._slots[model_id]
        if self._on_put_out is not None:
            self._on_put_out(model_id)

    def _load_into(self, model_id: str, slot: _Slot) -> None:
        def note(progress: Progress) -> None:
            slot.progress = progress

        model, failure = None, None
        try:
            model = self._load(model_id, note)
        except ModelUnavailableError as error:
            # Without its traceback, which would keep every frame alive.
            failure = error.with_traceback(None)
        except BaseException as error:  # waiting callers must learn of any failure
            kind = type(error).__name__
            frames = "".join(traceback.format_tb(error.__traceback__))
            _LOGGER.error("%s cannot be loaded: %s: %s\n%s", model_id, kind, error, frames)
            failure = ModelUnavailableError(
                message("Couldn't load {model_id} ({kind}).", model_id=model_id, kind=kind), ""
            )
        with self._changed:
            if failure is None:
                slot.model, slot.used_at = model, self._clock()
            else:
                del self._slots[model_id]
                self._failures[model_id] = failure, self._clock()
            self._changed.notify_all()


class ShelvedModel:
    """A model of a pool that may be kept for long: it is in use only while it runs, and may be unloaded in between.

    Every method raises ``ModelUnavailableError`` if the model cannot be reloaded or has been replaced by another
    revision.
    """

    def __init__(self, pool: ModelPool, info: ModelInfo) -> None:
        self._pool = pool
        self._info = info

    @property
    def info(self) -> ModelInfo:
        """The model's description."""
        return self._info

    def outputs(self, text: str, pair: str | None, changes: Sequence[Change]) -> Iterator[Output]:
        """See ``Model.outputs``; the model is in use until the last output."""
        with self._borrowed() as model:
            yield from model.outputs(text, pair, changes)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return another method of ``Model``."""
        if name.startswith("_") or not hasattr(Model, name):
            raise AttributeError(name)

        def call(*args: object, **options: object) -> object:
            with self._borrowed() as model:
                return getattr(model, name)(*args, **options)

        return call

    @contextmanager
    def _borrowed(self) -> Iterator[Model]:
        with self._pool.borrow(self._info.model_id) as model:
            if model.info.revision != self._info.revision:
                name = self._info.name
                raise ModelUnavailableError(
                    message("The files of {name} have changed. Reload the page.", name=name), ""
                )
            yield model
