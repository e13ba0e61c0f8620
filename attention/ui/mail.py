"""The messages of a running page to its browser, handed over in batches of a few milliseconds.

A step sends some thirty messages, and Streamlit wakes the event loop for each: the two threads then switch thirty
times, which costs a third of the time that the step takes. Here the messages of a page are collected in order, and the
loop is woken once for many of them, and at once for the rest when the page is finished. There is no public way to do
this, so this patches a private function of the pinned version.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent

__all__ = ["WAIT", "Mail", "gather_mail"]

# In seconds: too short to be noticed, long enough for most messages of a page.
WAIT = 0.008
_PLACE = "_attention_mail"


class Mail:
    """The messages of one session that are on their way from the thread of its page to the server's event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[Callable[[], None]], None]) -> None:
        """Begin empty; ``wake`` makes the loop call a function, from any thread."""
        self._loop = loop
        self._wake = wake
        # Each of its methods is atomic in Python, so that two threads need no lock.
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_expected = False

    def post(self, handle: Callable[[], None], *, is_urgent: bool) -> None:
        """Have ``handle`` called on the loop, after everything posted before; soon or, if it is urgent, at once."""
        self._waiting.append(handle)
        if is_urgent:
            self._wake(self._hand_over)
        elif not self._is_expected:
            self._is_expected = True
            self._wake(self._wait)

    def _wait(self) -> None:
        self._loop.call_later(WAIT, self._hand_over)

    def _hand_over(self) -> None:
        # What is posted from now on has to wake the loop again.
        self._is_expected = False
        while self._waiting:
            try:
                self._waiting.popleft()()
            except Exception as error:
                # If one fails, the others do not.
                self._loop.call_exception_handler({"message": "A message was not handed over.", "exception": error})


def gather_mail() -> None:
    """Make every session of this server collect its messages."""
    AppSession._on_scriptrunner_event = _post  # type: ignore[method-assign]


def _post(self: AppSession, sender: Any, event: ScriptRunnerEvent, *arguments: Any, **others: Any) -> None:
    mail: Mail = vars(self).setdefault(_PLACE, Mail(self._event_loop, self._call_soon_on_event_loop))
    handle = partial(self._handle_scriptrunner_event_on_event_loop, sender, event, *arguments, **others)
    mail.post(handle, is_urgent=event is not ScriptRunnerEvent.ENQUEUE_FORWARD_MSG)
