"""Who follows a room at this moment, and what each still has to be sent: one drawing, many screens.

All of this happens on the thread of the server's event loop. A follower that is slower than what is shown gets the
latest of each kind, and never piles up what it has missed.

A message is compressed once, for everybody: as blocks of DEFLATE (RFC 1951) that begin at a byte, end at one and refer
to nothing before them, they can follow any others, so that what a follower is sent is one stream of gzip (RFC 1952).
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

__all__ = ["BEAT", "GZIP_HEAD", "MOST_OF_ONE", "Follower", "Followers", "Written", "event"]

# So many seconds go by between two signs of life, by which both sides notice when the other is gone.
BEAT = 15.0
# So many screens may one pupil have: a phone, whose connection is lost now and then, and some windows.
MOST_OF_ONE = 4
# A stream of gzip, of no file and no time. It ends when the connection does, without a checksum.
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# Below so many bytes, searching for what repeats costs more than it saves; a stored block has 65,535 at most.
_WORTH_PACKING = 256


@dataclass(frozen=True, slots=True)
class Written:
    """What is sent, as it is and as a part of a stream of gzip."""

    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, plain: bytes) -> Self:
        """Compress what is worth it; the rest is stored."""
        if len(plain) < _WORTH_PACKING:
            return cls(plain, struct.pack("<BHH", 0, len(plain), len(plain) ^ 0xFFFF) + plain)
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return cls(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


_BEATS = Written.of(b": \n\n")


def event(kind: str, data: object) -> Written:
    """Return a message as server-sent events are written."""
    written = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # What was typed may have lone surrogates, and a line feed, which JSON writes as \\n, would end the message.
    return Written.of(f"event: {kind}\ndata: {written}\n\n".encode("utf-8", "replace"))


class Follower:
    """One screen, and what it has not been sent yet, by kind."""

    __slots__ = ("_is_gone", "_waiting", "_woken")

    def __init__(self, waiting: Mapping[str, Written]) -> None:
        """Begin with what there is to be seen."""
        self._waiting = dict(waiting)
        self._woken = asyncio.Event()
        self._is_gone = False
        self._woken.set()

    @property
    def is_gone(self) -> bool:
        """Whether the screen is gone."""
        return self._is_gone

    def put(self, kind: str, written: Written) -> None:
        """Send something as soon as possible, in place of what was to be sent of its kind."""
        self._waiting[kind] = written
        self._woken.set()

    def leave(self) -> None:
        """Note that the screen is gone."""
        self._is_gone = True
        self._woken.set()

    async def next(self, beat: float = BEAT) -> Sequence[Written]:
        """Wait for something to send, or for the time of a sign of life."""
        try:
            async with asyncio.timeout(beat):
                await self._woken.wait()
        except TimeoutError:
            return (_BEATS,)
        self._woken.clear()
        found, self._waiting = tuple(self._waiting.values()), {}
        return found


class Followers:
    """The screens of one room, and the last message of each kind."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._screens: set[Follower] = set()
        # Those of each pupil, the oldest first.
        self._of: dict[str, list[Follower]] = {}
        self._shown: dict[str, Written] = {}
        # What was last sent to each pupil alone, by kind.
        self._own: dict[str, dict[str, Written]] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._screens)

    @property
    def n_seats(self) -> int:
        """Return how many pupils there are, on however many screens."""
        return len(self._of)

    def join(self, own: Mapping[str, object], seat: str = "") -> Follower:
        """Add a screen: it is sent what all have been shown, and what is for it alone.

        A pupil, who has a seat, has ``MOST_OF_ONE`` of them. For one more, the oldest goes, which may be one whose
        connection is lost without anybody having noticed; and is told, so that it does not come back by itself.
        """
        written = {kind: event(kind, data) for kind, data in own.items()}
        sent = {kind: of_each[seat] for kind, of_each in self._own.items() if seat in of_each}
        follower = Follower({**self._shown, **written, **sent})
        self._screens.add(follower)
        if seat:
            of_seat = self._of.setdefault(seat, [])
            of_seat.append(follower)
            if len(of_seat) > MOST_OF_ONE:
                of_seat[0].put("over", event("over", {"told": message("You follow this class in other windows.")}))
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
        """Let all screens go."""
        for each in self._screens:
            each.leave()

    def send(self, kind: str, data: Any) -> None:
        """Send something to all, unless it is what they were sent last."""
        self.send_written(kind, event(kind, data))

    def send_written(self, kind: str, written: Written) -> None:
        """Send the same, written already: what is large is written beside the event loop."""
        if self._shown.get(kind) == written:
            return
        self._shown[kind] = written
        for each in self._screens:
            each.put(kind, written)

    def send_each(self, kind: str, data: Mapping[str, object]) -> None:
        """Send each pupil what is for them alone, by seat; who comes later is sent it then."""
        self._own[kind] = {seat: event(kind, found) for seat, found in data.items()}
        for seat, written in self._own[kind].items():
            for each in self._of.get(seat, ()):
                each.put(kind, written)
