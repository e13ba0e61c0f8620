"""The followers of a room, and each one's unsent updates: one drawing, many screens.

Everything here runs in the event loop. A slow follower gets the latest message of each kind, and no backlog.

A message is compressed once for everyone: as DEFLATE blocks (RFC 1951) that start and end at a byte and refer to
nothing before them, messages in any order form one gzip stream (RFC 1952).
"""

from __future__ import annotations

import asyncio
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from attention.core.messages import message

# In seconds: the time between two signs of life, which reveal a lost connection to both sides.
BEAT = 15.0
# Screens per pupil: a phone, whose connection is lost now and then, and some windows.
MOST_OF_ONE = 4
# The header of a gzip stream without file name or time. The stream ends with the connection, without a checksum.
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# In bytes: shorter messages are stored, because compressing costs more than it saves; a stored block holds 65,535.
_WORTH_PACKING = 256


@dataclass(frozen=True, slots=True)
class Written:
    """A message, plain and as part of a gzip stream."""

    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, plain: bytes) -> Self:
        """Compress a message if it is worth it."""
        if len(plain) < _WORTH_PACKING:
            return cls(plain, struct.pack("<BHH", 0, len(plain), len(plain) ^ 0xFFFF) + plain)
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return cls(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


_BEATS = Written.of(b": \n\n")


def event(kind: str, data: object) -> Written:
    """Return a server-sent event."""
    written = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # Typed text may contain lone surrogates. JSON writes a line feed, which would end the message, as \\n.
    return Written.of(f"event: {kind}\ndata: {written}\n\n".encode("utf-8", "replace"))


class Follower:
    """A screen, and the latest unsent message of each kind."""

    __slots__ = ("_is_gone", "_waiting", "_woken")

    def __init__(self, waiting: Mapping[str, Written]) -> None:
        self._waiting = dict(waiting)
        self._woken = asyncio.Event()
        self._is_gone = False
        self._woken.set()

    @property
    def is_gone(self) -> bool:
        """Whether the screen is gone."""
        return self._is_gone

    def put(self, kind: str, written: Written) -> None:
        """Send a message as soon as possible, instead of an unsent one of its kind."""
        self._waiting[kind] = written
        self._woken.set()

    def leave(self) -> None:
        """Mark the screen as closed."""
        self._is_gone = True
        self._woken.set()

    async def next(self, beat: float = BEAT) -> Sequence[Written]:
        """Return the unsent messages, as soon as there are any, or a sign of life after ``beat`` seconds."""
        try:
            async with asyncio.timeout(beat):
                await self._woken.wait()
        except TimeoutError:
            return (_BEATS,)
        self._woken.clear()
        found, self._waiting = tuple(self._waiting.values()), {}
        return found


class Followers:
    """The screens of a room, and the last message of each kind."""

    def __init__(self) -> None:
        self._screens: set[Follower] = set()
        # By pupil, the oldest screen first.
        self._of: dict[str, list[Follower]] = {}
        self._shown: dict[str, Written] = {}
        # The last message to each pupil, by kind.
        self._own: dict[str, dict[str, Written]] = {}

    def __len__(self) -> int:
        """Return the number of screens."""
        return len(self._screens)

    @property
    def n_seats(self) -> int:
        """The number of pupils, on however many screens."""
        return len(self._of)

    def has(self, seat: str) -> bool:
        """Whether a pupil has a screen here."""
        return seat in self._of

    def join(self, own: Mapping[str, object], seat: str = "") -> Follower:
        """Add a screen; it is sent the last message of each kind, and its own.

        A pupil (with a seat) may have ``MOST_OF_ONE`` screens. One more replaces the oldest, whose connection may be
        lost, and tells it not to reconnect.
        """
        written = {kind: event(kind, data) for kind, data in own.items()}
        sent = {kind: of_each[seat] for kind, of_each in self._own.items() if seat in of_each}
        follower = Follower({**self._shown, **written, **sent})
        self._screens.add(follower)
        if seat:
            of_seat = self._of.setdefault(seat, [])
            of_seat.append(follower)
            if len(of_seat) > MOST_OF_ONE:
                told = message("You follow this class in other windows.")
                of_seat[0].put("over", event("over", {"told": told, "isElsewhere": True}))
                self.leave(of_seat[0], seat)
        return follower

    def leave(self, follower: Follower, seat: str = "") -> None:
        """Remove a screen."""
        follower.leave()
        self._screens.discard(follower)
        of_seat = self._of.get(seat, [])
        if follower in of_seat:
            of_seat.remove(follower)
        if not of_seat:
            self._of.pop(seat, None)

    def let_go(self) -> None:
        """Dismiss all screens."""
        for each in self._screens:
            each.leave()

    def send(self, kind: str, data: Any) -> None:
        """Send a message to all screens, unless it repeats the last one of its kind."""
        self.send_written(kind, event(kind, data))

    def send_written(self, kind: str, written: Written) -> None:
        """Send an encoded message (large ones are encoded outside the event loop)."""
        if self._shown.get(kind) == written:
            return
        self._shown[kind] = written
        for each in self._screens:
            each.put(kind, written)

    def send_each(self, kind: str, data: Mapping[str, object]) -> None:
        """Send each pupil an individual message, by seat, even to those who join later."""
        self._own[kind] = {seat: event(kind, found) for seat, found in data.items()}
        for seat, written in self._own[kind].items():
            for each in self._of.get(seat, ()):
                each.put(kind, written)
