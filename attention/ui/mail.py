"""What a running page has to say to its browser, handed over a few milliseconds' worth at a time.

A step says sixty things, and Streamlit wakes the server's event loop for each of them: the two threads then take turns
sixty times, which costs a third of all the time that a step takes. Here what a page says is gathered, in its order,
and the loop is woken once for many; as soon as the page is finished, for all that is left. There is no public place for
that, so this is one private one, of the version that is pinned.
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

# Seconds, of which nobody notices anything, and in which most of a page is said.
WAIT = 0.008
_PLACE = "_attention_mail"


class Mail:
    """What one session has to say and has not handed over: from the thread of its page to the server's event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[Callable[[], None]], None]) -> None:
        """Begin with nothing; ``wake`` has the loop call something, from whatever thread."""
        self._loop = loop
        self._wake = wake
        # Its methods are each one step of Python's, so that two threads need no lock.
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_expected = False

    def post(self, handle: Callable[[], None], *, is_urgent: bool) -> None:
        """Have ``handle`` called on the loop, after all that was posted before; soon, or at once."""
        self._waiting.append(handle)
        if is_urgent:
            self._wake(self._hand_over)
        elif not self._is_expected:
            self._is_expected = True
            self._wake(self._wait)

    def _wait(self) -> None:
        self._loop.call_later(WAIT, self._hand_over)

    def _hand_over(self) -> None:
        # What is posted from now on is expected anew.
        self._is_expected = False
        while self._waiting:
            # Each by itself: where one fails, the others do not.
            self._loop.call_soon(self._waiting.popleft())


def gather_mail() -> None:
    """Let every session of this server gather what it has to say."""
    AppSession._on_scriptrunner_event = _post  # type: ignore[method-assign]


def _post(self: AppSession, sender: Any, event: ScriptRunnerEvent, *arguments: Any, **others: Any) -> None:
    mail: Mail = vars(self).setdefault(_PLACE, Mail(self._event_loop, self._call_soon_on_event_loop))
    handle = partial(self._handle_scriptrunner_event_on_event_loop, sender, event, *arguments, **others)
    mail.post(handle, is_urgent=event is not ScriptRunnerEvent.ENQUEUE_FORWARD_MSG)
