"""Repeated work for the rooms, while there is any."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Timer:
    """Calls ``act`` at an interval in seconds until it returns False; can be restarted."""

    def __init__(self, seconds: float, act: Callable[[], Awaitable[bool]]) -> None:
        self._seconds, self._act = seconds, act
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start, unless it is running."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        is_left = True
        while is_left:
            await asyncio.sleep(self._seconds)
            is_left = await self._act()
