"""Many screens of a class, in a separate process, with the arrival times of their events.

They speak as much HTTP as a browser that follows a room, and draw nothing, so that only the server is measured.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

from attention.app.server import raise_descriptor_limit

__all__ = ["ROOM", "Screens", "Seen", "watched"]

ROOM = "/_attention/room"
_SHOWN = re.compile(rb'"link":"[^"]*[?&]step=(\w+)')
# How many connections are opened, and requests sent, at once.
_AT_ONCE = 50
_PATIENCE = 120.0


@dataclass(slots=True)
class Seen:
    """A view that has arrived at a screen: the room, the step, and the time at which it was complete."""

    code: str
    step: str
    at: float


@dataclass(slots=True, eq=False)
class _Screen(asyncio.Protocol):
    """A connection for events; the time is taken when an event's last byte has arrived."""

    code: str
    request: bytes
    seen: list[Seen]
    is_in: asyncio.Event = field(default_factory=asyncio.Event)
    read: bytearray = field(default_factory=bytearray)
    transport: asyncio.Transport | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self.read += data
        # An HTTP chunk ends where an event does.
        if not self.read.endswith(b"\n\n\r\n"):
            return
        for event in self.read.split(b"event: ")[1:]:
            if event.startswith(b"view") and (step := _SHOWN.search(event)):
                self.seen.append(Seen(self.code, step[1].decode(), now))
                self.is_in.set()
        self.read.clear()


class Screens:
    """The interface to the process with the screens."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def open(self, codes: Sequence[str]) -> float:
        """Open a screen for each code; return how long it took until all had something to show."""
        return float(self._ask("open", codes))

    def seen(self) -> list[Seen]:
        """Return what has arrived at all screens since the last call."""
        return list(self._ask("seen"))

    def answer(self, code: str, number: int, given: Sequence[int]) -> tuple[float, list[float]]:
        """Let pupils answer, many at once; return the time for all, and for each."""
        whole, each = self._ask("answer", code, number, given)
        return float(whole), list(each)

    def _ask(self, *asked: object) -> Any:
        self._pipe.send(asked)
        told = self._pipe.recv()
        if isinstance(told, Exception):
            raise told
        return told


@contextmanager
def watched(url: str) -> Iterator[Screens]:
    """Run the process, initially without screens."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(url, theirs), daemon=True)
    process.start()
    try:
        yield Screens(ours)
    finally:
        ours.send(None)
        process.join(timeout=10)
        process.terminate()


def _serve(url: str, pipe: Connection) -> None:
    raise_descriptor_limit()
    asyncio.run(_Many(url).serve(pipe))


class _Many:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname, parts.port
        self._screens: list[_Screen] = []
        self._seen: list[Seen] = []
        # The seats by room, with the responses to joining.
        self._seats: dict[tuple[str, int], str] = {}

    async def serve(self, pipe: Connection) -> None:
        asked: asyncio.Queue[Any] = asyncio.Queue()
        asyncio.get_running_loop().add_reader(pipe.fileno(), lambda: asked.put_nowait(pipe.recv()))
        while (command := await asked.get()) is not None:
            name, *words = command
            try:
                pipe.send(await getattr(self, name)(*words))
            except Exception as error:
                pipe.send(RuntimeError(f"{name}: {type(error).__name__}: {error}"))

    async def open(self, codes: Sequence[str]) -> float:
        first = len(self._screens)
        start = time.perf_counter()
        await self._each(lambda screen: self._open(*screen), [(code, first + n) for n, code in enumerate(codes)])
        return time.perf_counter() - start

    async def seen(self) -> list[Seen]:
        found, self._seen[:] = list(self._seen), []
        return found

    async def answer(self, code: str, number: int, given: Sequence[int]) -> tuple[float, list[float]]:
        await self._each(lambda pupil: self._join(code, pupil), range(len(given)))
        start = time.perf_counter()
        each = await self._each(
            lambda one: self._answer(code, one[0], {"number": number, "given": [one[1]]}), list(enumerate(given))
        )
        return time.perf_counter() - start, each

    async def _each(self, act: Any, items: Sequence[Any]) -> list[Any]:
        """Do something for each item, many at once."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(item: Any) -> Any:
            async with gate:
                return await act(item)

        async with asyncio.timeout(_PATIENCE):
            return await asyncio.gather(*map(one, items))

    async def _open(self, code: str, pupil: int) -> None:
        await self._join(code, pupil)
        seat = {"Cookie": self._seats[code, pupil]}
        screen = _Screen(code, self._head("GET", f"{code}/events", seat), self._seen)
        self._screens.append(screen)
        await asyncio.get_running_loop().create_connection(lambda: screen, self._host, self._port)
        await screen.is_in.wait()

    async def _join(self, code: str, pupil: int) -> None:
        if (code, pupil) not in self._seats:
            told = await self._post(f"{code}/join", {}, {})
            (found,) = re.findall(rb"(?im)^set-cookie: (attention_pupil=[^;]+)", told)
            self._seats[code, pupil] = found.decode()

    async def _answer(self, code: str, pupil: int, said: Mapping[str, object]) -> float:
        start = time.perf_counter()
        await self._post(f"{code}/answer", {"Cookie": self._seats[code, pupil]}, said)
        return time.perf_counter() - start

    async def _post(self, path: str, headers: Mapping[str, object], said: Mapping[str, object]) -> bytes:
        body = json.dumps(said).encode()
        reader, writer = await asyncio.open_connection(self._host, self._port)
        whole = {**headers, "Content-Length": len(body), "Connection": "close"}
        writer.write(self._head("POST", path, whole) + body)
        told = await reader.read()
        writer.close()
        if not told.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(told[:200])
        return told

    def _head(self, method: str, path: str, headers: Mapping[str, object]) -> bytes:
        lines = (f"{method} {ROOM}/{path} HTTP/1.1", f"Host: {self._host}:{self._port}")
        named = (f"{name}: {value}" for name, value in headers.items())
        return "\r\n".join(itertools.chain(lines, named, ("", ""))).encode()
