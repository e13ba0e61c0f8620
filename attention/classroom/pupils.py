"""Requests of pupils and of screens on walls."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

import segno
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from attention.answer.hosts import asked_host
from attention.classroom import asking
from attention.classroom.errors import RefusedError, is_full
from attention.classroom.hall import Act, Hall, by_anybody, by_pupil
from attention.classroom.requests import address_of_room, is_teacher, keep_pupil, seat_of
from attention.classroom.room_limits import check
from attention.classroom.store import Sent, Store
from attention.core.messages import message

Json = Mapping[str, Any]


def routes(hall: Hall) -> list[Route]:
    """Return the routes for pupils, and for all who know a room's code."""
    anybody, pupil = partial(by_anybody, hall), partial(by_pupil, hall)
    return [
        Route("/join", anybody(_join), methods=["POST"]),
        Route("/screen", anybody(_wall)),
        Route("/code.svg", anybody(_picture_of_code)),
        Route("/task", anybody(_task)),
        Route("/events", pupil(_follow)),
        Route("/answer", pupil(_answer), methods=["POST"]),
        Route("/hand-in", pupil(_hand_in), methods=["POST"]),
        Route("/own/begin", pupil(_begin_own), methods=["POST"]),
        Route("/own/answer", pupil(_answer_own), methods=["POST"]),
    ]


async def _join(act: Act) -> Response:
    """Admit a screen; its browser gets a key unless it has one."""
    _check_screens(act)
    key = seat_of(act.request, act.room) or await act.hall.entry.seat(act.request, act.room)
    response = JSONResponse({"code": act.room.code})
    keep_pupil(response, act.request, act.room.code, key)
    return response


async def _follow(act: Act) -> Response:
    _check_screens(act)
    code = act.room.code
    await act.hall.database(Store.forget_explorer, code, act.who)
    async with act.hall.screens.ready(code) as live:
        own = {
            "mine": await _own_answer(act),
            "handed": await act.hall.tasks.own(code, act.who),
            "paper": await act.hall.own.paper(code, act.who),
        }
        return await act.stream(live, live.screens, own, act.who)


async def _wall(act: Act) -> Response:
    """Stream the same to a wall screen, which does not count as a pupil."""
    is_own = is_teacher(act.request, act.room)
    if not is_own and len(act.hall.screens.of(act.room.code).walls) >= act.hall.limits.walls:
        raise is_full()
    async with act.hall.screens.ready(act.room.code) as live:
        return await act.stream(live, live.walls, {}, "teacher" if is_own else act.request.state.caller.seat)


async def _answer(act: Act) -> Json:
    """Take an answer; pupils can change it until the reveal."""
    room, limits = act.room, act.hall.limits
    check(limits.answers, act.who)
    check(limits.answers_of_room, room.code)
    if room.question is None or act.said.get("number") != room.number:
        raise RefusedError(409, message("This question is over."))
    if asking.is_late(room.question, act.hall.clock()):
        raise RefusedError(409, message("Time is up."))
    answered = asking.given(asking.unpacked(room.question), act.said.get("given"))
    if answered is None:
        raise RefusedError(400, message("Not an answer to this question."))
    if not await act.hall.database.take(Sent(room.code, room.number, act.who, answered)):
        raise RefusedError(409, message("The answers are already revealed."))
    act.hall.desks.note(room.code)
    return {"number": room.number, "given": list(answered.given)}


async def _task(act: Act) -> Json:
    """Send a pupil on other pages of the app the task, the pupil's own solution, and any open question."""
    code, seat = act.room.code, seat_of(act.request, act.room)
    own = await act.hall.tasks.own(code, seat)
    live = act.hall.screens.of(code)
    if seat is not None and not live.screens.has(seat):
        await act.hall.database(Store.note_explorer, code, seat)
        act.hall.desks.note_change(live)
    asks = act.room.question is not None and not act.room.is_revealed
    return {"task": await act.hall.tasks.shown(code), "handed": own, "asks": asks}


async def _hand_in(act: Act) -> Json:
    """Judge the link of a view; a pupil's best link counts."""
    number, link, host = act.said.get("number"), act.said.get("link"), asked_host(act.request.headers)
    verdict = await act.hall.tasks.hand_in(act.room.code, number, act.who, link, host)
    act.hall.desks.note(act.room.code)
    return verdict


async def _begin_own(act: Act) -> Json:
    told = await act.hall.own.begin(act.room, act.who, act.said)
    act.hall.desks.note(act.room.code)
    return told


async def _answer_own(act: Act) -> Json:
    told = await act.hall.own.answer(act.room, act.who, act.said)
    act.hall.desks.note(act.room.code)
    return told


async def _picture_of_code(act: Act) -> Response:
    written = io.BytesIO()
    made = segno.make(address_of_room(act.request, act.room.code), error="m")
    made.save(written, kind="svg", scale=8, border=2, light="#ffffff")
    return Response(written.getvalue(), media_type="image/svg+xml")


def _check_screens(act: Act) -> None:
    if len(act.hall.screens.of(act.room.code).screens) >= act.hall.limits.screens:
        raise is_full()


async def _own_answer(act: Act) -> object:
    """Return a pupil's answer to the question or, when it is asked again, the one to discuss."""
    if act.room.question is None:
        return None
    last = act.room.number
    for number in (last, last - 1) if asking.is_again(act.room.question) else (last,):
        answered = await act.hall.database(Store.own_answer, act.room.code, number, act.who)
        if answered is not None:
            return {"number": number, "given": list(answered.given)}
    return None
