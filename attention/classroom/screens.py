"""The screens of each room: a view is drawn once, and sent to all of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from attention.classroom import asking, pointing
from attention.classroom.database import Database
from attention.classroom.drawing import Seen, Shown, show
from attention.classroom.followers import Followers, Written, event
from attention.classroom.gathered import Gathered
from attention.classroom.own_questions import OnTheirOwn
from attention.classroom.set_tasks import RoomTasks
from attention.classroom.store import Present, Room, Store
from attention.core.messages import message

_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class Live:
    """A room that is followed on this copy of the server."""

    code: str
    screens: Followers = field(default_factory=Followers)
    walls: Followers = field(default_factory=Followers)
    desks: Followers = field(default_factory=Followers)
    shown: Shown | None = None
    shown_on_wall: Shown | None = None
    # The teacher's pointer, as sent to the screens, with its view; None for nothing.
    pointed: Mapping[str, Any] | None = None
    # The number of the last question whose verdicts were sent.
    judged: int | None = None
    # Whether the teacher has unsent updates, and the last attendance reported, with its time.
    is_new: bool = True
    said: tuple[Present | None, float] = (None, 0.0)
    # The number of answers taken here, and how many of them were reported to other copies.
    n_taken: int = 0
    n_told: int = 0
    # Whether another copy has made a change, the task that fetches it, and whether the database is out of reach.
    is_stale: bool = False
    catching_up: asyncio.Task[None] | None = None
    is_lost: bool = False
    # The number of screens that are about to follow.
    n_coming: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no one follows or is about to."""
        return not self.n_coming and not any(map(len, self.all))

    @property
    def all(self) -> tuple[Followers, ...]:
        """All screens, including the teacher's own page."""
        return self.screens, self.walls, self.desks

    def point(self, point: Mapping[str, Any] | None) -> None:
        """Send the teacher's pointer to the screens."""
        self.pointed = point
        for each in (self.screens, self.walls):
            each.send("point", point)

    def say_trouble(self, *, is_lost: bool) -> None:
        """Tell all screens that the database is out of reach, or back."""
        if self.is_lost == is_lost:
            return
        self.is_lost = is_lost
        told = message("Can't reach the class. What you see stays; it continues by itself.")
        for each in self.all:
            each.send("trouble", {"told": told} if is_lost else None)


class Screens:
    """The rooms followed on this copy of the server."""

    def __init__(self, database: Database, tasks: RoomTasks, own: OnTheirOwn) -> None:
        self._database, self._tasks, self._own = database, tasks, own
        self.live: dict[str, Live] = {}
        # Simultaneous refreshes of a room become one; those that come during one wait for the next.
        self._refreshing: dict[str, Gathered[None, None]] = {}

    def of(self, code: str) -> Live:
        """Return a room as followed here."""
        return self.live.setdefault(code, Live(code))

    def forget(self, live: Live) -> None:
        """Forget a room that no one follows here."""
        self.live.pop(live.code, None)
        self._refreshing.pop(live.code, None)

    def let_go(self) -> None:
        """Dismiss all screens."""
        for live in self.live.values():
            for each in live.all:
                each.let_go()

    @asynccontextmanager
    async def ready(self, code: str) -> AsyncIterator[Live]:
        """Yield a room, refreshed; it is not forgotten meanwhile."""
        live = self.of(code)
        live.n_coming += 1
        try:
            await self.refresh(code)
            yield live
        finally:
            live.n_coming -= 1

    async def refresh(self, code: str) -> None:
        """Send a room's changes to all its screens."""
        live = self.live.get(code)
        if live is not None:
            new: Gathered[None, None] = Gathered(partial(self._refresh, live))
            await self._refreshing.setdefault(code, new)(None)

    async def _refresh(self, live: Live, asked: Sequence[None]) -> Sequence[None]:
        room = await self._database(Store.room, live.code)
        if room is None:
            told = message("The class is over.")
            for each in live.all:
                each.send("over", {"told": told})
            return asked
        await self._show(live, room)
        question, task = await self._question(room), await self._tasks.shown(room.code)
        for each in live.all:
            each.send("question", question)
            each.send("task", task)
        await self._judge(live, room)
        invitation = await self._own.invitation(room.code)
        for each in (live.screens, live.walls):
            each.send("own", invitation)
        live.is_new = True
        live.say_trouble(is_lost=False)
        return asked

    async def _show(self, live: Live, room: Room) -> None:
        shown = Shown(room.page, room.link, _seen(room))
        if shown != live.shown:
            live.screens.send_written("view", await run_in_threadpool(_drawn, shown))
            live.shown = shown
        # Most rooms have no wall screen, and need no second drawing.
        on_wall = replace(shown, on_wall=True)
        if on_wall != live.shown_on_wall and (len(live.walls) or live.n_coming):
            live.walls.send_written("view", await run_in_threadpool(_drawn, on_wall))
            live.shown_on_wall = on_wall
        if live.pointed is not None and not pointing.is_seen(live.pointed, pointable(room)):
            live.point(None)

    async def _judge(self, live: Live, room: Room) -> None:
        """Send each pupil the verdict on their answer after the reveal; answers are final then."""
        if room.question is None or not room.is_revealed or live.judged == room.number:
            return
        answers = await self._database(Store.own_answers, room.code, room.number)
        worth = asking.worth(asking.unpacked(room.question), answers)
        told = {pupil: {"number": room.number, "told": words} for pupil, words in worth.items()}
        live.screens.send_each("verdict", told)
        live.judged = room.number

    async def _question(self, room: Room) -> Mapping[str, Any] | None:
        if room.question is None:
            return None
        guess = asking.unpacked(room.question)
        told = None
        if room.is_revealed:
            answers = await self._database(Store.answers, room.code, room.number)
            told = asking.told(guess, answers, asking.before(room.question))
        ends = None if room.is_revealed else asking.ends(room.question)
        return {
            "number": room.number,
            **asking.seen(guess),
            "sentence": asking.sentence(room.question),
            "isAgain": asking.is_again(room.question),
            "ends": ends,
            "told": told,
        }


def pointable(room: Room) -> str | None:
    """Return the mark of the view in which a teacher can point; None while that might reveal an answer."""
    is_asked = room.question is not None and not room.is_revealed
    return None if is_asked else Shown(room.page, room.link).mark


def _seen(room: Room) -> Seen:
    if room.question is None:
        return "as it is"
    meanwhile = asking.meanwhile(room.question)
    if not room.is_revealed:
        return meanwhile
    return "opened" if meanwhile == "closed" else "as it is"


def _drawn(shown: Shown) -> Written:
    """Draw a view as a message; if that fails, say so."""
    try:
        return event("view", show(shown))
    except Exception as error:
        # Without its message, which may quote the user's text.
        _LOGGER.error("%s cannot be drawn for a room: %s", shown.page, type(error).__name__)
        told = message("This view can't be shown here. Wait for the next one.")
        nothing = {"page": "", "title": "", "caption": "", "html": f"<p>{told}</p>", "pictures": [], "modules": {}}
        return event("view", nothing)
