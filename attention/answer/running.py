"""Run a view's models: one pane for each, with notices where the link and the run disagree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from attention.answer import fetching, focus, jobs, state
from attention.answer.cache import (
    ModelFailedError,
    Shared,
    first_word_of,
    model_or_reason,
    record,
    shelf,
)
from attention.answer.once import once
from attention.answer.slots import give_back
from attention.core.messages import message
from attention.core.trace import Cut, Trace
from attention.experiments.corpus import Sentences
from attention.experiments.measuring import Measured, Measurement, Measurements
from attention.experiments.study import StudyResult
from attention.experiments.syntax import SyntaxCheck, SyntaxResult
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.models import Model, ModelInfo, ModelUnavailableError, by_id, get_info
from attention.models.downloads import State
from attention.page.address import Address
from attention.page.blocks import Notice
from attention.page.content import compare
from attention.page.content.pane import Pane, not_for
from attention.page.content.registry import CONTENTS
from attention.page.own_files import OwnFiles
from attention.page.parameters import other_model
from attention.page.settings import FACTORS, HEAD, LAYER, TEXT, WORD
from attention.page.view import Place, View, same_word, word_at
from attention.training.jobs import Job, Status

R = TypeVar("R")

# In seconds: how long a page waits for a count over many sentences that has no partial results.
COUNTED_WITHIN = 20.0

# Return a model, or the reason why it is unavailable.
Load = Callable[[ModelInfo], Model | ModelUnavailableError]


class Results(Shared):
    """The same, and this server's measurements and trainings."""

    __slots__ = ()

    def syntax(self) -> SyntaxCheck | None:
        """Return all heads' counts on the annotated sentences; None if they are not finished."""
        model = model_or_reason(self.address.run.model_id)
        if isinstance(model, ModelUnavailableError):
            return None
        measurement = measurements().syntax(model)
        give_back()
        measurement.carry_on(COUNTED_WITHIN)
        check = measurement.measures
        return check if measurement.run.is_finished and isinstance(check, SyntaxCheck) else None

    def job(self, job: Job) -> Status:
        """Return the status of one of this server's jobs."""
        return jobs.status(job)


@dataclass(frozen=True, slots=True)
class Serving:
    """A page's requests to this server, for its session or, in a file, for its view."""

    view: View
    patience: float = COUNTED_WITHIN

    def seen_with(self, model_id: str) -> View:
        """Return the view with another model and an input that it can read; a chosen word stays in focus."""
        with nullcontext() if state.is_running() else state.visiting(state.Visit(self.view, self.view)):
            return state.seen_with(model_id)

    def in_memory(self) -> Collection[str]:
        """Return the IDs of the models in memory."""
        return shelf().in_memory()

    def fetches(self) -> Mapping[str, State]:
        """Return the running downloads, and those the visitor has seen running, by model ID."""
        return fetching.fetches()

    def told(self) -> tuple[Notice, ...]:
        """Return the notices about the visitor's last press."""
        return fetching.told()

    def study(self, texts: Sequence[str], *, is_held: bool) -> Measured[StudyResult | None] | None:
        """Return the heads' averages over texts so far; None if the model was removed."""
        model = self._model()
        return None if model is None else self._measured(measurements().study(model, texts), is_held=is_held)

    def sentences(self, key: str) -> Sentences | None:
        """Return the sentences of a visitor's file; None if it is no longer kept."""
        return own_files().find(key)

    def syntax(self, *, is_held: bool) -> Measured[SyntaxResult] | None:
        """Return how often the heads find the annotated relations, so far; None if the model was removed."""
        model = self._model()
        return None if model is None else self._measured(measurements().syntax(model), is_held=is_held)

    def reading(self, text: str) -> Trace | None:
        """Return the model's trace of a text, without a mask; None if that fails or the model was removed."""
        model = self._model()
        try:
            return None if model is None else record(model, text, "none").trace
        except (ValueError, ModelFailedError, ModelUnavailableError):
            return None

    def _model(self) -> Model | None:
        model = model_or_reason(self.view.model)
        return None if isinstance(model, ModelUnavailableError) else model

    def _measured(self, measurement: Measurement[R], *, is_held: bool) -> Measured[R]:
        if not is_held:
            give_back()
            measurement.carry_on(self.patience)
        return measurement.measured()


@once
def own_files() -> OwnFiles:
    """Return the files that visitors have uploaded."""
    return OwnFiles()


@once
def measurements() -> Measurements:
    """Return this server's measurements."""
    return Measurements()


def load_silently(info: ModelInfo) -> Model | ModelUnavailableError:
    """Return a model, without showing progress."""
    return model_or_reason(info.model_id)


def is_unread(view: View) -> bool:
    """Tell whether a page that reads a text has none."""
    return CONTENTS[view.page].source == "typed" and get_info(view.model).reading.is_empty(view.text)


def run_page(view: View, load: Load, patience: float = COUNTED_WITHIN) -> list[Pane]:
    """Run a view's models; its text must not be empty.

    Measurements on many texts continue for ``patience`` seconds.
    """
    return [replace(pane, server=Serving(view, patience)) for pane in _run_page(view, load)]


def _run_page(view: View, load: Load) -> list[Pane]:
    content = CONTENTS[view.page]
    as_run = content.run_as(view)
    if content.source != "typed":
        return [_unread(view, load)]
    if not content.compares:
        return run(as_run, load)
    info = get_info(view.model)
    if not view.page.is_for(info):
        return [Pane(info, is_other=False, notices=(not_for(info),))]
    return run(as_run, load) if view.beside else _run_two(as_run, info, content.second(view), load)


def _unread(view: View, load: Load) -> Pane:
    info = get_info(view.model)
    if CONTENTS[view.page].source == "nothing" or not view.page.is_for(info):
        return Pane(info, is_other=False)
    model = load(info)
    if isinstance(model, ModelUnavailableError):
        return Pane(info, is_other=False, reason=model)
    place, beyond = place_within(view.pane, info, view.text)
    return Pane(info, is_other=False, head_of_many=place, notices=tuple(beyond))


def _run_two(view: View, info: ModelInfo, second: str, load: Load) -> list[Pane]:
    """Run one model on two sentences, both in the link's head or, by default, in one where they differ."""
    main = run_one(view, info, load)
    if not second:
        return [replace(main, notices=(*main.notices, compare.ASK))]
    versus = view.replaced(TEXT, second).replaced(WORD, None)
    if main.scene is not None:
        # Show both in the same head.
        versus = versus.replaced(LAYER, main.scene.layer).replaced(HEAD, main.scene.head)
    panes = [main, run_one(versus, info, load)]
    return panes if view[LAYER] is not None or view[HEAD] is not None else _where_most_changes(panes)


def _where_most_changes(panes: list[Pane]) -> list[Pane]:
    """Switch to the head that changes most, if any changes."""
    changed = compare.changes_of(panes)
    if changed is None or not changed.any():
        return panes
    layer, head = map(int, np.unravel_index(int(changed.argmax()), changed.shape))
    return [_at(pane, layer, head) for pane in panes]


def _at(pane: Pane, layer: int, head: int) -> Pane:
    assert pane.scene is not None
    assert pane.address is not None
    assert pane.whole is not None
    scene = HeadContext(pane.scene.trace, layer, head, pane.scene.word)
    address = replace(pane.address, layer=layer, head=head)
    return replace(pane, scene=scene, address=address, found=Results(address, scene, pane.whole))


def run(view: View, load: Load) -> list[Pane]:
    """Run the view's model, and the one beside it, on its text, which must not be empty."""
    info = get_info(view.model)
    main = run_one(view, info, load)
    if not view.beside:
        return [main]
    models = by_id()
    other = models[other_model(view.model, models)]
    return [main, run_one(view, other, load, is_other=True, main=main.scene)]


def run_one(
    view: View, info: ModelInfo, load: Load, *, is_other: bool = False, main: HeadContext | None = None
) -> Pane:
    """Run one model; the pane's notices report invalid targets of the link."""
    model = load(info)
    if isinstance(model, ModelUnavailableError):
        return Pane(info, is_other, reason=model)
    try:
        recorded, reason = focus.run(model, view)
    except (ValueError, ModelFailedError) as error:
        return Pane(info, is_other, notices=(str(error),))
    except ModelUnavailableError as error:
        return Pane(info, is_other, reason=error.with_traceback(None))
    notices = [" ".join((reason, message("The first sentence is shown alone.")))] if reason else []
    part = recorded.trace.info.part_or_whole(view.part)
    trace = recorded.trace.part(part)
    if is_other:
        chosen = None if main is None else same_word(main.word, main.tokens, trace.tokens)
    else:
        chosen = _chosen_word(view, trace, notices)
    word = first_word_of(recorded.key, part, trace) if chosen is None else chosen
    pane = Pane(info, is_other)
    place = view.place(pane.settings)
    (layer, head), beyond = place_within(place, trace.info, trace.text)
    notices += beyond
    scene = HeadContext(trace, layer, head, word, place.cell)
    opened = step_of(view.step).opened(scene, view[FACTORS])
    if place.cell is not None and opened.cell != place.cell:
        notices.append(message("The link points to a cell that is not here. Another is shown."))
    notices += _cuts(recorded.trace)
    address = Address(recorded.key, part, opened.layer, opened.head, opened.word, opened.cell)
    return Pane(
        trace.info,
        is_other,
        opened,
        recorded.proof,
        pair=recorded.pair if recorded.is_pair else "",
        whole=recorded.trace,
        address=address,
        found=Results(address, opened, recorded.trace),
        notices=tuple(notices),
    )


def _beyond(name: str, number: int, last: int) -> str:
    return message("The link points to {name} {number}, but the last is {last}.", name=name, number=number, last=last)


def place_within(place: Place, info: ModelInfo, text: str) -> tuple[tuple[int, int], list[str]]:
    """Return the link's layer and head, clipped to the model's (or defaults for the text), and notices if clipped."""
    notices = []
    if place.layer is not None and place.layer >= info.n_layers:
        notices.append(_beyond(message("layer"), place.layer + 1, info.n_layers))
    if place.head is not None and place.head >= info.n_heads:
        notices.append(_beyond(message("head"), place.head + 1, info.n_heads))
    layer, head = place.layer_and_head(info, text)
    layer = min(layer, info.n_layers - 1)
    if layer not in info.attention_layers:
        notices.append(
            message(
                "Layer {layer} of {name} has no attention: {kind}. Another is shown.",
                layer=layer + 1,
                name=info.name,
                kind=info.layer_kinds[layer],
            )
        )
        layer = min(info.attention_layers, key=lambda number: abs(number - layer))
    return (layer, min(head, info.n_heads - 1)), notices


def _chosen_word(view: View, trace: Trace, notices: list[str]) -> int | None:
    """Return the link's word; None if there is none, or (with a notice) if it does not exist."""
    tokens, reading = trace.tokens, trace.info.reading
    if view.spot is not None:
        return word_at(view.spot, tokens)
    if view.word is None or view.word < len(tokens):
        return view.word
    notices.append(_beyond(reading.unit, view.word, len(tokens) - 1))
    return None


def _cuts(whole: Trace) -> list[str]:
    cuts = {message("the text"): whole.cut}
    if whole.decoder is not None:
        cuts[message("the decoder's input")] = whole.decoder.cut
    return [
        message(
            "{model} takes {kept} tokens here; {input} has {total}. It was cut after “{end}”.",
            input=name,
            **_cut_facts(whole.info, cut),
        )
        for name, cut in cuts.items()
        if cut is not None
    ]


def _cut_facts(info: ModelInfo, cut: Cut) -> dict[str, str | float]:
    return {"model": info.name, "kept": cut.kept, "total": cut.total, "end": cut.ending}
