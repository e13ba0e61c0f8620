"""The view of this session and its link: the one place where either changes.

The link is the truth. A widget never keeps a value of its own: before it is drawn it is given the
view's, and when a person changes it, the view and the link change. So the back button, a reload and
a link sent to somebody all lead to the same page.

People press faster than answers come. With every press a browser sends the values of all widgets as
it knows them, and it may not know yet what the press before has changed: what it repeats of a widget
that has got another value in the meantime is an echo, and no choice (``chosen``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention.examples import EXAMPLES
from attention.models import ModelInfo, get_info, hub, list_models
from attention.models.hub import HubError
from attention.trace import Reads
from attention.ui import focus
from attention.view import Pane, View, text_notices

__all__ = [
    "change",
    "chosen",
    "current",
    "kept",
    "notices",
    "open_page",
    "seen_with",
    "set_model",
    "set_pair",
    "set_pane",
    "set_text",
    "set_versus",
    "taken_along",
    "wanted_model",
]

_VIEW, _LINK, _NOTICES, _PAGE, _HEARD, _IS_BEHIND = "view", "link", "notices", "page", "heard", "is_behind"
_WANTED, _READ, _OPENED, _KEPT = "wanted_model", "read", "opened", "kept"
_OURS = {_VIEW, _LINK, _NOTICES, _PAGE, _HEARD, _IS_BEHIND, _WANTED, _READ, _OPENED, _KEPT}


def open_page(page: str, opening: Callable[[View], View] | None = None) -> View:
    """Return the view of a page that begins to run: what its link says, if somebody came by a link.

    What a link leaves open, ``opening`` may choose, for a page whose first view is not that of all others.

    One comes by a link to a new session, to another page, and by the browser's back and forward buttons.
    At any other time the session's own view counts: of two quick clicks, the second may arrive with the
    link of before the first.
    """
    context = get_script_run_ctx()
    is_back_or_forward = context is not None and context.is_history_navigation
    models = {info.model_id: info for info in list_models()}
    if is_back_or_forward or st.session_state.get(_PAGE) != page:
        link = st.query_params.to_dict()
        linked, found = View.from_query(link, models)
        st.session_state[_KEPT] = linked.keeping(kept(), page)
        linked = linked.shown_on(page)
        view = linked if opening is None else opening(linked)
        st.session_state.update({_VIEW: view, _LINK: link, _NOTICES: found, _PAGE: page, _OPENED: (linked, view)})
        st.session_state[_WANTED] = _wanted(link, models)
    # What the browser says of every widget, before it is given what the view says.
    st.session_state[_HEARD] = {name: value for name, value in st.session_state.to_dict().items() if name not in _OURS}
    st.session_state[_IS_BEHIND] = False
    gone = current().model
    if gone not in models:
        # Somebody has removed it meanwhile.
        change(lambda view: view.with_model(View().model), [f"{gone} is no longer here: another model is shown."])
    _remember(current(), models[current().model])
    st.session_state[_KEPT] = taken_along().keeping(kept(), page)
    return current()


def taken_along() -> View:
    """Return the view that a link to another page takes along: not what this page has chosen to begin with."""
    linked, opened = st.session_state[_OPENED]
    view = current()
    return linked if view == opened else view


def kept() -> View:
    """Return a view that holds, for every page that has something of its own, what that was when it was last seen."""
    found: View = st.session_state.get(_KEPT, View())
    return found


def current() -> View:
    """Return the session's view."""
    view: View = st.session_state[_VIEW]
    return view


def notices() -> list[str]:
    """Return what is wrong with the link or the text, in plain sentences."""
    found: list[str] = st.session_state[_NOTICES]
    return found


def wanted_model() -> str:
    """Return the model that the link asks for and that is not here, if it may be one of the hub; else nothing."""
    found: str = st.session_state[_WANTED]
    return found


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
    is_behind = _is_behind()
    view = update(current())
    link = view.to_query()
    st.session_state[_IS_BEHIND] = is_behind
    st.session_state.update({_VIEW: view, _LINK: link, _NOTICES: notes or [], _WANTED: ""})
    st.query_params.from_dict(link)


def chosen(name: str) -> Any:
    """Return what was chosen in a widget; None if the browser only repeats what it said before.

    A browser whose link is not yet the view's has not yet heard of the last change.
    """
    value = st.session_state[name]
    return None if _is_behind() and st.session_state[_HEARD].get(name) == value else value


def _is_behind() -> bool:
    # Once the view has changed, the link that came with this press is overwritten.
    return st.session_state[_IS_BEHIND] or st.query_params.to_dict() != st.session_state[_LINK]


def set_text(text: str) -> None:
    """Take a new sentence; what a link has no room for is cut, and a notice says so."""
    view = current()
    change(lambda view: view.with_text(text), text_notices(text, view.pair, view.versus))


def set_model(model: str) -> None:
    """Take another model; where it reads something else, it gets what was last read of that kind."""
    view = seen_with(model)
    _remember(current(), get_info(current().model))
    change(lambda _: view)


def seen_with(model: str) -> View:
    """Return the view with another model, and with something that it can read; the same word stays in focus."""
    view, info = current(), get_info(model)
    if model == view.model:
        return view
    seen = view.with_model(model, focus.spot_in(view))
    if info.reads != get_info(view.model).reads:
        last = _read().get(info.reads, View(text=EXAMPLES[info.reads][0]))
        seen = replace(seen.with_text(last.text).with_pair(last.pair), spot=focus.spot_in(last))
    return seen.fitting(info)


def _remember(view: View, info: ModelInfo) -> None:
    """Keep what is read, for when a model that reads such a thing is chosen once more."""
    st.session_state[_READ] = {**_read(), info.reads: view}


def _read() -> dict[Reads, View]:
    found: dict[Reads, View] = st.session_state.get(_READ, {})
    return found


def set_pair(pair: str, text: str | None = None) -> None:
    """Take a second sentence, to be read together with the first, and perhaps that one too; an empty one is none."""
    view = current()
    first = view.text if text is None else text
    change(lambda view: view.with_text(first).with_pair(pair), text_notices(first, pair, view.versus))


def set_versus(versus: str, text: str | None = None) -> None:
    """Take a second sentence, to be read by itself and compared, and perhaps the first one too."""
    view = current()
    # The word in focus stays, unless the first sentence is another one.
    notes = text_notices(view.text if text is None else text, view.pair, versus)
    change(lambda view: (view if text is None else view.with_text(text)).with_versus(versus), notes)


def set_pane(is_other: bool, update: Callable[[Pane], Pane], word: int | None = None) -> None:
    """Change layer, head or cell of the model itself or of the one beside it, and perhaps the word in focus."""

    def update_view(view: View) -> View:
        pane = update(view.other if is_other else view.pane)
        view = replace(view, other=pane) if is_other else view.with_pane(pane)
        return view if word is None else replace(view, word=word, spot=None)

    change(update_view)
