"""Requests of a room's teacher, whose key is in a cookie that scripts cannot read, and never in a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from attention.answer.downloads import csv_of
from attention.classroom import asking, finds, own_store, pointing, results
from attention.classroom.drawing import (
    Shown,
    guess_of,
    is_guessed,
    is_shown,
    model_of,
    opened,
    questions_of,
    ready_of,
    sentences_of,
    tidy,
)
from attention.classroom.errors import RefusedError, not_read
from attention.classroom.hall import Act, Answer, Hall, by_teacher
from attention.classroom.requests import (
    address_of_client,
    address_of_room,
    body_of,
    check_origin,
    forget_teacher,
    joined_at,
    keep_teacher,
)
from attention.classroom.room_limits import check
from attention.classroom.screens import pointable
from attention.classroom.store import Room, Store
from attention.core.messages import message, messages
from attention.lesson.plans import Part, plans, under_heading
from attention.lesson.prose import lesson, without_tags
from attention.lesson.questions import ready
from attention.lesson.tasks import TASKS
from attention.page.pages import STEP_BY_STEP
from attention.page.settings import TEXT

Json = Mapping[str, Any]


def routes(hall: Hall) -> list[Route]:
    """Return the routes for a room's teacher."""
    asks = partial(by_teacher, hall)
    # Requests that draw or run something are limited.
    acts = partial(by_teacher, hall, limit=hall.limits.acts_of_teacher)
    changes: Mapping[str, Answer] = {
        "/show": _show,
        "/ask": _ask,
        "/ask-again": _ask_again,
        "/more-time": _more_time,
        "/reveal": _reveal,
        "/withdraw": _changing(Store.withdraw),
        "/end": _end,
        "/task": _set_task,
        "/reveal-task": _changing(finds.reveal_task),
        "/end-task": _changing(finds.end_task),
        "/own/start": _start_own,
        "/own/finish": _changing(own_store.finish),
    }
    return [
        Route("/desk", asks(_desk)),
        Route("/plans", asks(_plans)),
        Route("/questions", acts(_questions)),
        Route("/tasks", asks(_tasks)),
        Route("/own/pupils", asks(_own_pupils)),
        Route("/own/results.csv", asks(_own_results)),
        Route("/results.csv", asks(_results)),
        Route("/point", by_teacher(hall, _point, hall.limits.points), methods=["POST"]),
        *(Route(path, acts(change), methods=["POST"]) for path, change in changes.items()),
    ]


def _changing(change: Callable[..., None]) -> Answer:
    async def answer(act: Act) -> Json:
        await act.change(change)
        return {}

    return answer


async def open_room(hall: Hall, request: Request) -> Response:
    """Open a room; its key is stored in a cookie of this browser."""
    check_origin(request)
    check(
        hall.limits.openings,
        address_of_client(request),
        message("Too many rooms were opened from here. Try again later."),
    )
    where = joined_at(request)
    said = await body_of(request, hall.limits.body)
    # On a page that a class cannot follow, such as that about classes, a class begins with the steps of its sentence,
    # or with an empty screen if the link names none.
    if _is_not_followed(said):
        said = {**said, "page": STEP_BY_STEP.address, "link": f"{TEXT.name}=&{said.get('link', '')}"}
    room, key = await hall.database(Store.open, *await _link(said))
    response = JSONResponse({"code": room.code, "address": f"{where}?code={room.code}"})
    keep_teacher(response, request, room.code, key)
    return response


async def _desk(act: Act) -> Response:
    """Stream attendance and answers to the teacher."""
    address = address_of_room(act.request, act.room.code)
    first = {"code": act.room.code, "address": address}
    async with act.hall.screens.ready(act.room.code) as live:
        return await act.stream(live, live.desks, {"room": first})


# ------------------------------------------------------------------------------------- what the room shows


async def _show(act: Act) -> Json:
    """Show another view in the room; on a page that a class cannot follow, the room keeps its view."""
    if _is_not_followed(act.said):
        return {"told": _not_followed()}
    page, link = await _link(act.said)
    if (page, link) != (act.room.page, act.room.link):
        if act.room.is_revealed and page == act.room.page and link == await _opened(act.room):
            await act.change(Store.show_opened, link)
        else:
            await act.change(Store.show, page, link)
    return {"view": Shown(page, link).mark}


async def _point(act: Act) -> Json:
    """Forward the teacher's pointer; nothing is stored."""
    try:
        found = pointing.read(act.said)
    except ValueError as error:
        raise not_read() from error
    told = found if found is not None and pointing.is_seen(found, pointable(act.room)) else None
    if told is not None and "isOwn" in told:
        told = await act.hall.own.results(act.room.code)
    await act.hall.copies.point(act.room.code, told)
    return {}


async def _end(act: Act) -> Response:
    await act.change(Store.end)
    response = JSONResponse({})
    forget_teacher(response)
    return response


async def _plans(_: Act) -> Response:
    return JSONResponse(
        [
            {
                "name": plan.name,
                "label": messages("{n} minutes", "{n} minutes", plan.minutes),
                "parts": list(map(_part, plan.parts)),
            }
            for plan in plans()
        ]
    )


def _part(part: Part) -> dict[str, Any]:
    words = lesson(part.words)
    return {
        "title": without_tags(under_heading(words)[0]),
        "words": words,
        "address": f"./{part.page}?{part.link}",
        "minutes": part.minutes,
        "act": None if part.act is None else {"kind": part.act, "subject": part.subject},
    }


# ------------------------------------------------------------------------------------- questions


async def _questions(act: Act) -> Json:
    """Return the ready questions that fit the room's view, and whether the view has a question of its own."""
    page, link = act.room.page, act.room.link
    found = await run_in_threadpool(questions_of, page, link)
    has_own = await run_in_threadpool(guess_of, page, link) is not None
    return {"hasOwn": has_own, "questions": [{"name": each.name, "title": each.title} for each in found]}


async def _ask(act: Act) -> Json:
    """Ask the view's question, a ready one, or the teacher's own."""
    name, own, seconds = act.said.get("ready"), act.said.get("own"), act.said.get("seconds")
    if seconds is not None and seconds not in asking.TIME_LIMITS:
        raise not_read()
    if own is not None:
        question = _own_question(own)
    else:
        make = partial(_question_of_view, act.room) if name is None else partial(_ready_question, act.room, name)
        question = await run_in_threadpool(make)
    sentences = await run_in_threadpool(sentences_of, act.room.page, act.room.link)
    question = asking.about(question, " / ".join(sentences))
    await act.change(Store.ask, asking.timed(question, seconds, act.hall.clock()))
    return {}


async def _ask_again(act: Act) -> Json:
    """Ask the open question once more, after a discussion; the reveal shows both counts (peer instruction)."""
    question = _open_question(act.room)
    answers = await act.hall.database(Store.answers, act.room.code, act.room.number)
    again = asking.again(question, answers)
    await act.change(Store.ask, asking.timed(again, asking.time_limit(question), act.hall.clock()))
    return {}


async def _more_time(act: Act) -> Json:
    """Open a question with a time limit for longer, or once more."""
    await act.change(Store.put_question, asking.prolonged(_open_question(act.room), act.hall.clock()))
    return {}


def _open_question(room: Room) -> Mapping[str, Any]:
    if room.question is None or room.is_revealed:
        raise RefusedError(409, message("No question is open."))
    return room.question


async def _reveal(act: Act) -> Json:
    """Show the answers; the teacher's own page then opens the view that the question hid."""
    await act.change(Store.reveal)
    return {"opened": await _opened(act.room)}


async def _opened(room: Room) -> str:
    """Return the link of the room's view with its question answered; the same link if the question hid nothing."""
    if room.question is None or asking.meanwhile(room.question) != "closed":
        return room.link
    return await run_in_threadpool(opened, room.page, room.link)


def _question_of_view(room: Room) -> Mapping[str, Any]:
    guess = guess_of(room.page, room.link)
    if guess is None:
        raise RefusedError(409, message("Nothing to guess here. Choose another step, word or sentence."))
    return asking.packed(guess)


def _ready_question(room: Room, name: object) -> Mapping[str, Any]:
    question = ready(name) if isinstance(name, str) else None
    guess = None if question is None else ready_of(room.page, room.link, question)
    if question is None or guess is None:
        raise RefusedError(409, message("This question does not fit this view. Choose another."))
    is_closed = is_guessed(room.page, room.link)
    return asking.packed(guess, "closed" if is_closed else "hidden" if question.is_hidden else "as it is")


def _own_question(said: object) -> Mapping[str, Any]:
    guess = asking.written(said)
    if guess is None:
        raise RefusedError(409, message("A question needs a text and two to six different answers."))
    return asking.packed(guess, "as it is")


# ------------------------------------------------------------------------------------- tasks


async def _tasks(_: Act) -> Json:
    return {"tasks": [{"name": task.name, "title": task.title} for task in TASKS]}


async def _set_task(act: Act) -> Json:
    """Set a task, which stays when the view changes; return the address of the view to begin with."""
    chosen = await act.hall.tasks.chosen(act.said.get("name"), act.room.page, act.room.link)
    await act.change(finds.set_task, chosen)
    task = await act.hall.tasks.shown(act.room.code)
    return {} if task is None else {"start": task["start"]}


# ------------------------------------------------------------------------------------- ten questions


async def _start_own(act: Act) -> Json:
    """Begin a round of ten questions on the pupils' own sentences, with the room's model."""
    link = await run_in_threadpool(model_of, act.room.page, act.room.link)
    if act.room.question is not None:
        await act.hall.database(Store.withdraw, act.room.code, act.who)
    await act.change(own_store.start, link, act.said.get("asksNickname") is True)
    return {}


async def _own_pupils(act: Act) -> Json:
    return {"pupils": await act.hall.own.pupils(act.room.code)}


async def _own_results(act: Act) -> Response:
    return _csv(f"{act.room.code.lower()}.csv", await act.hall.own.csv(act.room.code))


async def _results(act: Act) -> Response:
    """Return all answers to all questions."""
    questions = await act.hall.database(Store.asked, act.room.code)
    numbers = results.numbers(questions, await act.hall.database(own_store.taken, act.room.code))
    file = await run_in_threadpool(lambda: csv_of(results.table(questions, numbers)))
    return _csv(f"{act.room.code.lower()}-questions.csv", file)


def _csv(name: str, file: bytes) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(file, media_type="text/csv", headers=headers)


# ------------------------------------------------------------------------------------------------


async def _link(said: Mapping[str, Any]) -> tuple[str, str]:
    """Return the page and link that a browser names, in the page's own form; raise RefusedError if it has none."""
    page, link = said.get("page"), said.get("link")
    if not isinstance(page, str) or not isinstance(link, str):
        raise RefusedError(409, _not_followed())
    return page, await run_in_threadpool(tidy, page, link)


def _is_not_followed(said: Mapping[str, Any]) -> bool:
    page = said.get("page")
    return isinstance(page, str) and not is_shown(page)


def _not_followed() -> str:
    return message("A class can't follow this page. It keeps its last view.")
