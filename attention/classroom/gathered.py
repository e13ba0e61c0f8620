"""Things that many ask for at once are done together: a thousand answers are not a thousand ways to the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

__all__ = ["Gathered"]

Asked = TypeVar("Asked")
Given = TypeVar("Given")


class Gathered(Generic[Asked, Given]):
    """Does for all who wait what each asks for. Who comes while it is at work waits, and is among the next.

    Nobody waits for others to come: one who comes alone is served at once. All of this happens on one event loop.
    """

    def __init__(self, act: Callable[[Sequence[Asked]], Awaitable[Sequence[Given]]], most: int = 256) -> None:
        """Serve so many at a time at most; ``act`` returns what each is given, in their order."""
        self._act, self._most = act, most
        self._waiting: list[tuple[Asked, asyncio.Future[Given]]] = []
        self._working: asyncio.Task[None] | None = None

    async def __call__(self, asked: Asked) -> Given:
        """Return what is given to one who asks.

        Raises:
            Exception: what was raised for all who were served together.
        """
        future: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            # Whoever has gone meanwhile is not served: nobody would hear of it.
            here = [each for each in batch if not each[1].done()]
            try:
                found = await self._act([asked for asked, _ in here])
            except Exception as error:
                for _, future in here:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), given in zip(here, found, strict=True):
                if not future.done():
                    future.set_result(given)
