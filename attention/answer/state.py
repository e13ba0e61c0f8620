"""The state of one request: a page's view, and how the presses change it.

Nothing is kept between requests. A browser sends its page's link, all presses since, and its memory (:data:`Memory`);
the answer has a new link and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from attention.answer import focus
from attention.core.messages import message
from attention.core.reading import Reading, recognised
from attention.lesson.initial_selection import first_place
from attention.models import ModelInfo, by_id, hub
from attention.models.hub import HubError
from attention.page.page import Page
from attention.page.pages import everything
from attention.page.parameters import Context, Parameter, Spot, other_model
from attention.page.settings import (
    ANSWER,
    AT,
    MAIN,
    MASK,
    MODEL,
    OTHER,
    PAIR,
    PART,
    PLAIN,
    PRESENT,
    TEXT,
    WORD,
    is_of_model,
)
from attention.page.view import View

T = TypeVar("T")

# A browser's memory: under OTHERS the parameters that only other pages have, under ANSWERS the answers on each page,
# and for each kind of input the last one read, all written as in links.
Memory = Mapping[str, Mapping[str, str]]
OTHERS, ANSWERS, READ = "others", "answers", "read "


@dataclass(slots=True)
class Visit:
    """A request being answered: the view, its notices, and the next page."""

    view: View
    linked: View
    notices: list[str] = field(default_factory=list)
    # A missing model that the link names and that may be on the hub.
    wanted: str = ""
    # The name of a parameter, and the text typed for it that was refused.
    refused: tuple[str, str] = ("", "")
    memory: Memory = field(default_factory=dict)
    # A random name that the browser has chosen.
    visitor: str = ""
    is_changed: bool = False
    # The next page, and its link; None to keep the view.
    way: tuple[Page, Mapping[str, str] | None] | None = None


_CURRENT: ContextVar[Visit] = ContextVar("visit")


def visit() -> Visit:
    """Return this thread's request; raise LookupError without one."""
    return _CURRENT.get()


@contextmanager
def visiting(answered: Visit) -> Iterator[Visit]:
    """Make this the thread's request for the duration of the block."""
    token = _CURRENT.set(answered)
    try:
        yield answered
    finally:
        _CURRENT.reset(token)


def opened(
    page: Page, link: Mapping[str, str], opening: Callable[[View], View], memory: Memory, visitor: str = ""
) -> Visit:
    """Return the request for a link; ``opening`` may choose values that the link lacks."""
    models = by_id()
    linked, found = View.from_query(link, page, models)
    before, _ = View.from_query(memory.get(OTHERS, {}), page, models)
    linked = linked.carry_over(before)
    view = opening(linked)
    fitting = view.valid_for(Context(models, view.model))
    is_changed = fitting != view
    return Visit(fitting, linked, found, _wanted(link, models), memory=memory, visitor=visitor, is_changed=is_changed)


def remembered() -> Memory:
    """Return the browser's memory after this request."""
    here = visit()
    # A presentation ends with its page.
    view, chosen = here.view, taken_along().without(PLAIN, PRESENT).chosen
    named = {each.name: each for each in everything(view.page)}
    others = {name: named[name].kind.write(value) for name, value in chosen.items() if value is not None}
    memory = {**here.memory, OTHERS: others, READ + _reading(view, by_id()).name: view.to_query()}
    if ANSWER in view.page.own:
        answers = {name: each for name, each in here.memory.get(ANSWERS, {}).items() if name != view.page.address}
        answer = view[ANSWER]
        memory[ANSWERS] = answers if answer is None else {**answers, view.page.address: ANSWER.kind.write(answer)}
    return memory


def go_to(page: Page, link: Mapping[str, str] | None = None) -> None:
    """Go to a page by a link; without one, go to another page and take the view along."""
    here = visit()
    here.way = None if page is here.view.page and link is None else (page, link)


def along(page: Page) -> View:
    """Return the view to take along to another page, with the answer given there before."""
    answered = visit().memory.get(ANSWERS, {}).get(page.address)
    view = taken_along().for_page(page)
    if answered is None or ANSWER not in page.own:
        return view
    answer, _ = View.from_query({ANSWER.name: answered}, page, by_id())
    return view.replaced(ANSWER, answer[ANSWER])


def taken_along() -> View:
    """Return the view that a link to another page takes along: without this page's own initial choices."""
    here = visit()
    return here.view if here.is_changed else here.linked


def current() -> View:
    """Return the view."""
    return visit().view


def is_running() -> bool:
    """Tell whether this thread is answering a request."""
    return _CURRENT.get(None) is not None


def visitor() -> str:
    """Return the visitor's name; empty if there is none, as for a file."""
    here = _CURRENT.get(None)
    return "" if here is None else here.visitor


def notices() -> list[str]:
    """Return notices about the link or the text."""
    return visit().notices


def wanted_model() -> str:
    """Return the model that the link names, if it is not here and may be on the hub; otherwise ""."""
    return visit().wanted


def _wanted(link: Mapping[str, str], models: Mapping[str, ModelInfo]) -> str:
    wanted = link.get("model", "")
    if not wanted or wanted in models:
        return ""
    try:
        return hub.check_id(wanted)
    except HubError:
        return ""


def context() -> Context:
    """Return the facts that the bounds of parameters depend on."""
    return Context(by_id(), current().model)


def change(update: Callable[[View], View], notes: Sequence[str] = ()) -> None:
    """Replace the view and its notices."""
    here = visit()
    here.view = update(here.view)
    here.is_changed = True
    here.notices, here.wanted, here.refused = list(notes), "", ("", "")


def refuse(parameter: Parameter[str], typed: str, told: str) -> None:
    """Keep the view, say why, and leave the typed text in its field for correction."""
    kept = message("{told} “{text}” is still shown.", told=told, text=str(current()[parameter]))
    change(lambda view: view, [kept])
    visit().refused = (parameter.name, typed)


def written(parameter: Parameter[Any]) -> str:
    """Return the text of a field: the refused one until anything changes, otherwise the view's."""
    name, typed = visit().refused
    return typed if name == parameter.name else str(current()[parameter] or "")


def choose(parameter: Parameter[T] | str, value: T) -> None:
    """Set a parameter of this page, given as such or by name; invalid values are ignored.

    Consequences are declared (see :class:`~attention.page.parameters.Parameter`), except for two that a view does not
    know: another model reads the last input of its kind, and padding that disappears loses the focus.
    """
    found = _named(parameter) if isinstance(parameter, str) else parameter
    view = current()
    if not found.fits(value, context()):
        if found is MODEL:
            change(lambda view: view, [message("{model} is no longer here. Choose another model.", model=str(value))])
        return
    if found is MODEL:
        _set_model(str(value))
    elif found is MASK:
        _set_mask(found, value)
    else:
        typed = {found.name: value} if isinstance(value, str) else {}
        change(lambda view: _placed(view, [found]).with_value(found, value), view.notices(typed))


def set_all(chosen: Sequence[tuple[Parameter[Any], Any]], cleared: Sequence[Parameter[Any]] = ()) -> None:
    """Set several parameters in one press, without resetting one another; ``cleared`` go to their defaults."""
    bounds = context()
    if not all(parameter.fits(value, bounds) for parameter, value in chosen):
        return

    def update(view: View) -> View:
        view = _placed(view, [parameter for parameter, _ in chosen])
        for parameter, value in chosen:
            view = view.with_value(parameter, value)
        for parameter, value in chosen:
            view = view.replaced(parameter, value)
        return view.without(*cleared)

    typed = {parameter.name: value for parameter, value in chosen if isinstance(value, str)}
    change(update, current().notices(typed))


def _placed(view: View, chosen: Collection[Parameter[Any]]) -> View:
    """Write the layer and head opened for the text into the view before one of them is changed."""
    models = by_id()
    if view.model not in models or view.part != PART.default:
        return view
    for pane, model in ((MAIN, view.model), (OTHER, other_model(view.model, models))):
        info, place = models[model], view.place(pane)
        first = first_place(info, view.text)
        is_open = place.layer is None and place.head is None and first != (info.default_layer, info.default_head)
        if is_open and (pane.layer in chosen or pane.head in chosen):
            view = view.replaced(pane.layer, first[0]).replaced(pane.head, first[1])
    return view


def setter(parameter: Parameter[Any]) -> Callable[[Any], None]:
    """Return the setter of a parameter; it ignores a layer, head or word chosen for a previous model."""
    model = current().model

    def take(value: Any) -> None:
        if current().model == model or not is_of_model(parameter):
            choose(parameter, value)

    return take


def _named(name: str) -> Parameter[Any]:
    return next(parameter for parameter in current().page.parameters if parameter.name == name)


def _set_mask(parameter: Parameter[Any], mask: object) -> None:
    view = current()
    if mask == view.mask:
        return
    token = None if view.word is None else focus.token_in(view)
    found = view.with_value(parameter, mask)
    # Padding that disappears loses the focus.
    is_gone = token is not None and token.is_padding
    change(lambda _: found.replaced(WORD, None) if is_gone else found)


def _set_model(model: str) -> None:
    """Change the model; one that reads another kind of input gets the last one of that kind."""
    before = visit()
    view = _with_model(model, focus.shown_spot(current()))
    before.memory = remembered()
    change(lambda _: view)


def seen_with(model: str) -> View:
    """Return the view with another model and an input that it can read; a chosen word stays in focus."""
    return _with_model(model, focus.spot_in(current()))


def _with_model(model: str, spot: Spot | None) -> View:
    """Return the view with another model, an input that it can read, and the word at a spot in focus."""
    view, models = current(), by_id()
    # If it has just been removed, that will be reported.
    if model == view.model or model not in models:
        return view
    info = models[model]
    seen = view.with_value(MODEL, model).with_value(AT, spot)
    if not info.reading.is_same(_reading(view, models)):
        read = visit().memory.get(READ + info.reading.name)
        last = View.of(text=info.reading.first) if read is None else View.from_query(read, view.page, models)[0]
        seen = seen.with_value(TEXT, last.text).with_value(PAIR, last.pair).with_value(AT, focus.spot_in(last))
    return seen.valid_for(Context(models, model))


def _reading(view: View, models: Mapping[str, ModelInfo]) -> Reading:
    """Return the kind of input of the view's model; if it has been removed, guess from the text."""
    return models[view.model].reading if view.model in models else recognised(view.text)
