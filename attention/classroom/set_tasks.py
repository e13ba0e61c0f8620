"""Tasks in this server's rooms: set by a teacher, handed in by pupils, and judged one at a time per room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from attention.classroom import finds
from attention.classroom.database import Database
from attention.classroom.drawing import sentences_of
from attention.classroom.errors import RefusedError
from attention.classroom.finds import Find, SetTask, Tally
from attention.classroom.queues import BusyError, Queues
from attention.classroom.room_limits import Limits, check
from attention.classroom.submission import judge, place_of, solution, view_of
from attention.core.messages import message
from attention.figures.format import number
from attention.lesson.tasks import ModelHead, Task, UnfitError, headline, task_of
from attention.lesson.tasks.base import LEAST_WORDS
from attention.page.settings import SOUGHT

# The number of rooms whose links are judged at the same time; they share threads.
_AT_ONCE = 2


class RoomTasks:
    """The tasks in this server's rooms."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database, self._limits = database, limits
        self._queues = Queues(_AT_ONCE, limits.waiting_hand_ins)

    @staticmethod
    async def chosen(name: object, page: str, link: str) -> Mapping[str, Any]:
        """Return a task as it is stored, for the room's sentence, and its head if the task needs one.

        Raises:
            UnfitError: there is no such task, or no head.
        """
        task = task_of(name) if isinstance(name, str) else None
        if task is None:
            raise UnfitError(message("There is no such task."))
        given = await run_in_threadpool(place_of, page, link) if task.is_given else None
        text = next(iter(await run_in_threadpool(sentences_of, page, link)), "")
        start = {**task.start(given), **({"text": text} if _is_begun_with(task, text) else {})}
        return {"name": task.name, "given": None if given is None else asdict(given), "start": start}

    async def hand_in(self, code: str, number: object, pupil: str, typed: object, host: str) -> Mapping[str, Any]:
        """Judge a link, and keep it if it is the pupil's best; return the verdicts on it and on the best.

        Raises:
            UnfitError: the task is over, or does not apply to the link.
            RefusedError: too many links, or too many waiting for a verdict.
        """
        told = message("Too fast. Check your view, then hand in again.")
        check(self._limits.hand_ins, pupil, told)
        check(self._limits.hand_ins_of_room, code, _busy())
        current = await self._database(finds.task, code)
        known = None if current is None or current.number != number else _task(current)
        if current is None or known is None or current.is_revealed:
            raise _over()
        if not isinstance(typed, str):
            raise UnfitError(message("There is no link."))
        view = await run_in_threadpool(view_of, typed, host)
        try:
            async with self._queues.turn(code):
                find = await run_in_threadpool(judge, *known, view)
        except BusyError as error:
            raise RefusedError(429, _busy()) from error
        if not await self._database(finds.hand_in, code, current.number, pupil, find):
            raise _over()
        best = await self._database(finds.own_find, code, current.number, pupil)
        return {"number": current.number, "verdict": _seen(find), "best": _seen(best or find)}

    async def shown(self, code: str) -> Mapping[str, Any] | None:
        """Return a room's task for everyone; after the reveal, with the best solutions."""
        current = await self._database(finds.task, code)
        known = None if current is None else _task(current)
        if current is None or known is None:
            return None
        task, given = known
        # A page that looks for something does not say what heads do.
        sought = urlencode({SOUGHT.name: task.name})
        # An older version of the server has stored no start.
        start = current.task.get("start", task.start(given))
        told = None
        if current.is_revealed:
            told = _told(await self._database(finds.tally, code, current.number))
            ours = None if told["solved"] else await run_in_threadpool(solution, task, start)
            if ours is not None:
                told["best"] = [_seen(ours) | {"headline": message("Nobody found it. A solution:")}]
        return {
            "number": current.number,
            "title": task.title,
            "rule": task.rule(given),
            "sought": sought,
            "start": f"./{task.page}?{urlencode(start)}&{sought}",
            "told": told,
        }

    async def own(self, code: str, pupil: str | None) -> Mapping[str, Any] | None:
        """Return a pupil's best link; None if there is none."""
        current = None if pupil is None else await self._database(finds.task, code)
        found = None if current is None else await self._database(finds.own_find, code, current.number, pupil)
        return None if current is None or found is None else {"number": current.number, "best": _seen(found)}

    async def tally(self, code: str) -> Mapping[str, Any] | None:
        """Return an open task for the teacher."""
        current = await self._database(finds.task, code)
        return None if current is None else _told(await self._database(finds.tally, code, current.number))


def _is_begun_with(task: Task, text: str) -> bool:
    """Tell whether a task can begin with the class's sentence: any will do if it is long enough."""
    return task.is_quick and not task.is_of_two and len(text.split()) >= LEAST_WORDS


def _busy() -> str:
    return message("Many are handing in now. Try again in a few seconds.")


def _over() -> UnfitError:
    return UnfitError(message("This task is over."))


def _task(current: SetTask) -> tuple[Task, ModelHead | None] | None:
    """Return a task as it was set; None if this version of the server does not know it."""
    task, given = task_of(current.task["name"]), current.task["given"]
    return None if task is None else (task, None if given is None else ModelHead(**given))


def _seen(find: Find) -> dict[str, Any]:
    return {
        "isSolved": find.is_solved,
        "score": number(find.score),
        "headline": headline(find.score, is_solved=find.is_solved),
        "told": find.told,
        "address": f"./{find.page}?{find.link}",
    }


def _told(tally: Tally) -> dict[str, Any]:
    # Show failed attempts only if no one has found a solution.
    best = [find for find in tally.best if find.is_solved] or tally.best
    return {"handed": tally.n, "solved": tally.n_solved, "best": list(map(_seen, best))}
