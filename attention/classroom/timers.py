"""What is done again and again for the rooms, as long as there is something to do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["Timer"]


class Timer:
    """Does something every so many seconds until it says that nothing is left to do; may be started again then."""

    def __init__(self, seconds: float, act: Callable[[], Awaitable[bool]]) -> None:
        """Do nothing before the first start; ``act`` tells whether to go on."""
        self._seconds, self._act = seconds, act
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, unless it is running."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        is_left = True
        while is_left:
            await asyncio.sleep(self._seconds)
            is_left = await self._act()
