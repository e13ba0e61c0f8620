"""Models and traces that sessions share: loaded once, read-only, and bounded in memory."""

from __future__ import annotations

import gc
import logging
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import BoundedSemaphore, Lock

import numpy as np
import streamlit as st
from cachetools import LRUCache
from jaxtyping import Float
from numpy import ndarray as Array

from attention.lab import Result, run
from attention.lesson.compare import changes
from attention.lesson.next_token import Forecast, forecast
from attention.lesson.proof import Proof, prove
from attention.lesson.scene import Scene
from attention.lesson.survey import Look, Survey, survey
from attention.masks import MaskName
from attention.models import Model, ModelInfo, ModelUnavailableError, get_info, has_to_be_converted, load, local
from attention.models.base import Answer
from attention.models.downloads import Downloads
from attention.models.shelf import Shelf, ShelvedModel, max_models
from attention.models.store import OnProgress, Progress
from attention.models.toy import TOY_INFO
from attention.trace import LayerTrace, Trace
from attention.view import View

__all__ = [
    "ModelFailedError",
    "Recorded",
    "answer_of",
    "changes_of",
    "downloads",
    "forecast_of",
    "lab_of",
    "model_or_reason",
    "record",
    "settle",
    "shelf",
    "survey_of",
    "turns",
    "waiting",
]

_LOGGER = logging.getLogger(__name__)

# BERT's trace of eight words is 0.4 MB, of 512 tokens 27 MB; SmolLM2's 2 MB and 161 MB.
MAX_TRACE_BYTES = 168 * 2**20
MAX_AT_ONCE = 4

# The model, the text, the mask and the second text.
_Key = tuple[str, str, str, str]


class ModelFailedError(Exception):
    """A model failed on a text; the message is for the page and does not hold the text."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace, its proof, which is worked out once, and the second sentence that the model read with the first."""

    trace: Trace
    proof: Proof
    pair: str = ""

    @property
    def is_pair(self) -> bool:
        """Tell whether the model read two sentences as one text; a decoder's text is another thing."""
        return bool(self.pair) and not self.trace.info.parts


class _TraceCache:
    """The traces used last, up to a number of bytes."""

    def __init__(self) -> None:
        self._lock = Lock()
        # More at once would only share the processors, and each takes memory as long as it runs.
        self.turns = BoundedSemaphore(min(MAX_AT_ONCE, os.cpu_count() or 1))
        self._traces: LRUCache[_Key, Recorded] = LRUCache(MAX_TRACE_BYTES, getsizeof=_size)

    def get(self, model: Model, text: str, mask: MaskName, pair: str) -> Recorded:
        key = (model.info.model_id, text, mask, pair)
        found = self._find(key)
        if found is not None:
            return found
        with self.turns:
            # Who waited for a turn may have waited for this very text: a class often types the same.
            found = self._find(key)
            if found is not None:
                return found
            made = _run(model, text, mask, pair)
            with self._lock:
                self._traces[key] = made
            return made

    def forget(self, model_id: str) -> None:
        """Let go of the traces of a model: they share the memory of its weights."""
        with self._lock:
            for key in [key for key in self._traces if key[0] == model_id]:
                del self._traces[key]

    def _find(self, key: _Key) -> Recorded | None:
        with self._lock:
            return self._traces.get(key)


def _run(model: Model, text: str, mask: MaskName, pair: str) -> Recorded:
    """Run a model and check it; an error is logged without its message, which may quote what was typed."""
    try:
        trace = model.trace(text, pair or None, mask=mask)
        return Recorded(trace.without_added(), prove(trace), pair)
    except ValueError:
        raise
    except Exception as error:
        name, kind = model.info.name, type(error).__name__
        _LOGGER.error("%s failed with %s:\n%s", name, kind, "".join(traceback.format_tb(error.__traceback__)))
        raise ModelFailedError(f"{name} failed on this sentence ({kind}). Try another one.") from None


def _size(recorded: Recorded) -> int:
    return recorded.trace.nbytes


@st.cache_resource(show_spinner=False)
def _traces() -> _TraceCache:
    return _TraceCache()


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Return the models in memory. The toy has its place beside them: it takes none."""
    return Shelf(_load, max_models(), uncounted=frozenset({TOY_INFO.model_id}), on_put_out=_traces().forget)


@st.cache_resource(show_spinner=False)
def downloads() -> Downloads:
    """Return the models on their way from the hub."""
    return Downloads(local.fetch)


def model_or_reason(
    model_id: str, on_wait: Callable[[Progress | None], None] | None = None
) -> Model | ModelUnavailableError:
    """Load a model once for everybody, if it is not in memory, or say why it cannot be.

    ``on_wait`` is called again and again while it is being loaded.
    """
    try:
        with shelf().borrow(model_id, on_wait):
            return ShelvedModel(shelf(), get_info(model_id))
    except ModelUnavailableError as reason:
        # Without its traceback, which would keep every frame that it passed through alive.
        return reason.with_traceback(None)


def _load(model_id: str, on_progress: OnProgress) -> Model:
    """Load a model.

    What torch and transformers make when they are imported stays, so the garbage collector never sees
    it: to look through it again and again while it grows takes a third of the time. A model that goes
    needs no collector: nothing in it leads back to it.
    """
    gc.disable()
    try:
        return load(model_id, on_progress)
    finally:
        gc.freeze()
        gc.enable()


def waiting(info: ModelInfo) -> str:
    """Return what a person is told while a model is loaded."""
    if has_to_be_converted(info.model_id):
        return f"Converting {info.name}, once: its packed weights are unpacked and kept, which takes half a minute …"
    return f"Loading {info.name}: once, when the server is new …"


def turns() -> BoundedSemaphore:
    """Return whose turn it is to compute: hold it while working, and give it back in between."""
    return _traces().turns


def record(model: Model, text: str, mask: MaskName, pair: str = "") -> Recorded:
    """Return the trace of a text, or of two read together, and its proof, from the cache if they are there.

    Raises:
        ValueError: the model does not take such a text, or not the two together; with its own sentence.
        ModelFailedError: it failed.
    """
    return _traces().get(model, text, mask, pair)


def survey_of(view: View, trace: Trace) -> Survey:
    """Return all heads of the trace that a view shows, from the cache if they are there."""
    key = (trace.info.model_id, view.text, view.pair, view.mask, view.part, view.look)
    return _survey(key, trace, view.look)


@st.cache_resource(show_spinner=False, max_entries=32, hash_funcs={Look: repr})
def _survey(key: object, _trace: Trace, _look: Look) -> Survey:  # noqa: ARG001 - the cache's key
    with turns():
        return survey(_trace, _look)


def forecast_of(trace: Trace, mask: MaskName) -> Forecast | None:
    """Return what comes next after a trace, from the cache if it is there; None if its model does not say."""
    return _forecast((trace.info.model_id, trace.text, mask), trace)


@st.cache_resource(show_spinner=False, max_entries=256)
def _forecast(key: object, _trace: Trace) -> Forecast | None:  # noqa: ARG001 - the cache's key
    model = model_or_reason(_trace.info.model_id)
    if isinstance(model, ModelUnavailableError):
        return None
    with turns():
        found = model.next_token(_trace)
    return None if found is None else forecast(found, _trace.text)


def answer_of(trace: Trace, mask: MaskName) -> Answer | None:
    """Return what a trace was taken for, from the cache if it is there; None if its model does not say."""
    if trace.info.reads != "picture":
        return None
    return _answer((trace.info.model_id, trace.text, mask), trace)


@st.cache_resource(show_spinner=False, max_entries=256)
def _answer(key: object, _trace: Trace) -> Answer | None:  # noqa: ARG001 - the cache's key
    model = model_or_reason(_trace.info.model_id)
    if isinstance(model, ModelUnavailableError):
        return None
    with turns():
        return model.answer(_trace)


def lab_of(view: View, scene: Scene) -> list[Result]:
    """Return what came of the five ways to write a scene's layer, from the cache if it is there."""
    key = (scene.info.model_id, view.text, view.pair, view.mask, view.part, scene.layer, scene.head)
    return _lab(key, view, scene)


@st.cache_resource(show_spinner=False, max_entries=8)
def _lab(key: object, _view: View, _scene: Scene) -> list[Result]:  # noqa: ARG001 - the cache's key
    model = model_or_reason(_scene.info.model_id)
    if isinstance(model, ModelUnavailableError):
        return run(_scene.attention, _scene.head)
    with turns():
        return run(_with_added(model, _view, _scene), _scene.head)


def _with_added(model: Model, view: View, scene: Scene) -> LayerTrace:
    """Return a scene's layer with what it added, for which the model runs once more: no trace keeps that.

    If the layer's heads give something else by now, it is another model's, and left out.
    """
    try:
        again = model.trace(view.text, view.pair or None, mask=view.mask)
    except ValueError:
        # A model that takes no two texts has read the first alone.
        again = model.trace(view.text, mask=view.mask)
    layer = again.part(view.part if again.info.parts else "encoder").layers[scene.layer]
    is_same = np.array_equal(layer.model_output, scene.attention.model_output)
    return replace(scene.attention, added=layer.added) if is_same else scene.attention


def changes_of(first: Trace, second: Trace, mask: MaskName) -> Float[Array, "L H"]:
    """Return how much each head differs between two runs of one model, from the cache if it is there."""
    return _changes((first.info.model_id, first.text, second.text, mask), first, second)


@st.cache_resource(show_spinner=False, max_entries=64)
def _changes(key: object, _first: Trace, _second: Trace) -> Float[Array, "L H"]:  # noqa: ARG001 - the cache's key
    with turns():
        changed = changes(_first, _second)
    changed.setflags(write=False)
    return changed


def settle() -> None:
    """Move all that lives out of the garbage collector's sight, if more modules were imported since the last time.

    Libraries import much when it is first needed, and it stays. To walk through it whenever garbage is
    collected takes far longer than a rerun of a page.
    """
    _freeze(len(sys.modules))


@st.cache_resource(show_spinner=False, max_entries=1)
def _freeze(n_modules: int) -> None:  # noqa: ARG001 - the cache's key: once for each number
    gc.collect()
    gc.freeze()
