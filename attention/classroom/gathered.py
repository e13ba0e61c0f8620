"""Batching: simultaneous requests are handled together, so that a thousand answers need few trips to the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Given = TypeVar("Given")


class Gathered(Generic[Asked, Given]):
    """Handles requests in batches: those that arrive while a batch is being handled form the next one.

    A single request is handled at once. Everything here runs in one event loop.
    """

    def __init__(self, act: Callable[[Sequence[Asked]], Awaitable[Sequence[Given]]], most: int = 256) -> None:
        """``act`` returns the results of at most ``most`` requests, in order."""
        self._act, self._most = act, most
        self._waiting: list[tuple[Asked, asyncio.Future[Given]]] = []
        self._working: asyncio.Task[None] | None = None

    async def __call__(self, asked: Asked) -> Given:
        """Return the result of a request, or raise the error of its batch."""
        future: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            # Skip cancelled requests.
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
