"""A press in a part of a page runs that part alone, if nothing else runs; otherwise it runs the page.

Streamlit lets such a press wait until what runs has ended, and ignores one in a part of which the server does not know,
as after a restart. Here every press interrupts, and none is lost, not even one whose run had not begun. What asks for a
run by itself, as a bar does that follows something, interrupts nothing: it asks again.

And a press whose answer the browser has drawn by itself (:mod:`attention.ui.leaf`) runs nothing: it travels on with
every later message, and is taken together with the next one (:mod:`attention.ui.state`).

There is no public way to do this, so this patches private functions of the pinned version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType, _coalesce_widget_states
from streamlit.runtime.state import SafeSessionState

__all__ = ["run_what_is_needed"]

_request = AppSession.request_rerun
_handle = AppSession._handle_scriptrunner_event_on_event_loop
# Whether a session was asked for a run that has not ended; its own state turns only when the run has begun.
_ASKED = "_attention_asked"
_ENDS = (
    ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS,
    ScriptRunnerEvent.SCRIPT_STOPPED_WITH_COMPILE_ERROR,
    ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS,
)


def run_what_is_needed() -> None:
    """Let a press run the whole page, unless the session is idle: then its part of the page, or nothing."""
    AppSession.request_rerun = _request_what_is_needed  # type: ignore[method-assign]
    AppSession._handle_scriptrunner_event_on_event_loop = _note_the_end  # type: ignore[method-assign]
    SafeSessionState.on_script_will_rerun = _take_what_was_said  # type: ignore[method-assign]


def _request_what_is_needed(self: AppSession, client_state: ClientState | None) -> None:
    if client_state is not None:
        is_idle = _is_idle(self)
        if is_idle and any(_has_drawn(self, said) for said in _chosen(client_state)):
            return
        if client_state.is_auto_rerun and not is_idle:
            return
        if client_state.fragment_id and not (is_idle and self.has_fragment(client_state.fragment_id)):
            client_state.fragment_id = ""
        if not client_state.fragment_id:
            _take_over(self, client_state)
    _request(self, client_state)
    vars(self)[_ASKED] = True


def _note_the_end(self: AppSession, sender: Any, event: ScriptRunnerEvent, *arguments: Any, **others: Any) -> None:
    is_current = sender is self._scriptrunner
    _handle(self, sender, event, *arguments, **others)
    if is_current and event in _ENDS:
        vars(self)[_ASKED] = False


def _take_what_was_said(self: SafeSessionState, *said: Any, **others: Any) -> None:
    """Take what a message says though its run is to stop: Streamlit stops it before, and a press would be lost.

    A run that waits for its turn (:mod:`attention.ui.gate`) has its message, and has not taken it.
    """
    with self._lock:
        self._state.on_script_will_rerun(*said, **others)


def _take_over(session: AppSession, client_state: ClientState) -> None:
    """Add what was pressed for a run that has not begun: Streamlit stops that run, and a button would be forgotten."""
    if session._scriptrunner is None:
        return
    requests = session._scriptrunner._requests
    with requests._lock:
        if requests._state is ScriptRequestType.RERUN:
            both = _coalesce_widget_states(requests._rerun_data.widget_states, client_state.widget_states)
            # Otherwise it could begin meanwhile, and the press would count twice.
            requests._state = ScriptRequestType.STOP
            if both is not None:
                client_state.widget_states.CopyFrom(both)


def _is_idle(session: AppSession) -> bool:
    """Tell whether no run is asked for or under way, and all that the last one drew is sent.

    When a part begins to run, Streamlit drops what of it was not sent yet; after a run of the page, the browser would
    take that part for gone, and make it anew.
    """
    is_asked = session._scriptrunner is not None and vars(session).get(_ASKED, False)
    is_running = session._state is not AppSessionState.APP_NOT_RUNNING
    return not (is_asked or is_running) and session._browser_queue.is_empty()


def _has_drawn(session: AppSession, said: object) -> bool:
    # It is much to import, and the server answers before that.
    from attention.settings import STEP
    from attention.ui import state

    return state.has_drawn(session.session_state, "stepper.choose", said, STEP)


def _chosen(client_state: ClientState) -> Iterator[object]:
    """Yield what the stepper says; a browser can say anything."""
    for widget in client_state.widget_states.widgets:
        if widget.id.endswith("-stepper"):
            try:
                yield json.loads(widget.json_value)["choose"]
            except (ValueError, TypeError, LookupError, RecursionError):
                return
