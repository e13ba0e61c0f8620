"""What a teacher sees while the class works: attendance and answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from attention.classroom import asking
from attention.classroom.database import Database
from attention.classroom.own_questions import OnTheirOwn
from attention.classroom.screens import Live, Screens
from attention.classroom.set_tasks import RoomTasks
from attention.classroom.store import Present, Store, StoreError
from attention.classroom.timers import Timer

# In seconds: the interval of teachers' updates, and of recording who is present in the database.
TICK, _REPORT_EVERY = 0.5, 5.0


class Desks:
    """The teachers of the rooms followed on this copy of the server; ``copy`` is its name."""

    def __init__(self, copy: str, database: Database, screens: Screens, tasks: RoomTasks, own: OnTheirOwn) -> None:
        self._copy, self._database, self._screens, self._tasks, self._own = copy, database, screens, tasks, own
        self._timer = Timer(TICK, self._tend)

    def note(self, code: str) -> None:
        """Inform the teacher soon of a new answer."""
        live = self._screens.of(code)
        live.n_taken += 1
        self.note_change(live)

    def note_change(self, live: Live) -> None:
        """Inform the teacher soon of a change in attendance."""
        live.is_new = True
        self._timer.start()

    async def _tend(self) -> bool:
        """Inform the teachers and forget the rooms that no one follows here; return whether any are left."""
        for live in list(self._screens.live.values()):
            try:
                await self._tell_copies(live)
                await self._tell(live)
            except StoreError:
                live.say_trouble(is_lost=True)
                live.is_new = True
            if live.is_empty:
                self._screens.forget(live)
        return bool(self._screens.live)

    async def _tell_copies(self, live: Live) -> None:
        """Report attendance and new answers to all copies of the server."""
        present, (said, at) = Present(live.screens.n_seats, len(live.walls)), live.said
        if present != said or time.monotonic() - at > _REPORT_EVERY:
            await self._database(Store.note_present, live.code, self._copy, present)
            live.said = (present, time.monotonic())
            live.is_new = True
        if present != said or live.n_taken != live.n_told:
            n_taken = live.n_taken
            await self._database(Store.tell, live.code)
            live.n_told = n_taken

    async def _tell(self, live: Live) -> None:
        if not live.is_new or not (len(live.desks) or len(live.walls)):
            return
        live.is_new = False
        room = await self._database(Store.room, live.code)
        if room is None:
            return
        present = await self._database(Store.present, live.code)
        tally: Mapping[str, Any] | None = None
        if room.question is not None:
            guess = asking.unpacked(room.question)
            answers = await self._database(Store.answers, room.code, room.number)
            tally = {"answered": answers.total(), **asking.told(guess, answers, asking.before(room.question))}
        answered = None if tally is None or room.is_revealed else tally["answered"]
        own = await self._own.told_teacher(room.code)
        progress = {name: own[name] for name in ("begun", "finished")} if own and own["isOpen"] else None
        exploring = await self._database(Store.n_explorers, room.code)
        found = await self._tasks.tally(room.code)
        here = {"here": present.here + exploring, "exploring": exploring}
        handed = None if found is None else found["handed"]
        live.walls.send("present", {**here, "answered": answered, "handed": handed, "own": progress})
        if len(live.desks):
            live.desks.send("here", {**here, "walls": present.walls, "tally": tally, "finds": found})
            live.desks.send("own", own)
        live.say_trouble(is_lost=False)
