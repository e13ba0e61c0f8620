"""Storage of a task set for a class, and of the best link that each pupil has handed in.

Both belong to a room, and are deleted with it. Each function takes the store, and raises the store's errors.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sql
from sqlalchemy import Column, Float, Integer, String, Table, Text

from attention.classroom.store import SCHEMA, Store

# The number of best links shown.
BEST = 5

_TASKS = Table(
    "tasks",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    # The current task as JSON ("" for none), and the number of tasks so far.
    Column("task", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("is_revealed", Integer, nullable=False),
)
_FINDS = Table(
    "finds",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("pupil", String(64), primary_key=True),
    Column("page", String(40), nullable=False),
    Column("link", Text, nullable=False),
    Column("told", Text, nullable=False),
    Column("is_solved", Integer, nullable=False),
    Column("score", Float, nullable=False),
    Column("at", Float, nullable=False),
)


@dataclass(frozen=True, slots=True)
class SetTask:
    """A task set in a room, as a JSON object, and whether the best solutions are shown."""

    task: Mapping[str, Any]
    number: int
    is_revealed: bool = False


@dataclass(frozen=True, slots=True)
class Find:
    """A link handed in, and the verdict on it (``told`` is HTML)."""

    page: str
    link: str = field(repr=False)
    told: str = field(repr=False)
    is_solved: bool
    score: float


@dataclass(frozen=True, slots=True)
class Tally:
    """How many have handed in, how many have solved the task, and the best distinct links."""

    n: int
    n_solved: int
    best: Sequence[Find]


def set_task(store: Store, code: str, key: str, chosen: Mapping[str, Any]) -> None:
    """Set a task in place of the last one; raises NotYoursError."""
    written = json.dumps(chosen, ensure_ascii=True)
    before = sql.select(_TASKS.c.number).where(_TASKS.c.code == code)
    with store.writing() as connection:
        store.check(connection, code, key)
        number = (connection.execute(before).scalar_one_or_none() or 0) + 1
        values = {"task": written, "number": number, "is_revealed": 0}
        connection.execute(store.upsert(_TASKS, {"code": code}, values))
        store.notify(connection, code)


def reveal_task(store: Store, code: str, key: str) -> None:
    """Show the best solutions and accept no more; raises NotYoursError."""
    _change(store, code, key, {"is_revealed": 1})


def end_task(store: Store, code: str, key: str) -> None:
    """End the task; raises NotYoursError."""
    _change(store, code, key, {"task": "", "is_revealed": 0})


def task(store: Store, code: str) -> SetTask | None:
    """Return a room's task; None if there is none."""
    with store.reading() as connection:
        row = connection.execute(sql.select(_TASKS).where(_TASKS.c.code == code)).one_or_none()
    return None if row is None or not row.task else _as_task(row)


def hand_in(store: Store, code: str, number: int, pupil: str, find: Find) -> bool:
    """Keep a link, unless the pupil's last one was better; return whether the task is still open."""
    row = {"code": code, "number": number, "pupil": pupil}
    values = {
        "page": find.page,
        "link": find.link,
        "told": find.told,
        "is_solved": int(find.is_solved),
        "score": find.score,
        "at": time.time(),
    }
    same = _FINDS.c.is_solved == values["is_solved"]
    is_better = (_FINDS.c.is_solved < values["is_solved"]) | (same & (_FINDS.c.score < find.score))
    with store.writing() as connection:
        if store.held(connection, code) is None:
            return False
        found = connection.execute(sql.select(_TASKS).where(_TASKS.c.code == code)).one_or_none()
        if found is None or not found.task or found.number != number or found.is_revealed:
            return False
        connection.execute(store.upsert(_FINDS, row, values, where=is_better))
    return True


def own_find(store: Store, code: str, number: int, pupil: str) -> Find | None:
    """Return a pupil's best link; None if there is none."""
    where = (_FINDS.c.code == code, _FINDS.c.number == number, _FINDS.c.pupil == pupil)
    with store.reading() as connection:
        row = connection.execute(sql.select(_FINDS).where(*where)).one_or_none()
    return None if row is None else _as_find(row)


def tally(store: Store, code: str, number: int) -> Tally:
    """Return the tally of a task, with the best links, best first."""
    where = (_FINDS.c.code == code, _FINDS.c.number == number)
    counted = sql.select(sql.func.count().label("n"), sql.func.sum(_FINDS.c.is_solved).label("n_solved"))
    order = (_FINDS.c.is_solved.desc(), _FINDS.c.score.desc(), _FINDS.c.at)
    # Among equal links, the first counts; many pupils may hand in the same one.
    first = sql.func.row_number().over(partition_by=(_FINDS.c.page, _FINDS.c.link), order_by=order).label("place")
    ranked = sql.select(_FINDS, first).where(*where).subquery()
    order_of_ranked = (ranked.c.is_solved.desc(), ranked.c.score.desc(), ranked.c.at)
    best = sql.select(ranked).where(ranked.c.place == 1).order_by(*order_of_ranked).limit(BEST)
    with store.reading() as connection:
        counts = connection.execute(counted.where(*where)).one()
        rows = connection.execute(best).all()
    return Tally(counts.n, int(counts.n_solved or 0), tuple(map(_as_find, rows)))


def _change(store: Store, code: str, key: str, values: Mapping[str, Any]) -> None:
    with store.writing() as connection:
        store.check(connection, code, key)
        connection.execute(sql.update(_TASKS).where(_TASKS.c.code == code).values(values))
        store.notify(connection, code)


def _as_task(row: Any) -> SetTask:
    return SetTask(json.loads(row.task), row.number, bool(row.is_revealed))


def _as_find(row: Any) -> Find:
    return Find(row.page, row.link, row.told, bool(row.is_solved), row.score)
