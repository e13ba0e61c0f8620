"""Queues for slow work: one turn per room at a time, so that a large room does not hold up others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


class BusyError(Exception):
    """Too many of one room are waiting."""


@dataclass(slots=True)
class _Queue:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_waiting: int = 0


class Queues:
    """Waiting requests by room: at most ``at_once`` rooms are served at a time, and ``most`` requests wait per room."""

    def __init__(self, at_once: int, most: int) -> None:
        self._places, self._most = asyncio.Semaphore(at_once), most
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, code: str) -> AsyncIterator[None]:
        """Wait for a turn in a room, and for a place among the rooms; raise BusyError if too many are waiting."""
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
