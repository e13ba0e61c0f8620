"""The rooms of this server: a teacher's view is drawn once, and the same drawing goes to every screen that follows.

Where several copies of the server share their rooms, each hears of what is changed on another, and draws it for the
screens that it has. A pupil's page knows nothing of Streamlit: it listens to server-sent events, and sends its answers.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache, partial

from starlette.datastructures import MutableHeaders
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Message, Receive, Scope, Send

from attention.answer.files import ROOMS
from attention.answer.hosts import FRAME_VARIABLE, framed_by
from attention.classroom import pupils, screen_page, teachers
from attention.classroom.codes import fits
from attention.classroom.entry import Caller
from attention.classroom.errors import answer_to
from attention.classroom.hall import Hall
from attention.classroom.requests import BROWSER, followed, joined_at, keep, taught
from attention.classroom.room_limits import Limits
from attention.classroom.store import LASTS, Store, StoreError
from attention.classroom.timers import Timer
from attention.classroom.tries import forget

__all__ = ["Rooms", "rooms"]

# How often, in seconds, what is over is deleted: rooms whose day is over, and counts of attempts that no longer count.
_SWEPT_EVERY = 60.0


class Rooms:
    """Answers what screens ask for; an ASGI app."""

    def __init__(
        self, *, limits: Limits | None = None, lasts: float = LASTS, swept_every: float = _SWEPT_EVERY
    ) -> None:
        """Open nothing yet: most servers never have a class. A room lasts so many seconds."""
        self.hall = Hall.of(limits or Limits(), lasts)
        self._sweeping = Timer(swept_every, self._sweep)
        router = Router(_routes(self.hall), redirect_slashes=False)
        self._app = ExceptionMiddleware(router, handlers={Exception: answer_to})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; no answer is kept, and a browser that is new gets a key with it."""
        request = Request(scope)
        request.state.caller = caller = self.hall.entry.caller(request)
        self._sweeping.start()

        async def send_marked(part: Message) -> None:
            if part["type"] == "http.response.start":
                headers = MutableHeaders(scope=part)
                headers["Cache-Control"] = "no-store"
                if not caller.was_here:
                    headers.append("Set-Cookie", _key_of_browser(request, caller))
            await send(part)

        await self._app(scope, receive, send_marked)

    def stop(self) -> None:
        """Let all screens go, so that the server can end; they come back when there is one again."""
        self.hall.screens.let_go()

    async def _sweep(self) -> bool:
        """Delete what is over, and tell the screens of rooms."""
        if self.hall.database.store is not None:
            with suppress(StoreError):
                await self.hall.database(forget)
                for code in await self.hall.database(Store.sweep):
                    await self.hall.screens.refresh(code)
        return True


@cache
def rooms() -> Rooms:
    """Return the rooms of this server."""
    return Rooms()


def _routes(hall: Hall) -> list[BaseRoute]:
    of_room = [*pupils.routes(hall), *teachers.routes(hall)]
    of_all = [
        Route("/mine", partial(_mine, hall)),
        Route("/open", partial(teachers.open_room, hall), methods=["POST"]),
        Mount("/{code}", routes=of_room),
    ]
    return [Route("/room", _page), Mount(f"/{ROOMS}", routes=of_all)]


async def _page(request: Request) -> Response:
    """Return the page of a screen that follows a class."""
    policy = screen_page.policy(framed_by(os.environ.get(FRAME_VARIABLE, "")))
    wall = joined_at(request).partition("://")[2] if "screen" in request.query_params else ""
    page = screen_page.page(request.query_params.get("code", ""), wall=wall)
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


async def _mine(hall: Hall, request: Request) -> Response:
    """Tell which room this browser has opened, and which it follows."""
    (opened, key), (follows, _) = taught(request), followed(request)
    room = await hall.database.room(opened) if opened else None
    is_open = room is not None and fits(key, room.kept)
    is_there = follows is not None and await hall.database.room(follows) is not None
    return JSONResponse({"teaches": opened if is_open else None, "follows": follows if is_there else None})


def _key_of_browser(request: Request, caller: Caller) -> str:
    kept = Response()
    keep(kept, request, BROWSER, caller.browser)
    return kept.headers["Set-Cookie"]
