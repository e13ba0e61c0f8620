"""Messages to and from other copies of the server that share the rooms."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from attention.classroom.database import Database
from attention.classroom.desks import TICK
from attention.classroom.screens import Live, Screens
from attention.classroom.store import Store, StoreError


class Copies:
    """The other copies of the server; ``copy`` is this one's name."""

    def __init__(self, copy: str, database: Database, screens: Screens) -> None:
        self._copy, self._database, self._screens = copy, database, screens
        self._listens = False

    async def listen(self) -> None:
        """Listen for their changes, from the first followed room on."""
        if self._listens:
            return
        self._listens = True
        loop = asyncio.get_running_loop()

        def on_loop(act: Callable[..., None], *arguments: object) -> None:
            # While the server shuts down, the loop may be closed.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(act, *arguments)

        await self._database(Store.listen, lambda told: on_loop(self._receive, told), lambda: on_loop(self._lost))

    async def point(self, code: str, point: Mapping[str, Any] | None) -> None:
        """Send the teacher's pointer to the screens here and on all other copies."""
        if (live := self._screens.live.get(code)) is not None:
            live.point(point)
        await self._database(Store.tell, code, json.dumps({"by": self._copy, "point": point}))

    def _receive(self, told: str | None) -> None:
        """Update a room that has changed elsewhere (all if None), or show the teacher's pointer."""
        code, _, said = (None, "", "") if told is None else told.partition(" ")
        if said:
            point, pointed_in = json.loads(said), self._screens.live.get(code or "")
            if pointed_in is not None and point["by"] != self._copy:
                pointed_in.point(point["point"])
            return
        for live in self._screens.live.values():
            if code not in (None, live.code):
                continue
            live.is_stale = True
            if live.catching_up is None or live.catching_up.done():
                live.catching_up = asyncio.create_task(self._catch_up(live))

    async def _catch_up(self, live: Live) -> None:
        # Changes during a refresh lead to one more.
        while live.is_stale:
            live.is_stale = False
            try:
                await self._screens.refresh(live.code)
            except StoreError:
                live.is_stale = True
                live.say_trouble(is_lost=True)
                await asyncio.sleep(TICK)

    def _lost(self) -> None:
        for live in self._screens.live.values():
            live.say_trouble(is_lost=True)
