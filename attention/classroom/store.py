"""What is kept of a class: the room and what it shows, the question that is asked, and the answers; for a day.

SQLite by default, PostgreSQL where several copies of the server share their rooms: with every change of a room, it
tells all of them (LISTEN and NOTIFY). Nothing is kept of who somebody is: a pupil is a random key in a cookie.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import Column, Float, Integer, String, Table, Text
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from attention.classroom.codes import digest, fits, new_code, new_key
from attention.figures.question import Verdict

__all__ = [
    "DATABASE_VARIABLE",
    "LASTS",
    "MAX_ROOMS",
    "SCHEMA",
    "Answered",
    "DamagedError",
    "FullError",
    "NotYoursError",
    "Present",
    "Room",
    "Sent",
    "Store",
    "StoreError",
    "UnusableError",
    "open_store",
    "set_aside",
    "sqlite",
]

# The database in which rooms are kept, as SQLAlchemy writes its address; without it, a file in the cache folder.
DATABASE_VARIABLE = "ATTENTION_DATABASE"
# A room goes after a day, in seconds.
LASTS = 24 * 60 * 60.0
# So many rooms a server has at most.
MAX_ROOMS = 2_000
_ATTEMPTS = 8
_WRITES = "attention_writes"

# A row of any table with a code belongs to a room, and goes with it.
SCHEMA = sql.MetaData()
_ROOMS = Table(
    "rooms",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("page", String(40), nullable=False),
    Column("link", Text, nullable=False),
    # The question as JSON, empty while none is asked, and the number of those asked until now.
    Column("question", Text, nullable=False, default=""),
    Column("number", Integer, nullable=False, default=0),
    Column("is_revealed", Integer, nullable=False, default=0),
    Column("ends", Float, nullable=False, index=True),
)
_ANSWERS = Table(
    "answers",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("pupil", String(64), primary_key=True),
    Column("given", Text, nullable=False),
    Column("verdict", String(8), nullable=False),
)
# How many follow a room on each copy of the server, and how many of its screens hang on a wall.
_PRESENT = Table(
    "followers",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("copy", String(40), primary_key=True),
    Column("here", Integer, nullable=False),
    Column("walls", Integer, nullable=False),
    Column("at", Float, nullable=False),
)
# A copy that has said nothing for so many seconds is gone.
_SILENT = 15.0

# Where PostgreSQL tells of rooms, and the lock under which one copy alone makes the tables.
_CHANNEL, _TABLES_LOCK = "attention_rooms", 7_305_114
# A PostgreSQL that does not answer is given up after seconds, and not by the system after a quarter of an hour.
_PATIENCE = {"connect_timeout": 3, "tcp_user_timeout": 5_000, "keepalives_idle": 5, "keepalives_interval": 2}
# So many of them has a copy of the server, which keeps them: opening one takes longer than what it is for.
_CONNECTIONS: Mapping[str, Any] = {"pool_size": 10, "max_overflow": 0, "pool_timeout": 10}
# In seconds: how long a listener waits before it tries again, looks whether it is to end, and asks for a sign of life.
_AGAIN, _LOOK, _SIGN = 0.5, 0.5, 10.0
# How long one waits for another who writes to SQLite's file, in seconds.
_BUSY = 10.0
# What SQLite says of a file that is no database any more, and of one that this server may not use.
_DAMAGED = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_UNUSABLE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})

_LOGGER = logging.getLogger(__name__)


class StoreError(Exception):
    """What is kept cannot be reached at the moment."""


class UnusableError(StoreError):
    """There is no place to keep anything; the message, for the log, says why and what the server's owner can do."""


class DamagedError(StoreError):
    """SQLite's file is no database, or is damaged."""


class FullError(Exception):
    """There are as many rooms as the server has room for."""


class NotYoursError(Exception):
    """Only whoever has opened a room may do this."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room: the page and the link that it shows, and the question that is asked, if there is one."""

    code: str
    page: str
    link: str = field(repr=False)
    question: Mapping[str, Any] | None = field(default=None, repr=False)
    number: int = 0
    is_revealed: bool = False
    ends: float = 0.0
    # What is kept of the teacher's key.
    kept: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to a question of a room, and what it is worth."""

    given: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer on its way: whose it is, and to which question of which room."""

    code: str
    number: int
    pupil: str
    answered: Answered


@dataclass(frozen=True, slots=True)
class Present:
    """How many follow a room, and how many screens hang on a wall."""

    here: int = 0
    walls: int = 0


def sqlite(folder: Path) -> str:
    """Return the address of the database in a folder, which is made.

    Raises:
        UnusableError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = f"{folder} cannot be made ({error.strerror}): set ATTENTION_CACHE_DIR to a folder that can be written to"
        raise UnusableError(told) from error
    return f"sqlite:///{folder / 'rooms.sqlite'}"


def open_store(address: str, *, lasts: float = LASTS) -> Store:
    """Open the database at an address of SQLAlchemy's; a file of SQLite's that is damaged is set aside.

    Raises:
        UnusableError: there can be none.
        StoreError: it cannot be reached.
    """
    try:
        return Store(address, lasts=lasts)
    except DamagedError:
        set_aside(address)
        return Store(address, lasts=lasts)


def set_aside(address: str) -> None:
    """Rename the file of a damaged database, so that there can be a new one, and say so in the log.

    Raises:
        UnusableError: it cannot be renamed.
    """
    file = Path(sql.make_url(address).database or "")
    number = 1
    while (kept := file.with_name(f"{file.name}.damaged-{number}")).exists():
        number += 1
    try:
        file.rename(kept)
        for ending in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                file.with_name(file.name + ending).rename(kept.with_name(kept.name + ending))
    except OSError as error:
        told = f"{file} is no database, or is damaged, and cannot be renamed ({error.strerror}): move it away"
        raise UnusableError(told) from error
    _LOGGER.error("%s is no database, or is damaged: it was renamed to %s, and a new one is made.", file, kept)


class Store:
    """The rooms of a server, in a database; all threads may use it.

    Raises:
        StoreError: from all methods, if the database cannot be reached.
    """

    def __init__(self, address: str, *, lasts: float = LASTS) -> None:
        """Open the database at an address of SQLAlchemy's; its tables are made if they are not there.

        Raises:
            UnusableError: there can be none at this address.
        """
        self._lasts = lasts
        # Parameters may be sentences and answers, which belong in no log.
        given = _read_address(address)
        self.is_sqlite = given.get_backend_name() == "sqlite"
        patience = {} if self.is_sqlite else {name: _PATIENCE[name] for name in _PATIENCE.keys() - given.query.keys()}
        try:
            self._engine = sql.create_engine(given, hide_parameters=True, connect_args=patience, **_CONNECTIONS)
        except (ImportError, TypeError, SQLAlchemyError) as error:
            raise _no_address() from error
        # What reads is one statement, which needs no transaction: one way to PostgreSQL and back, not three.
        self._reader = self._engine if self.is_sqlite else self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._writer = self._engine.execution_options(**{_WRITES: True})
        self._patience = patience
        # SQLite has one writer at a time, and lets others sleep longer and longer between their attempts.
        self._turn = threading.Lock() if self.is_sqlite else nullcontext()
        self._listener: _Listener | None = None
        if self.is_sqlite:
            sql.event.listen(self._engine, "connect", _prepare_sqlite)
            sql.event.listen(self._engine, "begin", _begin_sqlite)
        try:
            with self.writing() as connection:
                if not self.is_sqlite:
                    connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_TABLES_LOCK)))
                SCHEMA.create_all(connection)
        except StoreError:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Close all connections."""
        if self._listener is not None:
            self._listener.stop()
        self._engine.dispose()

    # --------------------------------------------------------------------------- other copies of the server

    def listen(self, changed: Callable[[str | None], None], lost: Callable[[], None]) -> None:
        """Say from now on which room has changed on any copy, and when the database is out of reach.

        ``changed`` gets its code, followed by a space and what was said with it (see ``tell``), and None if any may
        have changed: at the beginning, and when the database is back. Both are called in a thread of their own. In
        SQLite, which one server alone uses, nothing happens.
        """

        def forget() -> None:
            # The connections of before lead nowhere any more.
            self._engine.dispose()
            lost()

        if not self.is_sqlite:
            self._listener = _Listener(self._connect, changed, forget)

    def tell(self, code: str, said: str = "") -> None:
        """Tell all copies that something about a room is new, or what is ``said``, of less than 8,000 bytes.

        Nothing of that is kept.
        """
        if not self.is_sqlite:
            with self.writing() as connection:
                self.notify(connection, f"{code} {said}".strip())

    def _connect(self) -> Any:
        """Return a connection of the driver's own."""
        words, options = self._engine.dialect.create_connect_args(self._engine.url)
        return self._engine.dialect.loaded_dbapi.connect(*words, **{**options, **self._patience, "autocommit": True})

    def notify(self, connection: sql.Connection, *codes: str) -> None:
        """Tell all copies of changes of rooms, when the transaction that makes them is done."""
        if not self.is_sqlite:
            for code in codes:
                connection.execute(sql.select(sql.func.pg_notify(_CHANNEL, code)))

    # ------------------------------------------------------------------------------------------ rooms

    def open(self, page: str, link: str) -> tuple[Room, str]:
        """Open a room that shows a link of a page; return it and its key.

        Raises:
            FullError: there are too many.
        """
        self.sweep()
        key = new_key()
        for _ in range(_ATTEMPTS):
            room = Room(new_code(), page, link, ends=time.time() + self._lasts, kept=digest(key))
            row = {"code": room.code, "key": room.kept, "page": page, "link": link, "ends": room.ends}
            try:
                with self.writing() as connection:
                    if connection.execute(sql.select(sql.func.count()).select_from(_ROOMS)).scalar_one() >= MAX_ROOMS:
                        raise FullError
                    connection.execute(sql.insert(_ROOMS).values(row))
            except IntegrityError:
                # Another room has this code.
                continue
            return room, key
        raise FullError

    def room(self, code: str) -> Room | None:
        """Return the room with this code; None if there is none, or it has ended."""
        with self.reading() as connection:
            row = connection.execute(_the_room(code)).one_or_none()
        return None if row is None else _as_room(row)

    def rooms(self, codes: Collection[str]) -> dict[str, Room]:
        """Return the rooms with these codes, as far as there are any."""
        where = (_ROOMS.c.code.in_(list(codes)), _ROOMS.c.ends > time.time())
        with self.reading() as connection:
            return {row.code: _as_room(row) for row in connection.execute(sql.select(_ROOMS).where(*where))}

    def show(self, code: str, key: str, page: str, link: str) -> None:
        """Have a room show another link; a question about the one before ends."""
        self._change(code, key, {"page": page, "link": link, "question": "", "is_revealed": 0})

    def ask(self, code: str, key: str, question: Mapping[str, Any]) -> None:
        """Ask a question."""
        written = json.dumps(question, ensure_ascii=True)
        self._change(code, key, {"question": written, "number": _ROOMS.c.number + 1, "is_revealed": 0})

    def reveal(self, code: str, key: str) -> None:
        """Show what is right; nobody can answer from then on."""
        self._change(code, key, {"is_revealed": 1})

    def withdraw(self, code: str, key: str) -> None:
        """End the question."""
        self._change(code, key, {"question": "", "is_revealed": 0})

    def end(self, code: str, key: str) -> None:
        """Delete a room, with all answers."""
        with self.writing() as connection:
            self.check(connection, code, key)
            _delete(connection, [code])
            self.notify(connection, code)

    def sweep(self) -> list[str]:
        """Delete the rooms whose day is over; return their codes."""
        with self.writing() as connection:
            over = list(connection.scalars(sql.select(_ROOMS.c.code).where(_ROOMS.c.ends <= time.time())))
            _delete(connection, over)
            self.notify(connection, *over)
        return over

    # ---------------------------------------------------------------------------------------- answers

    def take(self, sent: Sequence[Sent]) -> list[bool]:
        """Take answers that have come together, the last of each pupil; tell of each whether it counts.

        It does not after the reveal, nor if it is one to another question.
        """
        codes = {each.code for each in sent}
        # In one order, so that no copy of the server holds what another waits for while it waits itself.
        asked = sql.select(_ROOMS.c.code, _ROOMS.c.number).order_by(_ROOMS.c.code)
        asked = asked.where(_ROOMS.c.code.in_(list(codes)), _ROOMS.c.ends > time.time())
        asked = asked.where(_ROOMS.c.question != "", _ROOMS.c.is_revealed == 0)
        with self.writing() as connection:
            is_open = set(map(tuple, connection.execute(self.shared(asked))))
            counted = [(each.code, each.number) in is_open for each in sent]
            last = {
                (each.code, each.number, each.pupil): each.answered
                for each, counts in zip(sent, counted, strict=True)
                if counts
            }
            if last:
                connection.execute(self._insert_answers(), [_as_row(*each) for each in sorted(last.items(), key=_key)])
        return counted

    def _insert_answers(self) -> Any:
        """Return the statement that inserts answers, each in place of the one before."""
        insert = self._dialect.insert(_ANSWERS)
        new = {name: insert.excluded[name] for name in ("given", "verdict")}
        return insert.on_conflict_do_update(index_elements=list(_ANSWERS.primary_key), set_=new)

    def own_answer(self, code: str, number: int, pupil: str) -> Answered | None:
        """Return what a pupil has answered; None if nothing."""
        where = (_ANSWERS.c.code == code, _ANSWERS.c.number == number, _ANSWERS.c.pupil == pupil)
        with self.reading() as connection:
            row = connection.execute(sql.select(_ANSWERS).where(*where)).one_or_none()
        return None if row is None else Answered(tuple(json.loads(row.given)), row.verdict)

    def own_answers(self, code: str, number: int) -> dict[str, Answered]:
        """Return what each pupil has answered."""
        where = (_ANSWERS.c.code == code, _ANSWERS.c.number == number)
        with self.reading() as connection:
            rows = connection.execute(sql.select(_ANSWERS).where(*where)).all()
        return {row.pupil: Answered(tuple(json.loads(row.given)), row.verdict) for row in rows}

    def answers(self, code: str, number: int) -> Counter[Answered]:
        """Return how often each answer to a question was given."""
        where = (_ANSWERS.c.code == code, _ANSWERS.c.number == number)
        columns = (_ANSWERS.c.given, _ANSWERS.c.verdict)
        counted = sql.select(*columns, sql.func.count().label("n")).where(*where).group_by(*columns)
        with self.reading() as connection:
            rows = connection.execute(counted).all()
        return Counter({Answered(tuple(json.loads(row.given)), row.verdict): row.n for row in rows})

    # --------------------------------------------------------------------------------------- presence

    def note_present(self, code: str, copy: str, present: Present) -> None:
        """Note who follows a room on one copy of the server."""
        values = {"here": present.here, "walls": present.walls, "at": time.time()}
        with self.writing() as connection:
            row = {"code": code, "copy": copy}
            if self.held(connection, code) is not None:
                connection.execute(self.upsert(_PRESENT, row, values))

    def present(self, code: str) -> Present:
        """Return who follows a room on all copies."""
        where = (_PRESENT.c.code == code, _PRESENT.c.at > time.time() - _SILENT)
        sums = [sql.func.coalesce(sql.func.sum(column), 0) for column in (_PRESENT.c.here, _PRESENT.c.walls)]
        with self.reading() as connection:
            here, walls = connection.execute(sql.select(*sums).where(*where)).one()
        return Present(int(here), int(walls))

    # ------------------------------------------------------------------------------------------------

    def _change(self, code: str, key: str, values: Mapping[str, Any]) -> None:
        with self.writing() as connection:
            self.check(connection, code, key)
            connection.execute(sql.update(_ROOMS).where(_ROOMS.c.code == code).values(values))
            self.notify(connection, code)

    def held(self, connection: sql.Connection, code: str) -> Any:
        """Return the row of a room, which nobody changes until the transaction is done; None if there is none."""
        return connection.execute(self.shared(_the_room(code))).one_or_none()

    def shared(self, rows: Any) -> Any:
        """Select rows so that nobody changes them until the transaction is done; others may hold them too."""
        # In SQLite, nobody else writes meanwhile anyway.
        return rows if self.is_sqlite else rows.with_for_update(read=True)

    def own(self, connection: sql.Connection, code: str, key: str) -> None:
        """Hold a room for its teacher: nobody answers anything in it until the transaction is done.

        Raises:
            NotYoursError: it is another key, or there is no such room.
        """
        self.check(connection, code, key)
        if not self.is_sqlite:
            connection.execute(_the_room(code).with_for_update())

    @staticmethod
    def check(connection: sql.Connection, code: str, key: str) -> None:
        """Refuse who does not have the key of a room.

        Raises:
            NotYoursError: it is another key, or there is no such room.
        """
        row = connection.execute(_the_room(code)).one_or_none()
        if row is None or not fits(key, row.key):
            raise NotYoursError

    def upsert(
        self,
        table: Table,
        row: Mapping[str, Any],
        values: Mapping[str, Any],
        others: Mapping[str, Any] | None = None,
        where: Any = None,
    ) -> Any:
        """Return the statement that inserts a row with these values, or gives them to the row that is there.

        If ``others`` are given, the row that is there gets them instead; if a condition is, only if it holds for it.
        """
        insert = self._dialect.insert(table).values(**row, **values)
        given = values if others is None else others
        return insert.on_conflict_do_update(index_elements=list(row), set_=given, where=where)

    def insert_once(self, table: Table, row: Mapping[str, Any]) -> Any:
        """Return the statement that inserts a row, unless there is one with the same key."""
        return self._dialect.insert(table).values(**row).on_conflict_do_nothing()

    @property
    def _dialect(self) -> Any:
        return sqlite_dialect if self.is_sqlite else postgresql

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Lend a connection on which one statement reads."""
        try:
            with self._reader.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self._failed(error) from error

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """Lend a connection in a transaction, which is done at the end."""
        try:
            with self._turn, self._writer.begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            raise self._failed(error) from error

    def _failed(self, error: SQLAlchemyError) -> StoreError:
        """Return what an error of the database means here."""
        reason = getattr(error, "orig", None)
        # The lowest byte is the kind, the others tell which one of it ("Result and Error Codes").
        kind = getattr(reason, "sqlite_errorcode", 0) & 0xFF
        if kind in _DAMAGED:
            return DamagedError()
        if kind in _UNUSABLE:
            return UnusableError(f"{self._engine.url.database}: {reason}. See that the server may write this file")
        return StoreError()


def _read_address(address: str) -> sql.URL:
    try:
        return sql.make_url(address)
    except (ValueError, SQLAlchemyError) as error:
        raise _no_address() from error


def _no_address() -> UnusableError:
    # Without the address, which may contain a password.
    return UnusableError(
        f"{DATABASE_VARIABLE} is not the address of a database that can be used: give one such as sqlite:////a/file or "
        "postgresql+psycopg://user@host/name, or none"
    )


class _Listener:
    """Hears what PostgreSQL tells of rooms, on a connection and in a thread of its own."""

    def __init__(
        self, connect: Callable[[], Any], changed: Callable[[str | None], None], lost: Callable[[], None]
    ) -> None:
        self._connect, self._changed, self._lost = connect, changed, lost
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rooms", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Hear nothing any more."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        import psycopg

        while not self._ended.is_set():
            try:
                with self._connect() as connection:
                    self._hear(connection)
            except psycopg.Error:
                self._lost()
                self._ended.wait(_AGAIN)

    def _hear(self, connection: Any) -> None:
        connection.execute(f"LISTEN {_CHANNEL}")
        self._changed(None)
        looked = time.monotonic()
        while not self._ended.is_set():
            for told in connection.notifies(timeout=_LOOK):
                self._changed(told.payload)
            if time.monotonic() - looked > _SIGN:
                connection.execute("SELECT 1")
                looked = time.monotonic()


def _the_room(code: str) -> Any:
    """Select a room that has not ended."""
    return sql.select(_ROOMS).where(_ROOMS.c.code == code, _ROOMS.c.ends > time.time())


def _key(answer: tuple[tuple[str, int, str], Answered]) -> tuple[str, int, str]:
    return answer[0]


def _as_row(of: tuple[str, int, str], answered: Answered) -> dict[str, Any]:
    values = {"given": json.dumps(answered.given), "verdict": answered.verdict}
    return dict(zip(("code", "number", "pupil"), of, strict=True)) | values


def _as_room(row: Any) -> Room:
    question = json.loads(row.question) if row.question else None
    return Room(row.code, row.page, row.link, question, row.number, bool(row.is_revealed), row.ends, row.key)


def _delete(connection: sql.Connection, codes: Sequence[str]) -> None:
    # The room first: then whoever still answers it has been waited for, and nobody does afterwards.
    for table in sorted(SCHEMA.tables.values(), key=lambda table: table is not _ROOMS):
        if "code" in table.c:
            connection.execute(sql.delete(table).where(table.c.code.in_(codes)))


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # SQLAlchemy begins transactions, not the driver, which would do so only before the first change.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY * 1000:.0f}")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")


def _write_ahead(connection: Any) -> None:
    """Have those who read and the one who writes not wait for one another.

    The first one changes the file for good. Of several who do so at the same moment, SQLite refuses some at once, where
    it would wait elsewhere ("Write-Ahead Logging", section 7).
    """
    end = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def _begin_sqlite(connection: sql.Connection) -> None:
    # Who reads first and writes later could find that somebody else has written meanwhile.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
