"""The parts that all rooms of a server share, and the lookup of a request's room."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from attention.classroom.copies import Copies
from attention.classroom.database import Database
from attention.classroom.desks import Desks
from attention.classroom.entry import Entry
from attention.classroom.errors import RefusedError
from attention.classroom.followers import Followers
from attention.classroom.limits import Limit
from attention.classroom.own_questions import OnTheirOwn
from attention.classroom.requests import body_of, check_origin, key_of_teacher, seat_of
from attention.classroom.room_limits import Limits, check
from attention.classroom.screens import Live, Screens
from attention.classroom.set_tasks import RoomTasks
from attention.classroom.store import Room
from attention.classroom.stream import EventStream
from attention.core.messages import message

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Hall:
    """The parts that all rooms of a server share."""

    limits: Limits
    database: Database
    entry: Entry
    tasks: RoomTasks
    own: OnTheirOwn
    screens: Screens
    desks: Desks
    copies: Copies
    clock: Callable[[], float]

    @classmethod
    def of(cls, limits: Limits, lasts: float, clock: Callable[[], float] = time.time) -> Self:
        """Put the parts together; ``lasts`` is a room's lifetime, and ``clock`` tells the time, in seconds."""
        copy, database = secrets.token_hex(8), Database(lasts)
        tasks, own = RoomTasks(database, limits), OnTheirOwn(database, limits)
        screens = Screens(database, tasks, own)
        desks = Desks(copy, database, screens, tasks, own)
        copies = Copies(copy, database, screens)
        return cls(limits, database, Entry(database, limits), tasks, own, screens, desks, copies, clock)


@dataclass(frozen=True, slots=True)
class Act:
    """A request to a room: ``who`` is the browser's key there, ``said`` the body."""

    hall: Hall
    request: Request
    room: Room
    who: str = field(default="", repr=False)
    said: Mapping[str, Any] = field(default_factory=dict, repr=False)

    async def change(self, change: Callable[..., None], *arguments: object) -> None:
        """Change the room as its teacher, and update all screens."""
        await self.hall.database(change, self.room.code, self.who, *arguments)
        await self.hall.screens.refresh(self.room.code)

    async def stream(self, live: Live, followers: Followers, own: Mapping[str, object], seat: str = "") -> EventStream:
        """Return the event stream for a screen, with the server's time."""
        await self.hall.copies.listen()
        told = {"time": self.hall.clock(), **own}
        return EventStream(self.request, followers, told, partial(self.hall.desks.note_change, live), seat)


# Return a response, or the object to send as JSON.
Answer = Callable[[Act], Awaitable[Response | Mapping[str, Any]]]


def by_anybody(hall: Hall, act: Answer) -> Endpoint:
    """Serve everyone who knows the room's code."""
    return partial(_answer, hall, lambda *_: "", None, act)


def by_pupil(hall: Hall, act: Answer) -> Endpoint:
    """Serve those who have joined the room."""
    return partial(_answer, hall, _joined, None, act)


def by_teacher(hall: Hall, act: Answer, limit: Limit | None = None) -> Endpoint:
    """Serve the browser that opened the room; requests beyond the limit are repeated by the page."""
    return partial(_answer, hall, key_of_teacher, limit, act)


async def _answer(
    hall: Hall, who: Callable[[Request, Room], str], limit: Limit | None, act: Answer, request: Request
) -> Response:
    sends = request.method == "POST"
    if sends:
        check_origin(request)
    room = await hall.entry.room(request, request.path_params["code"])
    key = who(request, room)
    if limit is not None:
        check(limit, room.code, is_away=True)
    said = await body_of(request, hall.limits.body) if sends else {}
    answer = await act(Act(hall, request, room, key, said))
    return answer if isinstance(answer, Response) else JSONResponse(answer)


def _joined(request: Request, room: Room) -> str:
    pupil = seat_of(request, room)
    if pupil is None:
        raise RefusedError(403, message("Reload the page to join the room."))
    return pupil
