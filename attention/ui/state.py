"""The view of this session and its link: the one place where either changes.

The link is the truth. A widget never keeps a value of its own: it is given the view's whenever it is drawn
(:mod:`attention.ui.lines`), and what the user chooses is taken when the page runs next (``open_page``), all of it or
nothing: where a newer press stops the run, the next run hears the same values again. So the back button, a reload and a
link sent to somebody all lead to the same page, and no press is lost, however fast they come.

There are no callbacks. Streamlit may stop one half way, when the next press arrives, and never calls it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState

from attention.figures.question import Answer
from attention.lesson.opening import first_place
from attention.messages import message
from attention.models import ModelInfo, hub, list_models
from attention.models.hub import HubError
from attention.pages import Page
from attention.parameters import Context, Parameter, Spot, other_model
from attention.reading import Reading, recognised
from attention.settings import ANSWER, AT, MAIN, MASK, MODEL, OTHER, PAIR, PART, TEXT, WORD, is_of_model
from attention.ui import focus
from attention.ui.desk import Choice, Desk, Heard, Offer, Take
from attention.ui.forged import ignore_forged_values
from attention.ui.glance import look_at_one_value, name_as_the_message_does, see_all_that_is_sent
from attention.view import View

__all__ = [
    "change",
    "close_page",
    "current",
    "go_to",
    "has_drawn",
    "imagined",
    "is_new",
    "is_running",
    "notices",
    "offer",
    "offers_for",
    "open_page",
    "open_part",
    "probe",
    "refuse",
    "run_number",
    "seen_with",
    "set",
    "set_all",
    "setter",
    "taken_along",
    "wanted_model",
    "written",
]

ignore_forged_values()
look_at_one_value()
see_all_that_is_sent()

T = TypeVar("T")

_SESSION = "session"


@dataclass(slots=True)
class _Seen:
    """What one session looks at: the view of a page, and its link."""

    view: View = field(default_factory=View)
    link: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    wanted: str = ""
    # The name of a parameter, and a text that was typed for it and cannot be read.
    refused: tuple[str, str] = ("", "")
    # What the link said, and what the page opened with; nothing before the first page.
    opened: tuple[View, View] | None = None
    # What was last read of each kind.
    read: dict[str, View] = field(default_factory=dict)


@dataclass(slots=True)
class _Session:
    """All that is kept of a session, on this server."""

    seen: _Seen = field(default_factory=_Seen)
    desk: Desk = field(default_factory=Desk)
    # Whether a page is being drawn.
    is_open: bool = False
    # Whether no page has been drawn whole: the browser may be new, or come from a server that is no more.
    is_new: bool = True
    # The other page that was chosen, and the link with which it opens.
    way: tuple[Page, Mapping[str, str] | None] | None = None
    # The page that was left last by such a way: a browser that has seen nothing of the other one still asks for it.
    left: Page | None = None
    # What was answered on the pages that were left: whoever comes back is not asked the same again.
    answers: dict[Page, Answer | None] = field(default_factory=dict)
    # What the page would offer for another view, which a browser may have drawn by itself; and the view that it drew.
    offers_for: Callable[[View], Mapping[str, Take]] = lambda _: {}
    drawn: View | None = None
    # What such a browser has chosen, and on which page: what it said of how far it had drawn that one.
    late: list[tuple[Choice, str]] = field(default_factory=list)


# The session whose page this thread runs: to look it up in Streamlit's own state takes long, and a page asks often.
_RUNNING: ContextVar[_Session] = ContextVar("running")


def _session() -> _Session:
    """Return the session of the page that runs.

    Raises:
        LookupError: no page has been opened.
    """
    return _RUNNING.get()


def open_page(page: Page, opening: Callable[[View], View] | None = None) -> View:
    """Return the view of a page that begins to run: the one before with what was chosen, or what its link says.

    What a link leaves open, ``opening`` may choose, for a page whose first view is not that of all others.

    One comes by a link to a new session, to another page, and by the browser's back and forward buttons. At any other
    time the session's own view counts: of two quick clicks, the second may arrive with the link of before the first.
    """
    session: _Session = st.session_state.setdefault(_SESSION, _Session())
    _RUNNING.set(session)
    _take(session, page, opening)
    session.desk.begin()
    session.is_open, session.late = True, []
    _mark("before", session)
    _write_link(session)
    return session.seen.view


def open_part(page: Page, head: Callable[[View], object]) -> View:
    """Return the view for what lies below the head of a page, which may run again by itself.

    ``head`` tells what the head shows of a view: where that is no longer the same, the whole page runs.
    """
    context = get_script_run_ctx()
    if context is None or not context.fragment_ids_this_run:
        session = _session()
        session.desk.end_head()
    else:
        session = st.session_state[_SESSION]
        _RUNNING.set(session)
        before = head(session.seen.view)
        _take(session, page, None)
        if head(session.seen.view) != before or not session.desk.begin_part():
            st.rerun()
        session.is_open = True
        _write_link(session)
    _mark("below", session)
    return session.seen.view


def _take(session: _Session, page: Page, opening: Callable[[View], View] | None) -> None:
    """Take what the message says that this run answers; go to another page, if one was chosen."""
    models = _models()
    context = get_script_run_ctx()
    is_history = context is not None and context.is_history_navigation
    name_as_the_message_does()
    heard = session.desk.hear(_values(session.desk), _marks())
    is_turned = session.seen.opened is None or session.seen.view.page is not page
    if is_turned:
        session.desk.turn()
    if is_history:
        # Back and forward go where they say.
        heard = replace(heard, choices=(), unseen=())
    with _all_or_nothing(session):
        if is_turned or is_history:
            _follow_link(session.seen, page, models, opening)
        else:
            heard = _catch_up(session, heard)
        gone = _leave_what_is_gone(session.seen, models)
        # A link to another page was made before the answers that the browser has not seen.
        left = session.left
        _apply(heard.unseen if is_turned else ())
        if is_history or (is_turned and page is not left):
            # That page is this one, or was left again. Otherwise, a press has overtaken the way there: it still holds.
            session.way = None
        _apply(heard.choices)
        _fit(session.seen, models)
        session.seen.notices = [*gone, *session.seen.notices]
        _remember(session.seen, models)
    session.desk.commit(heard)
    if session.way is not None:
        page, link = session.way
        st.switch_page(page.file, query_params=_along(session, page).to_query() if link is None else dict(link))


def _catch_up(session: _Session, heard: Heard) -> Heard:
    """Take what a browser has drawn by itself; what was pressed there can only be heard once that is offered here."""
    drawn = [choice for choice in heard.choices if choice.is_drawn]
    if not drawn:
        return heard
    _apply(drawn)
    session.desk.offer_presses(session.offers_for(session.seen.view))
    heard = session.desk.hear(_values(session.desk), _marks())
    return replace(heard, choices=tuple(choice for choice in heard.choices if not choice.is_drawn))


def _write_link(session: _Session) -> None:
    link = session.seen.link
    # Where a browser has gone on by itself, Streamlit does not know the link that it shows.
    if session.drawn is not None or st.query_params.to_dict() != link:
        st.query_params.from_dict(link)
    session.drawn = None


def go_to(page: Page, link: Mapping[str, str] | None = None) -> None:
    """Go to another page by a link; without one, take the view along, with all that is chosen in the same message."""
    session = _session()
    here = session.seen.view.page
    if page is here:
        session.way = None
    else:
        session.way, session.left = (page, link), here


def _along(session: _Session, page: Page) -> View:
    """Return what is taken along to another page, with what was answered there before."""
    view = taken_along()
    session.answers[view.page] = view[ANSWER]
    return view.on(page).but(ANSWER, session.answers.get(page))


def close_page() -> None:
    """Say that all choices of the page are drawn; what a browser chose while the server was down is taken now."""
    session = _session()
    if not session.is_open:
        return
    session.is_open = False
    drawn = _mark("after", session)
    if not session.is_new:
        return
    # A browser may also remember a press of long ago.
    late = [choice for choice, on in session.late if on in ("", drawn)]
    with _all_or_nothing(session):
        _apply(late)
    session.is_new = False
    if late or drawn != str(session.desk.run):
        st.rerun()


@contextmanager
def _all_or_nothing(session: _Session) -> Iterator[None]:
    """Take choices; where a newer press stops that, the run that answers it begins where this one did."""
    before = replace(session.seen)
    try:
        yield
    except BaseException:
        session.seen = before
        raise


def offer(key: str, value: Any, take: Take, *, is_press: bool = False) -> bool:
    """Note what a page offers to choose, under the key of its widget: the value shown, and what takes another.

    Tells whether the browser has to be told to show that value, or does so already.
    """
    return _session().desk.offer(key, Offer(value, take, is_press))


def is_new() -> bool:
    """Tell whether the browser may know choices of which this server has never heard: then they are not overwritten."""
    return _session().is_new


def probe(key: str, value: Any) -> None:
    """Hear what a browser said of a widget before this server knew it."""
    session = _session()
    offered = session.desk.offers()[key]
    if not offered.is_press:
        if value != offered.value:
            session.late.append((Choice(key, value, offered.take), ""))
    elif isinstance(value, Mapping):
        session.late.append((Choice(key, value.get("value"), offered.take), value.get("on", "")))


def _mark(where: str, session: _Session) -> str:
    """Draw the number of this run where nobody sees it; the browser sends it along with every press."""
    key, number = f"drawn_{where}", str(session.desk.run)
    if not session.is_new:
        st.session_state[key] = number
    return st.text_input(key, value=number if session.is_new else "", key=key, label_visibility="collapsed")


def _marks() -> tuple[object, ...]:
    """Return what the browser says of how far it has drawn the page."""
    said = st.session_state
    return tuple(said.get(f"drawn_{place}") for place in ("before", "after", "below"))


def _values(desk: Desk) -> dict[str, Any]:
    """Return what the browser says of all that it was offered; of a component, each of its values by itself."""
    known, found = st.session_state.to_dict(), {}
    for key in desk.offers():
        name, _, part = key.partition(".")
        value = known.get(name)
        if part:
            value = value.get(part) if isinstance(value, Mapping) else None
        if name in known:
            found[key] = value
    return found


def _follow_link(
    seen: _Seen, page: Page, models: Mapping[str, ModelInfo], opening: Callable[[View], View] | None
) -> None:
    link = st.query_params.to_dict()
    linked, found = View.from_query(link, page, models)
    linked = linked.keeping(taken_along())
    seen.view = linked if opening is None else opening(linked)
    seen.opened = linked, seen.view
    seen.link, seen.notices, seen.wanted = link, found, _wanted(link, models)
    seen.refused = ("", "")


def _apply(choices: Iterable[Choice]) -> None:
    for choice in choices:
        choice.apply()


def _leave_what_is_gone(seen: _Seen, models: Mapping[str, ModelInfo]) -> list[str]:
    """Leave a model that somebody has removed meanwhile, before anything is chosen for it; return what to say of it."""
    gone = seen.view.model
    if gone in models:
        return []
    default = seen_with(MODEL.default)
    change(lambda _: default)
    return [message("{model_id} is no longer here: another model is shown.", model_id=gone)]


def taken_along() -> View:
    """Return the view that a link to another page takes along: not what this page has chosen to begin with."""
    seen = _session().seen
    if seen.opened is None:
        return seen.view
    linked, opened = seen.opened
    return linked if seen.view == opened else seen.view


def _fit(seen: _Seen, models: Mapping[str, ModelInfo]) -> None:
    """Let go of what was chosen for the model before: a press may come together with a change of model."""
    fitting = seen.view.fitting(Context(models, seen.view.model))
    if fitting != seen.view:
        change(lambda _: fitting, seen.notices)


def current() -> View:
    """Return the session's view."""
    return _session().seen.view


def run_number() -> int:
    """Return the number of this run of the page."""
    return _session().desk.run


def is_running() -> bool:
    """Tell whether a page of a session runs in this thread."""
    return _RUNNING.get(None) is not None


@contextmanager
def imagined(view: View) -> Iterator[None]:
    """Be in a session with this view and nothing else, to see what a page offers and shows there."""
    token = _RUNNING.set(_Session(_Seen(view)))
    try:
        yield
    finally:
        _RUNNING.reset(token)


def offers_for(offers: Callable[[View], Mapping[str, Take]]) -> None:
    """Say what the page that is being drawn offers for another view, by the keys of the components."""
    _session().offers_for = offers


def has_drawn(kept: SessionState, key: str, said: object, parameter: Parameter[Any]) -> bool:
    """Tell whether a message only says that a browser has drawn the answer to a press by itself, and remember that.

    ``kept`` is what Streamlit keeps of the session; ``said`` came from a component under this key, and chooses a value
    of the parameter.
    """
    session = kept[_SESSION] if _SESSION in kept else None  # noqa: SIM401 - it has no get()
    if not isinstance(session, _Session) or not session.desk.is_drawn_now(key, said):
        return False
    shown, value = session.drawn or session.seen.view, said["value"]  # type: ignore[index]
    if not parameter.fits(value, Context(_models(), shown.model)):
        return False
    session.drawn = shown.having(parameter, value)
    return True


def notices() -> list[str]:
    """Return what is wrong with the link or the text, in plain sentences."""
    return _session().seen.notices


def wanted_model() -> str:
    """Return the model that the link asks for and that is not here, if it may be one of the hub; else nothing."""
    return _session().seen.wanted


def _wanted(link: Mapping[str, str], models: Mapping[str, ModelInfo]) -> str:
    wanted = link.get("model", "")
    if not wanted or wanted in models:
        return ""
    try:
        return hub.check_id(wanted)
    except HubError:
        return ""


def change(update: Callable[[View], View], notes: list[str] | None = None) -> None:
    """Replace the view, and write its link; the browser's back button returns to the one before."""
    seen = _session().seen
    seen.view = update(seen.view)
    seen.link, seen.notices, seen.wanted = seen.view.to_query(), notes or [], ""
    seen.refused = ("", "")


def refuse(parameter: Parameter[str], typed: str, told: str) -> None:
    """Leave the view as it is, say why, and leave what was typed where it can be mended."""
    kept = message("{told} “{text}” is still shown.", told=told, text=str(current()[parameter]))
    change(lambda view: view, [kept])
    _session().seen.refused = (parameter.name, typed)


def written(parameter: Parameter[Any]) -> str:
    """Return what stands in the field of a text: the view's or, until anything changes, what was typed and refused."""
    name, typed = _session().seen.refused
    return typed if name == parameter.name else str(current()[parameter] or "")


def set(parameter: Parameter[T] | str, value: T) -> None:
    """Choose a value of a parameter of this page, or of the one that has this name; what is none changes nothing.

    What follows from it is declared (see :class:`~attention.parameters.Parameter`), but for two things that are known
    to a session alone: another model reads what was last read of its kind, and padding that goes is not in focus.
    """
    found = _named(parameter) if isinstance(parameter, str) else parameter
    view = current()
    if not found.fits(value, Context(_models(), view.model)):
        if found is MODEL:
            change(lambda view: view, [message("{model} is no longer here: choose another model.", model=str(value))])
        return
    if found is MODEL:
        _set_model(str(value))
    elif found is MASK:
        _set_mask(found, value)
    else:
        typed = {found.name: value} if isinstance(value, str) else {}
        change(lambda view: _placed(view, [found]).having(found, value), view.notices(typed))


def set_all(chosen: Sequence[tuple[Parameter[Any], Any]], cleared: Sequence[Parameter[Any]] = ()) -> None:
    """Choose values together, as one press does: none of them resets another one. ``cleared`` go to their defaults."""
    context = Context(_models(), current().model)
    if not all(parameter.fits(value, context) for parameter, value in chosen):
        return

    def update(view: View) -> View:
        view = _placed(view, [parameter for parameter, _ in chosen])
        for parameter, value in chosen:
            view = view.having(parameter, value)
        for parameter, value in chosen:
            view = view.but(parameter, value)
        return view.without(*cleared)

    typed = {parameter.name: value for parameter, value in chosen if isinstance(value, str)}
    change(update, current().notices(typed))


def _placed(view: View, chosen: Collection[Parameter[Any]]) -> View:
    """Keep the head, where another layer than the one opened for the text is chosen, and the layer of another head."""
    models = _models()
    if view.model not in models or view.part != PART.default:
        return view
    for pane, model in ((MAIN, view.model), (OTHER, other_model(view.model, models))):
        info, place = models[model], view.place(pane)
        first = first_place(info, view.text)
        is_open = place.layer is None and place.head is None and first != (info.default_layer, info.default_head)
        if is_open and (pane.layer in chosen or pane.head in chosen):
            view = view.but(pane.layer, first[0]).but(pane.head, first[1])
    return view


def setter(parameter: Parameter[Any]) -> Callable[[Any], None]:
    """Return what sets a parameter, as it stands on the page that is being drawn.

    A layer, a head or a word may have been chosen for the model that stood there before: that changes nothing.
    """
    model = current().model

    def take(value: Any) -> None:
        if current().model == model or not is_of_model(parameter):
            set(parameter, value)

    return take


def _named(name: str) -> Parameter[Any]:
    """Return the parameter of this page that has a name.

    Raises:
        StopIteration: it has none of that name.
    """
    return next(parameter for parameter in current().page.parameters if parameter.name == name)


def _set_mask(parameter: Parameter[Any], mask: object) -> None:
    view = current()
    if mask == view.mask:
        return
    token = None if view.word is None else focus.token_in(view)
    found = view.having(parameter, mask)
    # Padding that goes cannot be in focus.
    is_gone = token is not None and token.is_padding
    change(lambda _: found.but(WORD, None) if is_gone else found)


def _set_model(model: str) -> None:
    """Take another model; where it reads something else, it gets what was last read of that kind."""
    view = _with_model(model, focus.shown_spot(current()))
    _remember(_session().seen, _models())
    change(lambda _: view)


def seen_with(model: str) -> View:
    """Return the view with another model, and with something that it can read; a chosen word stays in focus."""
    return _with_model(model, focus.spot_in(current()))


def _with_model(model: str, spot: Spot | None) -> View:
    """Return the view with another model, with something that it can read, and with the word at a spot in focus."""
    view, models = current(), _models()
    # One that somebody removes at this moment will be told to be gone.
    if model == view.model or model not in models:
        return view
    info = models[model]
    seen = view.having(MODEL, model).having(AT, spot)
    if not info.reading.is_same(_reading(view, models)):
        last = _session().seen.read.get(info.reading.name, View.of(text=info.reading.first))
        seen = seen.having(TEXT, last.text).having(PAIR, last.pair).having(AT, focus.spot_in(last))
    return seen.fitting(Context(models, model))


def _remember(seen: _Seen, models: Mapping[str, ModelInfo]) -> None:
    """Keep what is read, for when a model that reads such a thing is chosen once more."""
    seen.read = {**seen.read, _reading(seen.view, models).name: seen.view}


def _models() -> dict[str, ModelInfo]:
    return {info.model_id: info for info in list_models()}


def _reading(view: View, models: Mapping[str, ModelInfo]) -> Reading:
    """Return what the model of a view reads; of one that somebody has removed, what its text looks like."""
    return models[view.model].reading if view.model in models else recognised(view.text)
