"""The tasks of the rooms of this server: set by a teacher, handed in by pupils, judged one at a time in each room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from attention.figures.format import number
from attention.messages import message
from attention.room.finds import Find, Finds, SetTask, Tally
from attention.room.tasks import TASKS, ModelHead, Task, UnfitError, headline, task_of
from attention.ui.handed_in import judge, place_of, view_of

__all__ = ["BusyError", "RoomTasks"]

# So many wait in one room for their turn to be judged, and so many rooms are judged for at a time: threads are shared.
MAX_WAITING, MAX_AT_ONCE = 40, 2


class BusyError(Exception):
    """So many hand in at once that another one would have to wait for too long."""


@dataclass(slots=True)
class _Line:
    """Those in a room who wait for a verdict."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    n: int = 0


class RoomTasks:
    """What is done about tasks; ``ask`` does something with what is kept of them, on a thread of its own."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        """Begin with nobody waiting."""
        self._ask = ask
        self._lines: dict[str, _Line] = {}
        self._places = asyncio.Semaphore(MAX_AT_ONCE)

    @staticmethod
    def titles() -> list[dict[str, str]]:
        """Return the tasks that a teacher can choose from."""
        return [{"name": task.name, "title": task.title} for task in TASKS]

    async def set(self, code: str, key: str, name: object, page: str, link: str) -> None:
        """Set a task; one about a head is about the one that the room shows.

        Raises:
            UnfitError: there is no such task, or nothing that it could be about.
        """
        task = task_of(name) if isinstance(name, str) else None
        if task is None:
            raise UnfitError(message("There is no such task."))
        given = await run_in_threadpool(place_of, page, link) if task.is_given else None
        written = {"name": task.name, "given": None if given is None else asdict(given)}
        await self._ask(Finds.set_task, code, key, written)

    async def hand_in(self, code: str, number: object, pupil: str, typed: object, host: str) -> Mapping[str, Any]:
        """Judge a link, and keep it if it is the pupil's best; return the verdict on it, and on the best.

        Raises:
            UnfitError: the task is over, or can say nothing about the link.
            BusyError: too many wait for a verdict.
        """
        current = await self._ask(Finds.task, code)
        known = None if current is None or current.number != number else _task(current)
        if current is None or known is None or current.is_revealed:
            raise _over()
        if not isinstance(typed, str):
            raise UnfitError(message("There is no link."))
        view = await run_in_threadpool(view_of, typed, host)
        async with self._turn(code):
            find = await run_in_threadpool(judge, *known, view)
        if not await self._ask(Finds.hand_in, code, current.number, pupil, find):
            raise _over()
        best = await self._ask(Finds.own_find, code, current.number, pupil)
        return {"number": current.number, "verdict": _seen(find), "best": _seen(best or find)}

    async def shown(self, code: str) -> Mapping[str, Any] | None:
        """Return what everybody is shown of the task of a room: after the reveal, the best solutions too."""
        current = await self._ask(Finds.task, code)
        known = None if current is None else _task(current)
        if current is None or known is None:
            return None
        task, given = known
        return {
            "number": current.number,
            "title": task.title,
            "rule": task.rule(given),
            "start": f"./{task.page}?{urlencode(task.start(given))}",
            "told": _told(await self._ask(Finds.tally, code, current.number)) if current.is_revealed else None,
        }

    async def own(self, code: str, pupil: str | None) -> Mapping[str, Any] | None:
        """Return a pupil's best link until now; None if there is none."""
        current = None if pupil is None else await self._ask(Finds.task, code)
        found = None if current is None else await self._ask(Finds.own_find, code, current.number, pupil)
        return None if current is None or found is None else {"number": current.number, "best": _seen(found)}

    async def tally(self, code: str) -> Mapping[str, Any] | None:
        """Return what the teacher is told of the task while it goes on."""
        current = await self._ask(Finds.task, code)
        return None if current is None else _told(await self._ask(Finds.tally, code, current.number))

    @asynccontextmanager
    async def _turn(self, code: str) -> AsyncIterator[None]:
        """Wait for one's turn in a room, and for a place among the rooms."""
        line = self._lines.setdefault(code, _Line())
        if line.n >= MAX_WAITING:
            raise BusyError
        line.n += 1
        try:
            async with line.turn, self._places:
                yield
        finally:
            line.n -= 1
            if not line.n:
                self._lines.pop(code, None)


def _over() -> UnfitError:
    return UnfitError(message("This task is over."))


def _task(current: SetTask) -> tuple[Task, ModelHead | None] | None:
    """Return a task as it was set; None if this server does not know it."""
    task, given = task_of(current.task["name"]), current.task["given"]
    return None if task is None else (task, None if given is None else ModelHead(**given))


def _seen(find: Find) -> dict[str, Any]:
    """Return a verdict as screens show it."""
    return {
        "isSolved": find.is_solved,
        "score": number(find.score),
        "headline": headline(find.score, is_solved=find.is_solved),
        "told": find.told,
        "address": f"./{find.page}?{find.link}",
    }


def _told(tally: Tally) -> dict[str, Any]:
    # What is no solution is of interest only where nobody has found one.
    best = [find for find in tally.best if find.is_solved] or tally.best
    return {"handed": tally.n, "solved": tally.n_solved, "best": list(map(_seen, best))}
