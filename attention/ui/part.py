"""A press in a part of a page runs that part alone, if nothing else runs; otherwise it runs the page.

Streamlit lets such a press wait until what runs has ended, and ignores one in a part of which the server does not know,
as after a restart. Here every press interrupts, and none is lost. There is no public way to do this, so this patches a
private function of the pinned version.
"""

from __future__ import annotations

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState

__all__ = ["run_whole_when_busy"]

_request = AppSession.request_rerun


def run_whole_when_busy() -> None:
    """Let a press run the whole page, unless the session is idle and knows the part where it was made."""
    AppSession.request_rerun = _request_whole  # type: ignore[method-assign]


def _request_whole(self: AppSession, client_state: ClientState | None) -> None:
    if client_state is not None and client_state.fragment_id:
        is_idle = self._state is AppSessionState.APP_NOT_RUNNING
        if not is_idle or not self.has_fragment(client_state.fragment_id):
            client_state.fragment_id = ""
    _request(self, client_state)
