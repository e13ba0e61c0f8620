"""The catalogue: what each model is, where it is now, and the way from the hub to this machine."""

from __future__ import annotations

import html

import streamlit as st

from attention.lesson.prose import lesson
from attention.messages import message
from attention.models import hub
from attention.models.architectures import ARCHITECTURES, TEXT_PARTS
from attention.models.catalogue import Availability, Entry, catalogue
from attention.models.downloads import State
from attention.models.hub import Allowed, HubError
from attention.models.memory import allowed_bytes
from attention.pages import MODELS, STEP_BY_STEP
from attention.settings import GET
from attention.ui import markup, state
from attention.ui.cache import downloads, settle, shelf
from attention.ui.masthead import masthead, notices
from attention.view import View

__all__ = ["show"]

# The ids of the downloads that this session has seen: it is told how they ended.
_FOLLOWED = "followed_downloads"
_SAID = "said_of_models"
# A model that was used within this time counts as in use: a user may be reading its results.
IDLE_SECONDS = 60.0
REFRESH_SECONDS = 0.5

_EXAMPLE = "google-bert/bert-base-uncased"
_PLACES: dict[Availability, str] = {
    "built in": message("built in"),
    "on disk": message("on disk"),
    "on the hub": message("on the hub"),
    "fetched when used": message("fetched when it is first used"),
    "not installed": message("not installed"),
    "cannot be shown": message("cannot be shown"),
}


def show() -> None:
    """Draw the page: all models, the downloads, and how to get more models."""
    view = masthead(MODELS, reads=False)
    notices()
    st.title(MODELS.title, anchor=False)
    markup.prose(lesson("models/intro"))
    for say, sentence in st.session_state.pop(_SAID, []):
        say(sentence)
    may_fetch = hub.allowed()
    outcomes, entries = _follow(), catalogue()
    # A model without a card was requested in the field.
    for model_id in outcomes.keys() - {entry.model_id for entry in entries}:
        _tell_outcome(model_id, outcomes[model_id])
    _fetch_field(view, may_fetch)
    in_memory = shelf().in_memory()
    on_their_way = _on_their_way()
    with st.container(key="catalogue"):
        for entry in entries:
            is_coming = entry.model_id in on_their_way
            with st.container(border=True, key=f"card_{entry.model_id}"):
                _card(entry, may_fetch, is_loaded=entry.model_id in in_memory, is_coming=is_coming)
                if entry.model_id in outcomes:
                    _tell_outcome(entry.model_id, outcomes[entry.model_id])
    markup.prose(_kinds(), is_aside=True)
    settle()


def _card(entry: Entry, may_fetch: Allowed, *, is_loaded: bool, is_coming: bool) -> None:
    where = _where(entry, is_loaded=is_loaded, is_coming=is_coming)
    st.html(_facts(entry, where, is_here=not is_coming and _is_at_hand(entry, is_loaded=is_loaded)))
    if entry.problem:
        markup.notice(entry.problem)
    with st.container(horizontal=True, vertical_alignment="center"):
        if entry.info is not None:
            to = state.seen_with(entry.model_id).on(STEP_BY_STEP).to_query()
            with st.container(key=f"way_in_card_{entry.model_id}", width="content"):
                st.page_link(
                    STEP_BY_STEP.file, label=message("Look at {name} ▸", name=markup.plain(entry.name)), query_params=to
                )
        if entry.kept is not None and may_fetch:
            st.button(message("Remove from disk"), key=f"remove_{entry.model_id}", on_click=_remove, args=(entry,))
        if entry.offered is not None and entry.model_id in may_fetch and not is_coming:
            size = f"{entry.offered.n_bytes / 1e6:,.0f} MB"
            st.button(
                message("Download, {size}", size=size),
                key=f"download_{entry.model_id}",
                on_click=_start,
                args=(entry.model_id,),
            )


def _where(entry: Entry, *, is_loaded: bool, is_coming: bool) -> str:
    if is_coming:
        return message("on its way")
    if _is_at_hand(entry, is_loaded=is_loaded):
        return message("in memory, {place}", place=_PLACES[entry.place])
    return _PLACES[entry.place]


def _is_at_hand(entry: Entry, *, is_loaded: bool) -> bool:
    return entry.place in ("on disk", "built in") and is_loaded


def _facts(entry: Entry, where: str, *, is_here: bool) -> str:
    facts = {
        message("About it"): "" if entry.info is None else html.escape(entry.info.note),
        message("Architecture"): html.escape(entry.architecture),
        message("Layers × heads"): html.escape(entry.layers_and_heads),
        message("Parameters"): _parameters(entry),
        message("Licence"): html.escape(entry.licence),
        message("Source"): html.escape(entry.source),
        "SHA-256": _checksum(entry.checksum),
    }
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items() if value)
    kind = "place here" if is_here else "place"
    return (
        f'<div class="model"><h3><bdi>{html.escape(entry.name)}</bdi></h3>'
        f'<p class="{kind}">{html.escape(where)}</p><dl>{rows}</dl></div>'
    )


def _parameters(entry: Entry) -> str:
    """Return the number of parameters of a model; if it is not here, the approximate number that is published."""
    if entry.n_parameters is None:
        return ""
    if entry.offered is None:
        return f"{entry.n_parameters:,}"
    return message("about {number} million", number=f"{entry.n_parameters / 1e6:.0f}")


def _checksum(checksum: str) -> str:
    """Return a checksum that can be opened: first its beginning, then all of it, to copy."""
    if not checksum:
        return ""
    return f'<details><summary title="{checksum}">{checksum[:12]}…</summary><code>{checksum}</code></details>'


# --------------------------------------------------------------------------------- from the hub


def _fetch_field(view: View, may_fetch: Allowed) -> None:
    """Draw the field for an id, or say how the owner can allow it."""
    if not may_fetch:
        markup.prose(lesson("models/hub-off"), is_aside=True)
        return
    with st.form("fetch", border=False):
        left, right = st.columns([6, 1], vertical_alignment="bottom")
        left.text_input(
            message("Id of a model on the hub"),
            value=view[GET],
            key="hub_id",
            placeholder=_EXAMPLE,
            max_chars=96,
        )
        right.form_submit_button(message("Download"), on_click=_start_typed, width="stretch")
    markup.prose(lesson("models/hub", limit=f"{may_fetch.max_bytes / 1e6:,.0f} MB"), is_aside=True)


def _kinds() -> str:
    """Return as HTML which models can be shown at all: more than one wants to read before the models that are here."""
    names = dict.fromkeys(architecture.name for architecture in ARCHITECTURES.values())
    return lesson(
        "models/kinds",
        names=", ".join(names),
        parts=", ".join(part.name for part in TEXT_PARTS.values()),
        limit=f"{allowed_bytes() / 1e9:,.1f} GB",
    )


def _follow() -> dict[str, State]:
    """Show the current downloads; return the outcomes of those that have ended, once each."""
    running = _on_their_way()
    followed: set[str] = st.session_state.setdefault(_FOLLOWED, set())
    found = {each.model_id: each.state() for each in downloads().all() if each.model_id in followed}
    st.session_state[_FOLLOWED] = followed | running
    if running:
        st.fragment(run_every=REFRESH_SECONDS)(_bars)(running)
    return {model_id: state for model_id, state in found.items() if state.is_over}


def _bars(running: frozenset[str]) -> None:
    """Draw a bar for each download; when one is added or ends, the whole page is drawn again."""
    if _on_their_way() != running:
        st.rerun()
    for each in downloads().all():
        found = each.state()
        if not found.is_over:
            left, right = st.columns([6, 1], vertical_alignment="center")
            left.progress(found.progress.share, markup.plain(_how_far(each.model_id, found)))
            right.button(message("Cancel"), key=f"cancel_{each.model_id}", on_click=each.cancel, width="stretch")


def _on_their_way() -> frozenset[str]:
    return frozenset(each.model_id for each in downloads().all() if not each.state().is_over)


def _how_far(model_id: str, found: State) -> str:
    done, total = found.progress.n_done / 1e6, found.progress.n_total / 1e6
    if not total:
        return message("{model_id}: asking the hub", model_id=model_id)
    facts = {
        "model_id": model_id,
        "done": f"{done:,.1f}",
        "total": f"{total:,.1f}",
        "speed": f"{found.bytes_per_second / 1e6:,.1f}",
    }
    left = found.seconds_left
    if left is None:
        return message("{model_id}: {done} of {total} MB, {speed} MB/s", **facts)
    return message("{model_id}: {done} of {total} MB, {speed} MB/s, {time} left", time=_duration(left), **facts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return message("{seconds} s", seconds=f"{seconds:.0f}")
    return message("{minutes} min", minutes=f"{seconds / 60:.0f}")


def _tell_outcome(model_id: str, found: State) -> None:
    if found.failure is not None:
        markup.notice(found.failure)
    elif found.is_cancelled:
        markup.news(message("Cancelled: nothing of {model_id} is kept.", model_id=model_id))
    else:
        markup.news(message("{model_id} is here now: every page has it among its models.", model_id=model_id))


def _start_typed() -> None:
    typed = st.session_state["hub_id"]
    if not typed.strip():
        _say(message("Type the id of a model first: it looks like {example}.", example=_EXAMPLE))
        return
    try:
        model_id = hub.check_id(typed)
    except HubError as error:
        _say(str(error))
        return
    _start(model_id)


def _start(model_id: str) -> None:
    try:
        downloads().start(model_id)
    except HubError as error:
        _say(str(error))
        return
    st.session_state[_FOLLOWED] = {model_id}


def _remove(entry: Entry) -> None:
    assert entry.kept is not None
    # No session may start to load what is being deleted.
    with shelf().kept_out(entry.model_id, IDLE_SECONDS) as is_out:
        if not is_out:
            _say(
                message(
                    "{name} stays: somebody has used it in the last {idle_seconds} seconds. Try again later.",
                    name=entry.name,
                    idle_seconds=f"{IDLE_SECONDS:.0f}",
                )
            )
            return
        try:
            hub.remove(entry.kept)
        except OSError as error:
            _say(message("{name} cannot be removed: {reason}.", name=entry.name, reason=error.strerror or str(error)))
            return
    st.session_state[_SAID] = [(markup.news, message("{name} is no longer on disk.", name=entry.name))]


def _say(sentence: str) -> None:
    st.session_state[_SAID] = [(markup.notice, sentence)]
