"""The database of this server's rooms, opened on first use, and accessed in threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool

from attention.classroom.gathered import Gathered
from attention.classroom.store import DATABASE_VARIABLE, DamagedError, Room, Sent, Store, open_store, set_aside, sqlite
from attention.classroom.tries import forget
from attention.models.store import cache_dir


class Database:
    """Runs operations of the store; a damaged file is set aside, and replaced at the next use.

    Raises:
        StoreError: from all operations, if the database cannot be reached.
    """

    def __init__(self, lasts: float) -> None:
        """Open nothing yet: most servers never have a class. ``lasts`` is a room's lifetime in seconds."""
        self._lasts, self._opening = lasts, threading.Lock()
        self.store: Store | None = None
        # Simultaneous requests become one query.
        self.room: Gathered[str, Room | None] = Gathered(self._rooms)
        self.take: Gathered[Sent, bool] = Gathered(self._take)

    async def __call__(self, act: Callable[..., Any], *arguments: object) -> Any:
        """Run an operation of the store in a thread."""
        return await run_in_threadpool(self.do, act, *arguments)

    def do(self, act: Callable[..., Any], *arguments: object) -> Any:
        """Run an operation of the store."""
        with self._opening:
            if self.store is None:
                self.store = open_store(_address(), lasts=self._lasts)
                self.store.sweep()
                forget(self.store)
            store = self.store
        try:
            return act(store, *arguments)
        except DamagedError:
            self._drop(store)
            raise

    def _drop(self, store: Store) -> None:
        with self._opening:
            if self.store is store:
                self.store = None
                store.close()
                set_aside(_address())

    async def _rooms(self, codes: Sequence[str]) -> list[Room | None]:
        found = await self(Store.rooms, set(codes))
        return [found.get(code) for code in codes]

    async def _take(self, sent: Sequence[Sent]) -> list[bool]:
        taken: list[bool] = await self(Store.take, sent)
        return taken


def _address() -> str:
    return os.environ.get(DATABASE_VARIABLE) or sqlite(cache_dir())
