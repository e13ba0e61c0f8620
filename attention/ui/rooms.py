"""The rooms of this server: a teacher's view is drawn once, and the same drawing goes to every screen that follows.

Where several copies of the server share their rooms, each hears of what is changed on another, and draws it for the
screens that it has.

A pupil's page knows nothing of Streamlit: it listens to server-sent events (WHATWG HTML, section 9.2), and sends its
answers. Whoever has opened a room has its key in a cookie that no script and no link contains.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import secrets
import threading
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any

import segno
import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attention.lesson.prose import lesson
from attention.messages import message, messages
from attention.models.store import cache_dir
from attention.pages import STEP_BY_STEP
from attention.room import asking, pointing
from attention.room.codes import digest, fits, is_seat, new_seat, read_code
from attention.room.finds import Finds
from attention.room.followers import GZIP_HEAD, Follower, Followers, Written, event
from attention.room.gathered import Gathered
from attention.room.limits import Limit
from attention.room.plans import plans
from attention.room.questions import ready
from attention.room.store import (
    DATABASE_VARIABLE,
    LASTS,
    DamagedError,
    FullError,
    NotYoursError,
    Present,
    Room,
    Sent,
    Store,
    StoreError,
    UnusableError,
    open_store,
    set_aside,
    sqlite,
)
from attention.room.tasks import UnfitError
from attention.room.tries import SharedLimit, TooManyError, forget, let_in
from attention.ui import room_page
from attention.ui.asked import takes_gzip
from attention.ui.files import ROOMS
from attention.ui.hosts import (
    FRAME_VARIABLE,
    address_for_others,
    asked_host,
    base_path,
    framed_by,
    is_known,
    named_hosts,
)
from attention.ui.made import worksheets
from attention.ui.refusals import RefusedError as _RefusedError
from attention.ui.room_drawing import Seen, Shown, guess_of, is_shown, questions_of, ready_of, show, tidy
from attention.ui.room_own import OnTheirOwn
from attention.ui.room_tasks import BusyError, RoomTasks

__all__ = ["DATABASE_VARIABLE", "Rooms", "rooms"]

MAX_BODY = 4 * 1024
# So many screens follow one room on one copy of the server at most.
MAX_SCREENS = 1_500
# So many hang on walls, besides those of the teacher's own browser.
MAX_WALLS = 20
# In seconds: how often a teacher is told what has changed, and how often the database hears who is there.
_TICK, _SAID_AGAIN = 0.5, 5.0
# How soon, in seconds, counts of attempts are looked for that no longer count.
_FORGOTTEN = 60.0
# How often, in seconds, the rooms are deleted whose day is over.
_SWEPT_EVERY = 300.0
_PUPIL, _TEACHER, _HERE = "attention_pupil", "attention_class", "attention_class_here"
# Tells browsers behind one address apart: a random key, of which nothing is kept.
_BROWSER = "attention_browser"
_A_DAY = 24 * 60 * 60
# How soon, in milliseconds, a browser comes back that has lost the connection.
_RETRY = Written.of(b"retry: 1000\n\n")

_LOGGER = logging.getLogger(__name__)

# What is done for a pupil and for a teacher: with a room, a key, and what the browser has sent.
_ByPupil = Callable[[Room, str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
_ByTeacher = Callable[[Room, str, Mapping[str, Any]], Awaitable[None]]


def _no_room() -> _RefusedError:
    return _RefusedError(404, message("There is no room with this code. Look at it once more: it has six letters."))


@dataclass(frozen=True, slots=True)
class _Asking:
    """Who asks: a browser, and where it comes from.

    Those that were here before are counted apart: a script that keeps no cookies does not shut out the others.
    """

    browser: str
    was_here: bool
    address: str

    @property
    def group(self) -> str:
        """All at one address that were here before, or all that were not."""
        return f"{self.address} {self.was_here}"

    @property
    def seat(self) -> str:
        """The browser, or all at one address that were not here before."""
        return self.browser if self.was_here else self.group


@dataclass(slots=True)
class _Live:
    """A room that is followed on this copy of the server."""

    code: str
    screens: Followers = field(default_factory=Followers)
    walls: Followers = field(default_factory=Followers)
    desks: Followers = field(default_factory=Followers)
    shown: Shown | None = None
    # What the teacher points at, as the screens were told, and in which view; None for nothing.
    pointed: Mapping[str, Any] | None = None
    drawing: asyncio.Lock = field(default_factory=asyncio.Lock)
    # How often it was asked for what the room shows now, and how many of those that was done for.
    n_asked: int = 0
    n_done: int = 0
    # The question of whose answers the pupils were last told what they are worth.
    judged: int | None = None
    # Whether there is something that the teacher has not been told, and who was there when it was last said.
    is_new: bool = True
    said: tuple[Present | None, float] = (None, 0.0)
    # How many answers were taken here, and of how many of them the other copies know.
    n_taken: int = 0
    n_told: int = 0
    # Whether another copy has changed something, and who sees to that; whether the database is out of reach.
    is_stale: bool = False
    catching_up: asyncio.Task[None] | None = None
    is_lost: bool = False

    @property
    def is_empty(self) -> bool:
        return not any(map(len, self.all))

    @property
    def all(self) -> tuple[Followers, ...]:
        return self.screens, self.walls, self.desks


class Rooms:
    """Answers what screens ask for; an ASGI app for the paths below ``ROOMS``."""

    def __init__(self, *, lasts: float = LASTS, swept_every: float = _SWEPT_EVERY) -> None:
        """Open nothing yet: most servers never have a class. A room lasts so many seconds."""
        self._lasts, self._swept_every = lasts, swept_every
        self._sweeping: asyncio.Task[None] | None = None
        self._copy = secrets.token_hex(8)
        self._live: dict[str, _Live] = {}
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._tending: asyncio.Task[None] | None = None
        self._listens = False
        self._forgetting: asyncio.Task[None] | None = None
        self._openings, self._answers = Limit(60, 3600), Limit(20, 10)
        self._answers_of_room = Limit(3_000, 10)
        # All copies of the server have this secret, and the database does not.
        secret = str(st.get_option("server.cookieSecret"))
        self._kept_of_browsers = digest(f"browsers {secret}")
        # A whole class may come from one address: one of its browsers shuts out only itself.
        self._wrong_codes = SharedLimit("wrong codes", 30, 60, secret)
        self._wrong_codes_of_group = SharedLimit("wrong codes of many", 600, 60, secret)
        self._newcomers, self._seats = SharedLimit("newcomers", 3_000, 600, secret), Limit(10, 600)
        self._read = Gathered(self._read_together)
        self._sent = Gathered(self._take_together)
        self._let_in = Gathered(self._let_in_together)
        self._newcomer = Gathered(self._count_newcomers)
        self._tasks = RoomTasks(self._with_finds)
        self._hand_ins, self._hand_ins_of_room = Limit(10, 60), Limit(300, 60)
        self._acts_of_teacher = Limit(300, 60)
        # A teacher's page sends five in a second, of which a slow line may deliver several at once.
        self._points = Limit(10, 2)
        self._own = OnTheirOwn(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        request.state.asking = asking = self._asking(request)
        head, _, act = scope["path"].rpartition(f"/{ROOMS}/")[2].partition("/")
        try:
            is_page = scope["path"].endswith("/room")
            answer: ASGIApp = _page(request) if is_page else await self._answer(request, head, act)
        except _RefusedError as refused:
            answer = JSONResponse({"told": refused.sentence, "isAway": refused.is_away}, refused.status)
        except UnfitError as unfit:
            answer = JSONResponse({"told": str(unfit)}, 409)
        except BusyError:
            answer = JSONResponse({"told": message("Many hand in at this moment: try again in a few seconds.")}, 429)
        except NotYoursError:
            answer = JSONResponse({"told": message("Only whoever has opened the room can do this.")}, 403)
        except FullError:
            answer = JSONResponse(
                {"told": message("There are too many rooms here at the moment: try again later.")}, 503
            )
        except UnusableError as error:
            _LOGGER.error("Classes cannot be kept: %s.", error)
            told = message("There can be no class on this server at the moment: its log says why.")
            answer = JSONResponse({"told": told, "isAway": False}, 503)
        except StoreError as error:
            _LOGGER.error("The rooms cannot be reached: %s", type(error.__cause__).__name__)
            told = message("The class cannot be reached at the moment: try again in a few seconds.")
            answer = JSONResponse({"told": told, "isAway": True}, 503)
        except Exception as error:
            # Without its message, which may quote what was typed.
            kind, where = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            _LOGGER.error("%.100r failed with %s:\n%s", act or head, kind, where)
            answer = JSONResponse({"told": message("Something went wrong on the server: load the page anew.")}, 500)
        if isinstance(answer, Response):
            answer.headers["Cache-Control"] = "no-store"
            if not asking.was_here:
                _keep(answer, request, _BROWSER, asking.browser)
        await answer(scope, receive, send)

    async def _answer(self, request: Request, head: str, act: str) -> ASGIApp:
        """Find who answers: what is asked of all rooms first, then of one."""
        if not act:
            ways: Mapping[tuple[str, str], Callable[[Request], Awaitable[ASGIApp]]] = {
                ("POST", "open"): self._open,
                ("GET", "mine"): self._mine,
            }
            if way := ways.get((request.method, head)):
                return await way(request)
            raise _RefusedError(404, message("There is nothing here."))
        room = await self._known(request, head)
        of_room: Mapping[tuple[str, str], Callable[[Request, Room], Awaitable[ASGIApp]]] = {
            ("GET", "events"): self._follow,
            ("GET", "screen"): self._hang_up,
            ("GET", "desk"): self._sit_down,
            ("GET", "code.svg"): self._picture_of_code,
            ("GET", "plans"): self._plans,
            ("GET", "questions"): self._questions,
            ("POST", "join"): self._join,
            ("POST", "answer"): self._take_answer,
            ("POST", "show"): self._show,
            ("POST", "point"): self._point,
            ("POST", "ask"): self._ask,
            ("POST", "reveal"): self._reveal,
            ("POST", "withdraw"): self._withdraw,
            ("POST", "end"): self._end,
            ("GET", "task"): self._task,
            ("GET", "tasks"): self._tasks_to_set,
            ("POST", "task"): self._set_task,
            ("POST", "reveal-task"): self._reveal_task,
            ("POST", "end-task"): self._end_task,
            ("POST", "hand-in"): self._hand_in,
            ("POST", "own/begin"): partial(self._by_pupil, self._own.begin),
            ("POST", "own/answer"): partial(self._by_pupil, self._own.answer),
            ("POST", "own/start"): partial(self._by_teacher, self._own.start),
            ("POST", "own/finish"): partial(self._by_teacher, self._own.finish),
            ("GET", "own/pupils"): self._own_pupils,
            ("GET", "own/results.csv"): self._own_csv,
        }
        if found := of_room.get((request.method, act)):
            return await found(request, room)
        raise _RefusedError(404, message("There is nothing here."))

    # ------------------------------------------------------------------------------------- for everybody

    async def _mine(self, request: Request) -> Response:
        """Tell which room this browser has opened, and which it follows."""
        code, key = _teacher(request)
        is_open = code is not None and await self.with_store(Store.is_teacher, code, key)
        followed = _follows(request)
        is_there = followed is not None and await self.with_store(Store.room, followed) is not None
        return JSONResponse({"teaches": code if is_open else None, "follows": followed if is_there else None})

    async def _join(self, request: Request, room: Room) -> Response:
        """Let a screen in: its browser gets a key of its own, if it has none."""
        _check_origin(request)
        if len(self._of(room.code).screens) >= MAX_SCREENS:
            raise _RefusedError(503, message("This room is full."))
        response = JSONResponse({"code": room.code})
        key = _pupil(request, room)
        if key is None:
            asking: _Asking = request.state.asking
            is_calm = self._seats.takes((room.code, asking.browser))
            if not is_calm or await self._newcomer(f"{room.code} {asking.group}") >= self._newcomers.attempts:
                raise _RefusedError(429, message("Too many came at once: try again in a few minutes."))
            key = new_seat(room.kept)
        _keep(response, request, _PUPIL, f"{room.code}.{key}")
        _tell(response, request, "follows")
        return response

    async def _follow(self, request: Request, room: Room) -> ASGIApp:
        """Send a pupil what the room shows, for as long as somebody looks."""
        pupil = _known_pupil(request, room)
        live = self._of(room.code)
        if len(live.screens) >= MAX_SCREENS:
            raise _RefusedError(503, message("This room is full."))
        await self.refresh(room.code)
        own = await self._own_answer(pupil, room)
        handed, paper = await self._tasks.own(room.code, pupil), await self._own.paper(room.code, pupil)
        return _Stream(live.screens, {"mine": own, "handed": handed, "paper": paper}, self._came_or_went(live), pupil)

    async def _hang_up(self, request: Request, room: Room) -> ASGIApp:
        """Send the same to a screen on the wall, which is nobody."""
        live, is_own = self._of(room.code), _is_teacher(request, room)
        if not is_own and len(live.walls) >= MAX_WALLS:
            raise _RefusedError(503, message("This room is full."))
        await self.refresh(room.code)
        seat = "teacher" if is_own else request.state.asking.seat
        return _Stream(live.walls, {}, self._came_or_went(live), seat)

    async def _own_answer(self, pupil: str, room: Room) -> object:
        if room.question is None:
            return None
        answered = await self.with_store(Store.own_answer, room.code, room.number, pupil)
        return None if answered is None else {"number": room.number, "given": list(answered.given)}

    async def _take_answer(self, request: Request, room: Room) -> Response:
        """Take an answer, which can be changed until the answers are revealed."""
        _check_origin(request)
        pupil = _known_pupil(request, room)
        if not self._answers.takes(pupil) or not self._answers_of_room.takes(room.code):
            raise _RefusedError(429, message("That was too quick: try again in a few seconds."))
        said = await _body(request)
        if room.question is None or said.get("number") != room.number:
            raise _RefusedError(409, message("This question is over."))
        answered = asking.given(asking.unpacked(room.question), said.get("given"))
        if answered is None:
            raise _RefusedError(400, message("This is no answer to the question."))
        if not await self._sent(Sent(room.code, room.number, pupil, answered)):
            raise _RefusedError(409, message("The answers have been revealed already."))
        self.note(room.code)
        return JSONResponse({"number": room.number, "given": list(answered.given)})

    async def _task(self, request: Request, room: Room) -> Response:
        """Tell a pupil who looks around in the app what there is to do, and what was handed in."""
        own = await self._tasks.own(room.code, _pupil(request, room))
        asks = room.question is not None and not room.is_revealed
        return JSONResponse({"task": await self._tasks.shown(room.code), "handed": own, "asks": asks})

    async def _hand_in(self, request: Request, room: Room) -> Response:
        """Judge the link of a view; the best that a pupil hands in counts."""
        _check_origin(request)
        pupil = _known_pupil(request, room)
        if not self._hand_ins.takes(pupil):
            raise _RefusedError(429, message("That was too quick: look at it once more, and hand in again then."))
        if not self._hand_ins_of_room.takes(room.code):
            raise BusyError
        said = await _body(request)
        host = asked_host(request.headers)
        verdict = await self._tasks.hand_in(room.code, said.get("number"), pupil, said.get("link"), host)
        self.note(room.code)
        return JSONResponse(verdict)

    async def _by_pupil(self, act: _ByPupil, request: Request, room: Room) -> Response:
        """Do something that a pupil has asked for."""
        _check_origin(request)
        pupil = _known_pupil(request, room)
        return JSONResponse(await act(room, pupil, await _body(request)))

    async def _picture_of_code(self, request: Request, room: Room) -> Response:
        """Return the address of the room as a QR code."""
        written = io.BytesIO()
        segno.make(_address(request, room.code), error="m").save(
            written, kind="svg", scale=8, border=2, light="#ffffff"
        )
        return Response(written.getvalue(), media_type="image/svg+xml")

    # ------------------------------------------------------------------------------------- for the teacher

    async def _open(self, request: Request) -> Response:
        """Open a room; its key goes into a cookie of this browser alone."""
        _check_origin(request)
        if not self._openings.takes(_from(request)):
            raise _RefusedError(429, message("Too many rooms were opened from here: try again later."))
        where = _joined_at(request)
        said = await _body(request)
        # Elsewhere, such as on the page about classes, a class begins with the steps.
        if _is_not_followed(said):
            said = {**said, "page": STEP_BY_STEP.address}
        page, link = await _link(said)
        room, key = await self.with_store(Store.open, page, link)
        response = JSONResponse({"code": room.code, "address": f"{where}?code={room.code}"})
        _keep(response, request, _TEACHER, f"{room.code}.{key}")
        _tell(response, request, "teaches")
        return response

    async def _show(self, request: Request, room: Room) -> Response:
        said = await self._said_by_teacher(request, room)
        # Whoever teaches may well look at a page that no class follows: the class stays where it is.
        if _is_not_followed(said):
            return JSONResponse({"told": _not_followed()})
        page, link = await _link(said)
        if (page, link) != (room.page, room.link):
            await self._change(room, Store.show, self._key(request, room), page, link)
        return JSONResponse({"view": Shown(page, link).mark})

    async def _point(self, request: Request, room: Room) -> Response:
        """Pass on what the teacher points at in a picture; it is kept nowhere, and the last one counts."""
        _check_origin(request)
        # The room was read for this very request: its key needs no second look.
        if not _is_teacher(request, room):
            raise NotYoursError
        if not self._points.takes(room.code):
            raise _RefusedError(429, message("That was too quick: try again in a few seconds."), is_away=True)
        try:
            point = pointing.read(await _body(request))
        except ValueError as error:
            raise _RefusedError(400, message("The server did not read what was sent.")) from error
        told = None if point is None or point.view != _pointable(room) else asdict(point)
        if (live := self._live.get(room.code)) is not None:
            self._pass_on(live, told)
        await self.with_store(Store.tell, room.code, json.dumps({"by": self._copy, "point": told}))
        return JSONResponse({})

    async def _ask(self, request: Request, room: Room) -> Response:
        """Ask what there is to guess about the view that is shown, or one of the questions that are ready."""
        name = (await self._said_by_teacher(request, room)).get("ready")
        question = await (_question_of_view(room) if name is None else _ready_question(room, name))
        await self._change(room, Store.ask, self._key(request, room), question)
        return JSONResponse({})

    async def _questions(self, request: Request, room: Room) -> Response:
        """Tell the teacher which questions are ready for the view that is shown, and whether it has one of its own."""
        await self._check_teacher(request, room)
        self._check_pace(room)
        found = await run_in_threadpool(questions_of, room.page, room.link)
        has_own = await run_in_threadpool(guess_of, room.page, room.link) is not None
        return JSONResponse(
            {"hasOwn": has_own, "questions": [{"name": each.name, "title": each.title} for each in found]}
        )

    async def _tasks_to_set(self, request: Request, room: Room) -> Response:
        """Tell the teacher what there is to set."""
        if not await self.with_store(Store.is_teacher, room.code, self._key(request, room)):
            raise NotYoursError
        return JSONResponse({"tasks": self._tasks.titles()})

    async def _set_task(self, request: Request, room: Room) -> Response:
        """Set something to find; it stays when the view changes."""
        name = (await self._said_by_teacher(request, room)).get("name")
        await self._tasks.set(room.code, self._key(request, room), name, room.page, room.link)
        await self.refresh(room.code)
        return JSONResponse({})

    async def _reveal_task(self, request: Request, room: Room) -> Response:
        return await self._change_task(request, room, Finds.reveal_task)

    async def _end_task(self, request: Request, room: Room) -> Response:
        return await self._change_task(request, room, Finds.end_task)

    async def _change_task(self, request: Request, room: Room, change: Callable[..., None]) -> Response:
        await self._said_by_teacher(request, room)
        await self._with_finds(change, room.code, self._key(request, room))
        await self.refresh(room.code)
        return JSONResponse({})

    async def _reveal(self, request: Request, room: Room) -> Response:
        await self._said_by_teacher(request, room)
        await self._change(room, Store.reveal, self._key(request, room))
        return JSONResponse({})

    async def _withdraw(self, request: Request, room: Room) -> Response:
        await self._said_by_teacher(request, room)
        await self._change(room, Store.withdraw, self._key(request, room))
        return JSONResponse({})

    async def _end(self, request: Request, room: Room) -> Response:
        await self._said_by_teacher(request, room)
        await self._change(room, Store.end, self._key(request, room))
        response = JSONResponse({})
        response.delete_cookie(_TEACHER, path=_base())
        return response

    async def _sit_down(self, request: Request, room: Room) -> ASGIApp:
        """Tell the teacher who is there and what they answer, for as long as the page is open."""
        if not await self.with_store(Store.is_teacher, room.code, self._key(request, room)):
            raise NotYoursError
        live = self._of(room.code)
        live.is_new = True
        first = {"code": room.code, "address": _address(request, room.code), "sheets": worksheets()}
        return _Stream(live.desks, {"room": first}, self._came_or_went(live))

    async def _plans(self, request: Request, room: Room) -> Response:
        """Return the lesson plans, with what to say at each view."""
        if not await self.with_store(Store.is_teacher, room.code, self._key(request, room)):
            raise NotYoursError
        return JSONResponse(
            [
                {
                    "name": plan.name,
                    "label": messages("{n} minutes", "{n} minutes", plan.minutes),
                    "parts": [
                        {
                            "words": lesson(part.words),
                            "address": f"./{part.page}?{part.link}",
                            "minutes": part.minutes,
                            "asks": part.asks,
                        }
                        for part in plan.parts
                    ],
                }
                for plan in plans()
            ]
        )

    async def _by_teacher(self, act: _ByTeacher, request: Request, room: Room) -> Response:
        """Do something that the teacher has asked for."""
        said = await self._said_by_teacher(request, room)
        await act(room, self._key(request, room), said)
        return JSONResponse({})

    async def _own_pupils(self, request: Request, room: Room) -> Response:
        """Return what each pupil did on their own, for the teacher alone."""
        await self._check_teacher(request, room)
        return JSONResponse({"pupils": await self._own.pupils(room.code)})

    async def _own_csv(self, request: Request, room: Room) -> Response:
        """Return the same as a file."""
        await self._check_teacher(request, room)
        headers = {"Content-Disposition": f'attachment; filename="{room.code.lower()}.csv"'}
        return Response(await self._own.csv(room.code), media_type="text/csv", headers=headers)

    async def _check_teacher(self, request: Request, room: Room) -> None:
        if not await self.with_store(Store.is_teacher, room.code, self._key(request, room)):
            raise NotYoursError

    async def _said_by_teacher(self, request: Request, room: Room) -> Mapping[str, Any]:
        _check_origin(request)
        await self._check_teacher(request, room)
        self._check_pace(room)
        return await _body(request)

    def _check_pace(self, room: Room) -> None:
        """Refuse what has more drawn, or run, than a teacher presses; a view is sent again by itself."""
        if not self._acts_of_teacher.takes(room.code):
            raise _RefusedError(429, message("That was too quick: try again in a few seconds."), is_away=True)

    @staticmethod
    def _key(request: Request, room: Room) -> str:
        code, key = _teacher(request)
        if code != room.code:
            raise NotYoursError
        return key

    async def _change(self, room: Room, change: Callable[..., None], *arguments: object) -> None:
        await self.with_store(change, room.code, *arguments)
        await self.refresh(room.code)

    # --------------------------------------------------------------------------------- what goes to all screens

    async def refresh(self, code: str) -> None:
        """Send all screens of a room what they have not been sent of what it shows now."""
        live = self._live.get(code)
        if live is None:
            return
        live.n_asked += 1
        asked = live.n_asked
        async with live.drawing:
            # Of many who ask at once, the first to come in does it for all who wait.
            if live.n_done >= asked:
                return
            done = live.n_asked
            room = await self.with_store(Store.room, code)
            if room is None:
                told = message("The class is over.")
                for each in live.all:
                    each.send("over", {"told": told})
                live.n_done = done
                return
            shown = Shown(room.page, room.link, _seen(room))
            if shown != live.shown:
                drawn = await run_in_threadpool(_drawn, shown)
                for each in (live.screens, live.walls):
                    each.send_written("view", drawn)
                live.shown = shown
            if live.pointed is not None and live.pointed["view"] != _pointable(room):
                self._pass_on(live, None)
            question, task = await self._question(room), await self._tasks.shown(room.code)
            for each in live.all:
                each.send("question", question)
                each.send("task", task)
            await self._judge(live, room)
            invitation = await self._own.invitation(code)
            for each in (live.screens, live.walls):
                each.send("own", invitation)
            live.is_new = True
            live.n_done = done
            self._say_trouble(live, is_lost=False)

    @staticmethod
    def _pass_on(live: _Live, point: Mapping[str, Any] | None) -> None:
        """Tell the screens of a room what the teacher points at."""
        live.pointed = point
        for each in (live.screens, live.walls):
            each.send("point", point)

    async def _judge(self, live: _Live, room: Room) -> None:
        """Tell each pupil what the own answer was worth, once the answers are revealed; none is taken after that."""
        if not room.is_revealed or live.judged == room.number:
            return
        answers = await self.with_store(Store.own_answers, room.code, room.number)
        told = {pupil: {"number": room.number, "told": words} for pupil, words in asking.worth(answers).items()}
        live.screens.send_each("verdict", told)
        live.judged = room.number

    async def _question(self, room: Room) -> Mapping[str, Any] | None:
        if room.question is None:
            return None
        guess = asking.unpacked(room.question)
        told = None
        if room.is_revealed:
            told = asking.told(guess, await self.with_store(Store.answers, room.code, room.number))
        return {"number": room.number, **asking.seen(guess), "told": told}

    def _listen(self) -> None:
        """Hear what other copies of the server change, from the first room on that somebody follows here."""
        if self._listens:
            return
        self._listens = True
        loop = asyncio.get_running_loop()

        def changed(told: str | None) -> None:
            # At the end of the server, there may be nobody to tell.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._hear, told)

        def lost() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._lose)

        self._do(Store.listen, changed, lost)

    def _hear(self, told: str | None) -> None:
        """Have a room that has changed elsewhere, or every room, sent to its screens; or what is pointed at there."""
        code, _, said = (None, "", "") if told is None else told.partition(" ")
        if said:
            point, live = json.loads(said), self._live.get(code or "")
            if live is not None and point["by"] != self._copy:
                self._pass_on(live, point["point"])
            return
        for live in self._live.values():
            if code not in (None, live.code):
                continue
            live.is_stale = True
            if live.catching_up is None or live.catching_up.done():
                live.catching_up = asyncio.create_task(self._catch_up(live))

    async def _catch_up(self, live: _Live) -> None:
        # However often it changes meanwhile, it is drawn once more.
        while live.is_stale:
            live.is_stale = False
            try:
                await self.refresh(live.code)
            except StoreError:
                live.is_stale = True
                self._say_trouble(live, is_lost=True)
                await asyncio.sleep(_TICK)

    def _lose(self) -> None:
        for live in self._live.values():
            self._say_trouble(live, is_lost=True)

    @staticmethod
    def _say_trouble(live: _Live, *, is_lost: bool) -> None:
        """Tell everybody in a room that the database is out of reach, or that it is back."""
        if live.is_lost == is_lost:
            return
        live.is_lost = is_lost
        told = message("The class's memory is out of reach: what you see stays, and it goes on by itself.")
        for each in live.all:
            each.send("trouble", {"told": told} if is_lost else None)

    # ------------------------------------------------------------------------------------- what goes to the teacher

    def note(self, code: str) -> None:
        """Have the teacher told, soon, that something was answered."""
        live = self._of(code)
        live.n_taken += 1
        self._came_or_went(live)()

    def _came_or_went(self, live: _Live) -> Callable[[], None]:
        def note() -> None:
            live.is_new = True
            self._listen()
            if self._tending is None or self._tending.done():
                self._tending = asyncio.create_task(self._tend())

        return note

    async def _tend(self) -> None:
        """Tell the teachers what has changed, and forget the rooms that nobody follows here; until there are none."""
        while self._live:
            await asyncio.sleep(_TICK)
            for live in list(self._live.values()):
                try:
                    await self._tell_desk(live)
                except StoreError:
                    self._say_trouble(live, is_lost=True)
                    live.is_new = True
                if live.is_empty:
                    self._live.pop(live.code, None)

    async def _tell_desk(self, live: _Live) -> None:
        present, (said, at) = Present(live.screens.n_seats, len(live.walls)), live.said
        is_due = time.monotonic() - at > _SAID_AGAIN
        if present != said or is_due:
            await self.with_store(Store.note_present, live.code, self._copy, present)
            live.said = (present, time.monotonic())
            live.is_new = True
        if present != said or live.n_taken != live.n_told:
            n_taken = live.n_taken
            await self.with_store(Store.tell, live.code)
            live.n_told = n_taken
        if not live.is_new or not len(live.desks):
            return
        live.is_new = False
        room = await self.with_store(Store.room, live.code)
        if room is None:
            return
        present = await self.with_store(Store.present, live.code)
        tally: Mapping[str, Any] | None = None
        if room.question is not None:
            guess = asking.unpacked(room.question)
            answers = await self.with_store(Store.answers, room.code, room.number)
            tally = {"answered": answers.total(), **asking.told(guess, answers)}
        finds = await self._tasks.tally(room.code)
        live.desks.send("here", {"here": present.here, "walls": present.walls, "tally": tally, "finds": finds})
        live.desks.send("own", await self._own.told_teacher(room.code))
        self._say_trouble(live, is_lost=False)

    # ------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Let all screens go, so that the server can end; they come back when there is one again."""
        for live in self._live.values():
            for each in live.all:
                each.let_go()

    async def _known(self, request: Request, typed: str) -> Room:
        """Return the room with this code; who tries many that do not exist is refused for a while."""
        code = read_code(typed)
        if code is not None and code in (_teacher(request)[0], _follows(request)):
            room = await self._read(code)
            if room is not None and _is_member(request, room):
                return room
        # What is no code at all is counted too, but never read.
        found = await self._let_in((code or "", request.state.asking))
        if not isinstance(found, Room):
            self._forget_in_time()
        if isinstance(found, TooManyError):
            raise _RefusedError(429, message("Too many wrong codes came from here: try again in a minute."))
        if found is None:
            raise _no_room()
        return found

    def _asking(self, request: Request) -> _Asking:
        shown = request.cookies.get(_BROWSER, "")
        was_here = is_seat(shown, self._kept_of_browsers)
        return _Asking(shown if was_here else new_seat(self._kept_of_browsers), was_here, _from(request))

    def _forget_in_time(self) -> None:
        """Have the counts of attempts deleted when they no longer count."""
        if self._forgetting is None or self._forgetting.done():
            self._forgetting = asyncio.create_task(self._forget())

    async def _forget(self) -> None:
        is_left = True
        while is_left:
            await asyncio.sleep(_FORGOTTEN)
            with suppress(StoreError):
                is_left = await self.with_store(forget)

    async def _sweep(self) -> None:
        """Delete, now and then, the rooms whose day is over, and tell their screens."""
        while True:
            await asyncio.sleep(self._swept_every)
            with suppress(StoreError):
                for code in await self.with_store(Store.sweep):
                    await self.refresh(code)

    def _of(self, code: str) -> _Live:
        return self._live.setdefault(code, _Live(code))

    # What many ask for at once is asked of the database once.

    async def _read_together(self, codes: Sequence[str]) -> list[Room | None]:
        found = await self.with_store(Store.rooms, set(codes))
        return [found.get(code) for code in codes]

    async def _take_together(self, sent: Sequence[Sent]) -> list[bool]:
        taken: list[bool] = await self.with_store(Store.take, sent)
        return taken

    async def _let_in_together(self, wanted: Sequence[tuple[str, _Asking]]) -> list[Room | TooManyError | None]:
        found: list[Room | TooManyError | None] = await self.with_store(self._let_each_in, wanted)
        return found

    def _let_each_in(self, store: Store, wanted: Sequence[tuple[str, _Asking]]) -> list[Room | TooManyError | None]:
        """Return the room of each, counted by browser first: one that is refused does not count against its group."""
        by_browser = let_in(store, self._wrong_codes, [(code, asking.browser) for code, asking in wanted])
        others = [each for each, found in zip(wanted, by_browser, strict=True) if not isinstance(found, TooManyError)]
        by_group = iter(let_in(store, self._wrong_codes_of_group, [(code, asking.group) for code, asking in others]))
        return [found if isinstance(found, TooManyError) else next(by_group) for found in by_browser]

    async def _count_newcomers(self, groups: Sequence[str]) -> list[float]:
        """Return, for each who comes into a room, how many of the same group have come before."""
        before = await self.with_store(lambda store: self._newcomers.add(store, Counter(groups)))
        self._forget_in_time()
        counted: list[float] = []
        for group in groups:
            counted.append(before[group])
            before[group] += 1
        return counted

    async def with_store(self, act: Callable[..., Any], *arguments: object) -> Any:
        """Do something with the store, in a thread."""
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.create_task(self._sweep())
        return await run_in_threadpool(self._do, act, *arguments)

    async def _with_finds(self, act: Callable[..., Any], *arguments: object) -> Any:
        return await self.with_store(lambda store: act(Finds(store), *arguments))

    def _do(self, act: Callable[..., Any], *arguments: object) -> Any:
        with self._opening:
            if self._store is None:
                self._store = open_store(self._address(), lasts=self._lasts)
                self._store.sweep()
                forget(self._store)
            store = self._store
        try:
            return act(store, *arguments)
        except DamagedError:
            with self._opening:
                if self._store is store:
                    self._store = None
                    store.close()
                    set_aside(self._address())
            raise

    @staticmethod
    def _address() -> str:
        return os.environ.get(DATABASE_VARIABLE) or sqlite(cache_dir())


@cache
def rooms() -> Rooms:
    """Return the rooms of this server."""
    return Rooms()


class _Stream:
    """Sends a follower what there is, as server-sent events, until it is gone."""

    def __init__(
        self, followers: Followers, own: Mapping[str, object], changed: Callable[[], None], seat: str = ""
    ) -> None:
        self.followers, self.own, self.changed, self.seat = followers, own, changed, seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"vary", b"accept-encoding"),
            # A proxy that gathers what it hands on would hold it back.
            (b"x-accel-buffering", b"no"),
        ]
        is_packed = takes_gzip(Headers(scope=scope).get("accept-encoding", ""))
        if is_packed:
            headers.append((b"content-encoding", b"gzip"))

        def joined(found: Sequence[Written]) -> bytes:
            return b"".join(each.packed if is_packed else each.plain for each in found)

        follower = self.followers.join(self.own, self.seat)
        leaving = asyncio.create_task(_leaves(receive, follower))
        self.changed()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            begun = (GZIP_HEAD if is_packed else b"") + joined((_RETRY,))
            await send({"type": "http.response.body", "body": begun, "more_body": True})
            while not follower.is_gone:
                await send({"type": "http.response.body", "body": joined(await follower.next()), "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            leaving.cancel()
            self.followers.leave(follower, self.seat)
            self.changed()


async def _leaves(receive: Receive, follower: Follower) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.leave()


async def _question_of_view(room: Room) -> Mapping[str, Any]:
    """Return the question that belongs to the view that is shown."""
    guess = await run_in_threadpool(guess_of, room.page, room.link)
    if guess is None:
        raise _RefusedError(409, message("There is nothing to guess about this view: choose another step or word."))
    return asking.packed(guess)


async def _ready_question(room: Room, name: object) -> Mapping[str, Any]:
    """Return the ready question with this name."""
    question = ready(name) if isinstance(name, str) else None
    guess = None if question is None else await run_in_threadpool(ready_of, room.page, room.link, question)
    if question is None or guess is None:
        raise _RefusedError(409, message("This question does not fit what is shown: choose another one."))
    return asking.packed(guess, "hidden" if question.is_hidden else "as it is")


def _seen(room: Room) -> Seen:
    """Return how much of its view a room shows now."""
    if room.question is None:
        return "as it is"
    meanwhile = asking.meanwhile(room.question)
    if not room.is_revealed:
        return meanwhile
    return "opened" if meanwhile == "closed" else "as it is"


def _pointable(room: Room) -> str | None:
    """Return the mark of the view in which a teacher can point at something; None while that might tell an answer."""
    is_asked = room.question is not None and not room.is_revealed
    return None if is_asked else Shown(room.page, room.link).mark


def _drawn(shown: Shown) -> Written:
    """Draw what a room shows, as it is sent; where that fails, say so."""
    try:
        return event("view", show(shown))
    except Exception as error:
        # Without its message, which may quote what was typed.
        _LOGGER.error("%s cannot be drawn for a room: %s", shown.page, type(error).__name__)
        told = message("This view cannot be shown here: the teacher goes on with another one.")
        nothing = {"page": "", "title": "", "caption": "", "html": f"<p>{told}</p>", "pictures": [], "modules": {}}
        return event("view", nothing)


def _page(request: Request) -> Response:
    """Return the page of a screen that follows a class."""
    if request.method not in ("GET", "HEAD"):
        return PlainTextResponse("Method Not Allowed", status_code=405)
    headers = {
        "Content-Security-Policy": room_page.policy(framed_by(os.environ.get(FRAME_VARIABLE, ""))),
        "Cache-Control": "no-store",
    }
    wall = _joined_at(request).partition("://")[2] if "screen" in request.query_params else ""
    return HTMLResponse(room_page.page(request.query_params.get("code", ""), wall=wall), headers=headers)


# ------------------------------------------------------------------------------------- what a request says


def _from(request: Request) -> str:
    return request.client.host if request.client else ""


def _base() -> str:
    return f"/{base_path()}/".replace("//", "/")


def _address(request: Request, code: str) -> str:
    """Return the address at which others find the room."""
    return f"{_joined_at(request)}?code={code}"


def _joined_at(request: Request) -> str:
    """Return the address at which others type the code of a room."""
    host = asked_host(request.headers)
    if not host:
        raise _RefusedError(400, message("The request names no host, so that nobody could find the room."))
    return f"{address_for_others(_scheme(request), host)}{_base()}room"


def _scheme(request: Request) -> str:
    return str(request.scope["scheme"])


def _teacher(request: Request) -> tuple[str | None, str]:
    """Return the room that this browser has opened, and its key."""
    code, _, key = request.cookies.get(_TEACHER, "").partition(".")
    return read_code(code), key


def _follows(request: Request) -> str | None:
    return read_code(request.cookies.get(_PUPIL, "").partition(".")[0])


def _pupil(request: Request, room: Room) -> str | None:
    """Return the key of this browser in a room; None if it has not joined."""
    code, _, key = request.cookies.get(_PUPIL, "").partition(".")
    return key if code == room.code and is_seat(key, room.kept) else None


def _is_member(request: Request, room: Room) -> bool:
    """Tell whether this browser has been let into a room before, or has opened it."""
    return _is_teacher(request, room) or _pupil(request, room) is not None


def _is_teacher(request: Request, room: Room) -> bool:
    code, key = _teacher(request)
    return code == room.code and fits(key, room.kept)


def _known_pupil(request: Request, room: Room) -> str:
    """Return the key of this browser in a room, which it must have joined."""
    pupil = _pupil(request, room)
    if pupil is None:
        raise _RefusedError(403, message("Load the page anew to join the room."))
    return pupil


def _keep(response: Response, request: Request, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=_A_DAY,
        path=_base(),
        secure=_scheme(request) == "https",
        httponly=True,
        samesite="lax",
    )


def _tell(response: Response, request: Request, where: str) -> None:
    """Have the pages of the app know, without asking, that this browser is in a class; it is nobody's secret."""
    is_safe = _scheme(request) == "https"
    response.set_cookie(_HERE, where, max_age=_A_DAY, path=_base(), secure=is_safe, samesite="lax")


def _check_origin(request: Request) -> None:
    """Refuse what the page of somebody else's has a browser send."""
    origin = request.headers.get("origin")
    if origin is not None and not is_known(origin, asked_host(request.headers), named_hosts()):
        raise _RefusedError(403, message("This was sent by a page of another site."))
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _RefusedError(403, message("This was sent by a page of another site."))


async def _body(request: Request) -> Mapping[str, Any]:
    """Return what a browser has sent, a JSON object of at most 4 kB."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > MAX_BODY:
            raise _RefusedError(413, message("This is too long to be shown to a class: shorten the text."))
    try:
        said = json.loads(found or b"{}")
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise _RefusedError(400, message("The server did not read what was sent."))
    return said


async def _link(said: Mapping[str, Any]) -> tuple[str, str]:
    """Return the page that a class follows and the link that a browser names, as the page itself would write it."""
    page, link = said.get("page"), said.get("link")
    if not isinstance(page, str) or not isinstance(link, str):
        raise _RefusedError(409, _not_followed())
    return page, await run_in_threadpool(tidy, page, link)


def _is_not_followed(said: Mapping[str, Any]) -> bool:
    page = said.get("page")
    return isinstance(page, str) and not is_shown(page)


def _not_followed() -> str:
    return message(
        "A class can follow the steps, all heads, the neuron view, Compare and the labs. "
        "Here, it stays with the view that it has."
    )
