"""The rooms of this server: a teacher's view is drawn once, and sent to every screen that follows.

Copies of the server that share rooms notify one another of changes, and each draws them for its screens. A pupil's
page does without Streamlit: it listens to server-sent events, and posts its answers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Message, Receive, Scope, Send

from attention.answer.files import ROOMS
from attention.answer.hosts import FRAME_VARIABLE, framed_by
from attention.classroom import notes, pupils, screen_page, teachers
from attention.classroom.codes import fits
from attention.classroom.entry import Caller
from attention.classroom.errors import RefusedError, answer_to
from attention.classroom.hall import Hall
from attention.classroom.requests import BROWSER, followed, joined_at, keep, taught
from attention.classroom.room_limits import Limits
from attention.classroom.store import LASTS, Store, StoreError
from attention.classroom.timers import Timer
from attention.classroom.tries import forget
from attention.core.messages import message
from attention.lesson.plans import plans

# In seconds: how often expired rooms and counts are deleted.
_SWEPT_EVERY = 60.0


class Rooms:
    """An ASGI app that serves the screens of classes."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        lasts: float = LASTS,
        swept_every: float = _SWEPT_EVERY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open nothing yet: most servers never have a class.

        ``lasts`` is a room's lifetime in seconds, and ``clock`` tells the time for questions with a limit.
        """
        self.hall = Hall.of(limits or Limits(), lasts, clock)
        self._sweeping = Timer(swept_every, self._sweep)
        router = Router(_routes(self.hall), redirect_slashes=False)
        self._app = ExceptionMiddleware(router, handlers={Exception: answer_to})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; responses are not cached, and a new browser gets a key."""
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
        """Dismiss all screens, so that the server can end; they reconnect to the next one."""
        self.hall.screens.let_go()

    async def _sweep(self) -> bool:
        """Delete expired rooms and counts, and tell the screens."""
        if self.hall.database.store is not None:
            with suppress(StoreError):
                await self.hall.database(forget)
                for code in await self.hall.database(Store.sweep):
                    await self.hall.screens.refresh(code)
        return True


@cache
def rooms() -> Rooms:
    """Return this server's rooms."""
    return Rooms()


def _routes(hall: Hall) -> list[BaseRoute]:
    of_room = [*pupils.routes(hall), *teachers.routes(hall)]
    of_all = [
        Route("/mine", partial(_mine, hall)),
        Route("/notes/{plan}", _notes),
        Route("/open", partial(teachers.open_room, hall), methods=["POST"]),
        Mount("/{code}", routes=of_room),
    ]
    return [Route("/room", _page), Mount(f"/{ROOMS}", routes=of_all)]


async def _page(request: Request) -> Response:
    policy = screen_page.policy(framed_by(os.environ.get(FRAME_VARIABLE, "")))
    wall = joined_at(request).partition("://")[2] if "screen" in request.query_params else ""
    page = screen_page.page(request.query_params.get("code", ""), wall=wall)
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


async def _notes(request: Request) -> Response:
    """Return a lesson plan's notes with the answers, to print."""
    plan = next((each for each in plans() if each.name == request.path_params["plan"]), None)
    if plan is None:
        raise RefusedError(404, message("No such lesson plan."))
    return HTMLResponse(await run_in_threadpool(notes.notes, plan), headers={"Content-Security-Policy": notes.POLICY})


async def _mine(hall: Hall, request: Request) -> Response:
    """Return the rooms that this browser has opened and follows."""
    (opened, key), (follows, _) = taught(request), followed(request)
    room = await hall.database.room(opened) if opened else None
    is_open = room is not None and fits(key, room.kept)
    is_there = follows is not None and await hall.database.room(follows) is not None
    return JSONResponse({"teaches": opened if is_open else None, "follows": follows if is_there else None})


def _key_of_browser(request: Request, caller: Caller) -> str:
    kept = Response()
    keep(kept, request, BROWSER, caller.browser)
    return kept.headers["Set-Cookie"]
