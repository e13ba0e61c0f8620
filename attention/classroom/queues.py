"""Turns at something that takes long: of each room one at a time, so that a large one does not hold up the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

__all__ = ["BusyError", "Queues"]


class BusyError(Exception):
    """So many of one room wait that another one would have to wait for too long."""


@dataclass(slots=True)
class _Queue:
    """Those of one room who wait."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_waiting: int = 0


class Queues:
    """Those who wait, room by room."""

    def __init__(self, at_once: int, most: int) -> None:
        """Serve so many rooms at once; of each, so many wait at most."""
        self._places, self._most = asyncio.Semaphore(at_once), most
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, code: str) -> AsyncIterator[None]:
        """Wait for one's turn in a room, and for a place among the rooms.

        Raises:
            BusyError: too many wait.
        """
        queue = self._queues.setdefault(code, _Queue())
        if queue.n_waiting >= self._most:
            raise BusyError
        queue.n_waiting += 1
        try:
            async with queue.turn, self._places:
                yield
        finally:
            queue.n_waiting -= 1
            if not queue.n_waiting:
                self._queues.pop(code, None)
