"""Models and traces that sessions share: loaded once, read-only, and bounded in memory."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from threading import Lock

import streamlit as st
from cachetools import LRUCache

from attention.lesson.proof import Proof, prove
from attention.masks import MaskName
from attention.models import Model, ModelUnavailableError, load
from attention.trace import Trace

__all__ = ["Recorded", "model_or_reason", "record"]

# A trace of eight words is 0.4 MB, of 512 tokens 27 MB.
MAX_TRACE_BYTES = 128 * 2**20


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace and its proof, which is worked out once."""

    trace: Trace
    proof: Proof


class _TraceCache:
    """The traces used last, up to a number of bytes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._traces: LRUCache[tuple[str, str, str], Recorded] = LRUCache(MAX_TRACE_BYTES, getsizeof=_size)

    def get(self, model: Model, text: str, mask: MaskName) -> Recorded:
        key = (model.info.model_id, text, mask)
        with self._lock:
            found = self._traces.get(key)
        if found is not None:
            return found
        # Two sessions may trace the same text at once; that costs milliseconds, and holding the lock costs more.
        trace = model.trace(text, mask=mask)
        made = Recorded(trace, prove(trace))
        with self._lock:
            self._traces[key] = made
        return made


def _size(recorded: Recorded) -> int:
    return recorded.trace.nbytes


@st.cache_resource(show_spinner=False)
def _traces() -> _TraceCache:
    return _TraceCache()


@st.cache_resource(show_spinner=False)
def model_or_reason(model_id: str) -> Model | ModelUnavailableError:
    """Load a model once per server; a model that cannot be loaded is remembered with its reason.

    Afterwards all that lives is moved out of the garbage collector's sight: Streamlit collects after
    every rerun, and walking through torch and transformers each time takes far longer than a rerun.
    """
    try:
        model = load(model_id)
    except ModelUnavailableError as reason:
        # Without its traceback, which would keep every frame that it passed through alive.
        return reason.with_traceback(None)
    gc.collect()
    gc.freeze()
    return model


def record(model: Model, text: str, mask: MaskName) -> Recorded:
    """Return the trace of a text and its proof, from the cache if they are there."""
    return _traces().get(model, text, mask)
