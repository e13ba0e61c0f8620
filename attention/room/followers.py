"""Who follows a room at this moment, and what each still has to be sent: one drawing, many screens.

All of this happens on the thread of the server's event loop. A follower that is slower than what is shown gets the
latest of each kind, and never piles up what it has missed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["BEAT", "Follower", "Followers", "event"]

# So many seconds go by between two signs of life, by which both sides notice when the other is gone.
BEAT = 15.0
_BEATS = b": \n\n"


def event(kind: str, data: object) -> bytes:
    """Return a message as server-sent events are written."""
    written = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # What was typed may have lone surrogates, and a line feed, which JSON writes as \\n, would end the message.
    return f"event: {kind}\ndata: {written}\n\n".encode("utf-8", "replace")


class Follower:
    """One screen, and what it has not been sent yet, by kind."""

    __slots__ = ("_is_gone", "_waiting", "_woken")

    def __init__(self, waiting: Mapping[str, bytes]) -> None:
        """Begin with what there is to be seen."""
        self._waiting = dict(waiting)
        self._woken = asyncio.Event()
        self._is_gone = False
        self._woken.set()

    @property
    def is_gone(self) -> bool:
        """Whether the screen is gone."""
        return self._is_gone

    def put(self, kind: str, written: bytes) -> None:
        """Send something as soon as possible, in place of what was to be sent of its kind."""
        self._waiting[kind] = written
        self._woken.set()

    def leave(self) -> None:
        """Note that the screen is gone."""
        self._is_gone = True
        self._woken.set()

    async def next(self, beat: float = BEAT) -> bytes:
        """Wait for something to send, or for the time of a sign of life."""
        try:
            async with asyncio.timeout(beat):
                await self._woken.wait()
        except TimeoutError:
            return _BEATS
        self._woken.clear()
        found, self._waiting = b"".join(self._waiting.values()), {}
        return found


class Followers:
    """The screens of one room, and the last message of each kind."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._screens: set[Follower] = set()
        self._shown: dict[str, bytes] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._screens)

    def join(self, own: Mapping[str, object]) -> Follower:
        """Add a screen: it is sent what all have been shown, and what is for it alone."""
        follower = Follower({**self._shown, **{kind: event(kind, data) for kind, data in own.items()}})
        self._screens.add(follower)
        return follower

    def leave(self, follower: Follower) -> None:
        """Remove a screen."""
        follower.leave()
        self._screens.discard(follower)

    def let_go(self) -> None:
        """Let all screens go."""
        for each in self._screens:
            each.leave()

    def send(self, kind: str, data: Any) -> None:
        """Send something to all, unless it is what they were sent last."""
        written = event(kind, data)
        if self._shown.get(kind) == written:
            return
        self._shown[kind] = written
        for each in self._screens:
            each.put(kind, written)
