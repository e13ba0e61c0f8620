"""What is run for a view: each model's place on the page, with notices where a link and a run disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention.address import Address
from attention.content.pane import Pane
from attention.five_ways import Result
from attention.lesson.next_token import Forecast
from attention.lesson.scene import Scene
from attention.lesson.steps import step_of
from attention.lesson.survey import Look, Survey
from attention.messages import message
from attention.models import Model, ModelInfo, ModelUnavailableError, get_info, list_models
from attention.models.base import Answer
from attention.parameters import other_model
from attention.trace import Trace
from attention.ui import focus
from attention.ui.cache import (
    ModelFailedError,
    answer_of,
    five_ways_of,
    forecast_of,
    model_or_reason,
    recorded_at,
    survey_of,
)
from attention.view import Place, View, default_word, same_word, word_at

__all__ = ["Load", "Shared", "again", "load_silently", "place_within", "run", "run_one"]

# A function that returns a model, or the reason why it is not there.
Load = Callable[[ModelInfo], Model | ModelUnavailableError]


@dataclass(frozen=True, slots=True)
class Shared:
    """What is computed from a scene, from the caches that all sessions share."""

    address: Address
    scene: Scene
    whole: Trace

    def survey(self, look: Look) -> Survey:
        """Return the survey of all heads with this look."""
        return survey_of(self.address, self.scene.trace, look)

    def five_ways(self) -> list[Result]:
        """Return the results of the five ways to write the layer."""
        return five_ways_of(self.address, self.scene)

    def forecast(self) -> Forecast | None:
        """Return the prediction of the next token; None if the model does not make one."""
        return forecast_of(self.address.run, self.scene.trace)

    def answer(self) -> Answer | None:
        """Return what a picture was taken for; None if the model does not classify."""
        return answer_of(self.address.run, self.whole)


def again(addresses: Sequence[Address]) -> list[Pane]:
    """Return the panes at these addresses, as they were drawn, or raise what ``recorded_at`` raises."""
    return [_again(address, is_other=index > 0) for index, address in enumerate(addresses)]


def _again(address: Address, *, is_other: bool) -> Pane:
    recorded = recorded_at(address.run)
    scene = recorded.scene(address)
    return Pane(
        scene.info,
        is_other,
        scene,
        recorded.proof,
        pair=recorded.pair if recorded.is_pair else "",
        whole=recorded.trace,
        address=address,
        found=Shared(address, scene, recorded.trace),
    )


def load_silently(info: ModelInfo) -> Model | ModelUnavailableError:
    """Return a model, for callers that have no page on which to show progress."""
    return model_or_reason(info.model_id)


def run(view: View, load: Load) -> list[Pane]:
    """Run the chosen model, and the one beside it, on the text of the view, which must not be empty."""
    info = get_info(view.model)
    main = run_one(view, info, load)
    if not view.beside:
        return [main]
    models = {info.model_id: info for info in list_models()}
    other = models[other_model(view.model, models)]
    return [main, run_one(view, other, load, is_other=True, main=main.scene)]


def run_one(view: View, info: ModelInfo, load: Load, *, is_other: bool = False, main: Scene | None = None) -> Pane:
    """Run one model; if a link points to what does not exist there, the pane's notices say so."""
    model = load(info)
    if isinstance(model, ModelUnavailableError):
        return Pane(info, is_other, reason=model)
    try:
        recorded, reason = focus.run(model, view)
    except (ValueError, ModelFailedError) as error:
        return Pane(info, is_other, notices=(str(error),))
    except ModelUnavailableError as error:
        return Pane(info, is_other, reason=error.with_traceback(None))
    notices = [f"{reason.rstrip('.')}: the first sentence is shown alone."] if reason else []
    part = recorded.trace.info.part_or_whole(view.part)
    trace = recorded.trace.part(part)
    if is_other:
        word = default_word(trace.tokens) if main is None else same_word(main.word, main.tokens, trace.tokens)
    else:
        word = _word(view, trace, notices)
    pane = Pane(info, is_other)
    place = view.place(pane.settings)
    (layer, head), beyond = place_within(place, trace.info)
    notices += beyond
    scene = Scene(trace, layer, head, word, place.cell)
    opened = step_of(view.step).opened(scene)
    if place.cell is not None and opened.cell != place.cell:
        notices.append(message("The link points to a cell that this matrix does not have: another one is explained."))
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
        found=Shared(address, opened, recorded.trace),
        notices=tuple(notices),
    )


def place_within(place: Place, info: ModelInfo) -> tuple[tuple[int, int], list[str]]:
    """Return the layer and the head of a link, within the model's bounds, and notices about those out of bounds."""
    found, notices = [], []
    chosen = {"layer": (place.layer, info.n_layers), "head": (place.head, info.n_heads)}
    for (name, (wanted, count)), value in zip(chosen.items(), place.layer_and_head(info), strict=True):
        if wanted is not None and wanted >= count:
            there = f"there are {count} {name}s here"
            notices.append(
                message(
                    "The link points to {name} {wanted}, and {there}: the last is shown.",
                    name=name,
                    wanted=wanted + 1,
                    there=there,
                )
            )
        found.append(min(value, count - 1))
    return (found[0], found[1]), notices


def _word(view: View, trace: Trace, notices: list[str]) -> int:
    tokens, reading = trace.tokens, trace.info.reading
    if view.spot is not None:
        return word_at(view.spot, tokens)
    if view.word is None:
        return default_word(tokens, reading)
    if view.word < len(tokens):
        return view.word
    notices.append(
        message(
            "The link points to {unit} {word}, and this {noun} has {n_tokens} tokens, counted from 0.",
            unit=reading.unit,
            word=view.word,
            noun=reading.noun,
            n_tokens=len(tokens),
        )
    )
    return default_word(tokens, reading)


def _cuts(whole: Trace) -> list[str]:
    """Say where a text was cut, and where the one that a decoder reads was cut."""
    cuts = {"the text": whole.cut, "what the decoder is given": None if whole.decoder is None else whole.decoder.cut}
    return [
        f"{whole.info.name} takes {cut.kept} tokens here, and {name} has {cut.total}: "
        f"it was cut after “{cut.last_word[-40:]}”."
        for name, cut in cuts.items()
        if cut is not None
    ]
