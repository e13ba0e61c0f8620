"""The input fields by kind: one registry under the names of ``attention.core.reading``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from attention.answer import picture, state
from attention.answer.lines import Examples, Field, Line
from attention.answer.page_component import Data, Sheet
from attention.core.kinds import Second
from attention.core.messages import message
from attention.core.reading import Reading
from attention.experiments.corpus import pairs
from attention.models import ModelInfo, ModelUnavailableError, get_info
from attention.models.closed_vocabulary import refused, words
from attention.page.settings import PAIR, TEXT
from attention.page.view import View

_PAIRS = pairs("pairs.txt")


def add(line: Line, view: View, own: Field | None) -> None:
    """Add the model's input field, and that of a second text: the page's ``own``, or the model's."""
    info = get_info(view.model)
    FIELDS[info.reading.field].add(line, view, info, own)


def beside(sheet: Sheet, view: View) -> list[Data]:
    """Return inputs that do not fit into a line."""
    reading = get_info(view.model).reading
    return FIELDS[reading.field].beside(sheet, view, reading)


def _add_sentence(line: Line, view: View, info: ModelInfo, own: Field | None) -> None:
    """Add the sentence; a second one stands beside it if it is used, and otherwise opens below it."""
    second = (own or _pair(info)) if info.reading.takes_pair else None
    is_beside = second is not None and (own is not None or bool(view.pair) or info.build.second.is_everywhere)
    more = () if second is None or is_beside else (second,)
    line.group(message("Sentence")).field(
        Field(
            TEXT,
            message("Sentence"),
            info.reading.placeholder,
            message("Shift+Enter starts a new line."),
            take=partial(_take_text, info.reading),
            examples=_examples(view, info, with_pairs=own is None),
            more=more,
            words=_words(info),
        )
    )
    if second is not None and is_beside:
        line.group(second.label).field(second)


def _examples(view: View, info: ModelInfo, *, with_pairs: bool) -> Examples:
    """Return the examples of one sentence, and those of two if the model joins them."""
    reading = info.reading
    joined = list(_PAIRS) if with_pairs and reading.takes_pair and info.build.second.is_joined else []
    labels = [*reading.examples, *joined]
    shown = [*((sentence, "") for sentence in reading.examples), *(_PAIRS[line] for line in joined)]
    here = (view.text, view.pair)
    chosen = shown.index(here) if here in shown else None
    return Examples("example", message("Examples"), labels, chosen, partial(_take_example, reading, shown))


def _pair(info: ModelInfo) -> Field:
    second = info.build.second
    return Field(
        PAIR, second.label, second.placeholder.format(model=info.name), second.help, partial(_take_pair, second)
    )


def _take_text(reading: Reading, sentence: str) -> None:
    # Ignore text typed for a previous model that reads something else.
    model = state.current().model
    if not get_info(model).reading.is_same(reading):
        return
    told = refused(model, sentence) if _words(get_info(model)) else ""
    if told:
        state.refuse(TEXT, sentence, told)
    else:
        state.choose(TEXT, sentence)


def _words(info: ModelInfo) -> tuple[str, ...]:
    """Return the vocabulary of a model that reads no other words; empty for other models."""
    try:
        return words(info.model_id)
    except ModelUnavailableError:
        return ()


def _take_example(reading: Reading, shown: list[tuple[str, str]], index: int) -> None:
    if not get_info(state.current().model).reading.is_same(reading):
        return
    sentence, pair = shown[index]
    state.choose(TEXT, sentence)
    if reading.takes_pair:
        state.choose(PAIR, pair)


def _take_pair(second: Second, pair: str) -> None:
    # A second sentence and a decoder's text are different things.
    if get_info(state.current().model).build.second == second:
        state.choose(PAIR, pair)


def _nothing(_sheet: Sheet, _view: View, _reading: Reading) -> list[Data]:
    return []


def _no_line(_line: Line, _view: View, _info: ModelInfo, _own: Field | None) -> None:
    pass


def _picture(sheet: Sheet, view: View, reading: Reading) -> list[Data]:
    return [sheet.panel("picture", message("Draw or choose a digit"), picture.parts(view, reading))]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input: its fields in the header line and beside it."""

    add: Callable[[Line, View, ModelInfo, Field | None], None] = _no_line
    beside: Callable[[Sheet, View, Reading], list[Data]] = _nothing


FIELDS: Mapping[str, Kind] = MappingProxyType({"sentence": Kind(add=_add_sentence), "drawing": Kind(beside=_picture)})
