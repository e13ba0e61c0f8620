"""A connection between a browser and a server that can be cut; browsers' own offline mode keeps open connections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

__all__ = ["Cable", "cable_to"]

_CHUNK = 65_536


class Cable:
    """Forwards everything to a server and back, unless it is cut; ``url`` is its near end.

    ``n_refused`` counts connection attempts while it was cut.
    """

    def __init__(self, url: str) -> None:
        self._far = urlsplit(url)
        self._open: set[asyncio.StreamWriter] = set()
        self._is_cut = False
        self.n_refused = 0
        self.url = ""
        is_laid = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._lie(is_laid)), daemon=True)
        self._thread.start()
        assert is_laid.wait(timeout=30)

    def cut(self) -> None:
        """End all connections, and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(timeout=30)

    def mend(self) -> None:
        """Forward again."""
        self._is_cut = False

    def remove(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join(timeout=30)

    async def _lie(self, is_laid: threading.Event) -> None:
        self._loop, self._is_over = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._carry, "127.0.0.1", 0) as listening:
            self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            is_laid.set()
            await self._is_over.wait()

    async def _cut(self) -> None:
        self._is_cut = True
        for writer in self._open:
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            self.n_refused += 1
            writer.transport.abort()
            return
        self._open.add(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection(self._far.hostname, self._far.port)
            self._open.add(far_writer)
            try:
                await asyncio.gather(_pour(reader, far_writer), _pour(far_reader, writer))
            finally:
                self._open.discard(far_writer)
                far_writer.close()
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            writer.close()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while found := await reader.read(_CHUNK):
            writer.write(found)
            await writer.drain()
    writer.close()


@contextmanager
def cable_to(server) -> Iterator[Cable]:
    """Lay a cable to a server, and remove it at the end."""
    cable = Cable(server.url)
    try:
        yield cable
    finally:
        cable.remove()
