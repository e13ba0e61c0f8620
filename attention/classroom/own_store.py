"""Storage of ten questions on the pupils' own sentences: the round, each pupil's paper, and the answers.

All belong to a room, and are deleted with it. Each function takes the store, and raises the store's errors.
"""

from __future__ import annotations

import json
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import sqlalchemy as sql
from sqlalchemy import Column, Float, Integer, LargeBinary, String, Table, Text

from attention.classroom.store import SCHEMA, Store

# The most papers per room.
MAX_PAPERS = 1_500

Begun = Literal["begun", "over", "answered", "full"]

_ROUNDS = Table(
    "own_rounds",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("link", Text, nullable=False),
    Column("asks_nickname", Integer, nullable=False),
    Column("is_open", Integer, nullable=False),
)
_PAPERS = Table(
    "own_papers",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("pupil", String(64), primary_key=True),
    Column("nickname", Text, nullable=False),
    # The names of the questions, separated by spaces, and their contents as compressed JSON.
    Column("names", Text, nullable=False),
    Column("packed", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
)
_MARKS = Table(
    "own_marks",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("pupil", String(64), primary_key=True),
    Column("question", String(40), primary_key=True),
    Column("given", Integer, nullable=False),
    Column("is_right", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("thought", Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Round:
    """A round of ten questions: the link of the model and its head, and whether it is still open."""

    number: int
    link: str
    asks_nickname: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class Paper:
    """A pupil's questions, the facts about their sentence, and the answers."""

    data: Mapping[str, Any] = field(repr=False)
    given: Mapping[str, int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked answer.

    ``answer`` is the wrong answer in words, unless these are the pupil's own; ``thought`` is the thinking behind it,
    without the words and numbers of the sentence. Both are empty if the answer is right.
    """

    question: str
    given: int
    is_right: bool
    answer: str = ""
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of right answers to a question, or of one wrong answer, with the thinking behind it."""

    question: str
    is_right: bool
    thought: str
    answer: str
    count: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A pupil's results: nickname (if any), questions' names, marks, sentence, answers, right ones, texts, and key."""

    nickname: str
    questions: tuple[str, ...]
    is_right: Mapping[str, bool]
    sentence: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    right: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    pupil: str = ""


# ------------------------------------------------------------------------------------- for the teacher


def start(store: Store, code: str, key: str, link: str, asks_nickname: bool) -> None:
    """Begin a round, and delete the answers of the last one."""
    with store.writing() as connection:
        store.own(connection, code, key)
        before = connection.execute(_of(_ROUNDS, code)).one_or_none()
        for table in (_PAPERS, _MARKS):
            connection.execute(sql.delete(table).where(table.c.code == code))
        number = 1 if before is None else before.number + 1
        values = {"number": number, "link": link, "asks_nickname": int(asks_nickname), "is_open": 1}
        connection.execute(store.upsert(_ROUNDS, {"code": code}, values))
        store.notify(connection, code)


def finish(store: Store, code: str, key: str) -> None:
    """End a round: keep its answers, and accept no more."""
    with store.writing() as connection:
        store.own(connection, code, key)
        connection.execute(sql.update(_ROUNDS).where(_ROUNDS.c.code == code).values(is_open=0))
        store.notify(connection, code)


def progress(store: Store, code: str) -> tuple[dict[int, int], int]:
    """Return how many pupils are at each question, counted from 1, and how many have finished."""
    answered = _answered(code)
    counted = (
        sql.select(_PAPERS.c.names, sql.func.coalesce(answered.c.n, 0).label("n"))
        .outerjoin(answered, answered.c.pupil == _PAPERS.c.pupil)
        .where(_PAPERS.c.code == code)
    )
    with store.reading() as connection:
        rows = connection.execute(counted).all()
    under_way = Counter(row.n + 1 for row in rows if row.n < len(row.names.split()))
    return dict(sorted(under_way.items())), len(rows) - under_way.total()


def tallies(store: Store, code: str) -> list[Tally]:
    """Return the count of each answer to each question."""
    columns = (_MARKS.c.question, _MARKS.c.is_right, _MARKS.c.thought, _MARKS.c.answer)
    counted = sql.select(*columns, sql.func.count().label("n")).where(_MARKS.c.code == code).group_by(*columns)
    with store.reading() as connection:
        rows = connection.execute(counted).all()
    return [Tally(row.question, bool(row.is_right), row.thought, row.answer, row.n) for row in rows]


def taken(store: Store, code: str) -> list[Taken]:
    """Return each pupil's results, in the order in which they began."""
    papers = _of(_PAPERS, code).order_by(_PAPERS.c.at, _PAPERS.c.pupil)
    with store.reading() as connection:
        rows, marks = connection.execute(papers).all(), connection.execute(_of(_MARKS, code)).all()
    of_pupil: dict[str, dict[str, Any]] = defaultdict(dict)
    for each in marks:
        of_pupil[each.pupil][each.question] = each
    return [_taken(row, of_pupil[row.pupil]) for row in rows]


def _taken(row: Any, marks: Mapping[str, Any]) -> Taken:
    data = _unpacked(row.packed)
    answers = {each["name"]: each["answers"] for each in data["questions"]}
    given = {name: answers[name][each.given] for name, each in marks.items() if name in answers}
    is_right = {name: bool(each.is_right) for name, each in marks.items()}
    right = {each["name"]: " / ".join(each["answers"][at] for at in each["right"]) for each in data["questions"]}
    asked = {each["name"]: each["question"] for each in data["questions"]}
    return Taken(row.nickname, tuple(row.names.split()), is_right, data["sentence"], given, right, asked, row.pupil)


# ------------------------------------------------------------------------------------- for pupils


def round_of(store: Store, code: str) -> Round | None:
    """Return a room's last round; None if there was none."""
    with store.reading() as connection:
        row = connection.execute(_of(_ROUNDS, code)).one_or_none()
    return None if row is None else Round(row.number, row.link, bool(row.asks_nickname), bool(row.is_open))


def begin(store: Store, code: str, number: int, pupil: str, nickname: str, data: Mapping[str, Any]) -> Begun:
    """Keep a pupil's paper; it replaces an earlier one without answers."""
    values = {
        "nickname": nickname,
        "names": " ".join(each["name"] for each in data["questions"]),
        "packed": zlib.compress(json.dumps(data, ensure_ascii=True).encode()),
        "at": time.time(),
    }
    with store.writing() as connection:
        if not _is_open(store, connection, code, number):
            return "over"
        mine = {"code": code, "pupil": pupil}
        if connection.execute(_of(_MARKS, code, pupil).limit(1)).first() is not None:
            return "answered"
        if connection.execute(_of(_PAPERS, code, pupil)).first() is None and _n_papers(connection, code) >= MAX_PAPERS:
            return "full"
        connection.execute(store.upsert(_PAPERS, mine, values))
    return "begun"


def paper(store: Store, code: str, pupil: str) -> Paper | None:
    """Return a pupil's paper; None if there is none."""
    with store.reading() as connection:
        row = connection.execute(_of(_PAPERS, code, pupil)).one_or_none()
        marks = () if row is None else connection.execute(_of(_MARKS, code, pupil)).all()
    return None if row is None else Paper(_unpacked(row.packed), {each.question: each.given for each in marks})


def mark(store: Store, code: str, number: int, pupil: str, given: Mark) -> int | None:
    """Store a first answer; return the stored one, or None if the round is over."""
    values = asdict(given) | {"is_right": int(given.is_right)}
    with store.writing() as connection:
        if not _is_open(store, connection, code, number):
            return None
        if connection.execute(_of(_PAPERS, code, pupil)).first() is None:
            return None
        connection.execute(store.insert_once(_MARKS, {"code": code, "pupil": pupil, **values}))
        kept = connection.execute(_of(_MARKS, code, pupil).where(_MARKS.c.question == given.question)).one()
    return int(kept.given)


# ------------------------------------------------------------------------------------------------


def _of(found: Table, code: str, pupil: str | None = None) -> Any:
    selected = sql.select(found).where(found.c.code == code)
    return selected if pupil is None else selected.where(found.c.pupil == pupil)


def _answered(code: str) -> Any:
    counted = sql.select(_MARKS.c.pupil, sql.func.count().label("n")).where(_MARKS.c.code == code)
    return counted.group_by(_MARKS.c.pupil).subquery()


def _n_papers(connection: sql.Connection, code: str) -> int:
    counted = sql.select(sql.func.count()).select_from(_PAPERS).where(_PAPERS.c.code == code)
    return int(connection.execute(counted).scalar_one())


def _is_open(store: Store, connection: sql.Connection, code: str, number: int) -> bool:
    """Tell whether a round is open; it cannot end until the transaction does."""
    if store.held(connection, code) is None:
        return False
    row = connection.execute(_of(_ROUNDS, code)).one_or_none()
    return row is not None and bool(row.is_open) and row.number == number


def _unpacked(packed: bytes) -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(zlib.decompress(packed))
    return data
