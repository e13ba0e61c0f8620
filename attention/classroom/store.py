"""Storage of a class for a day: the room and its view, its question, and the answers.

It is SQLite by default, and PostgreSQL if several copies of the server share rooms: LISTEN and NOTIFY tell all of them
of each change. Pupils are anonymous: a pupil is a random key in a cookie.
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

# The database of rooms, as an SQLAlchemy URL; by default a file in the cache folder.
DATABASE_VARIABLE = "ATTENTION_DATABASE"
# A room's lifetime, in seconds.
LASTS = 24 * 60 * 60.0
# The most rooms per server.
MAX_ROOMS = 2_000
_ATTEMPTS = 8
_WRITES = "attention_writes"

# Rows with a code belong to a room, and are deleted with it.
SCHEMA = sql.MetaData()
_ROOMS = Table(
    "rooms",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("page", String(40), nullable=False),
    Column("link", Text, nullable=False),
    # The current question as JSON ("" for none), and the number of questions so far.
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
# All questions of a room, as JSON.
_QUESTIONS = Table(
    "questions",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("question", Text, nullable=False),
)
# The followers of a room on each copy of the server, and its screens on walls.
_PRESENT = Table(
    "followers",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("copy", String(40), primary_key=True),
    Column("here", Integer, nullable=False),
    Column("walls", Integer, nullable=False),
    Column("at", Float, nullable=False),
)
# The pupils of a room who explore the app on their own, and when their page last asked for news.
_EXPLORERS = Table(
    "explorers",
    SCHEMA,
    Column("code", String(6), primary_key=True),
    Column("pupil", String(64), primary_key=True),
    Column("at", Float, nullable=False),
)
# In seconds: a copy, or a pupil's page in the app, that is silent for longer counts as gone.
_SILENT, _SILENT_PAGE = 15.0, 40.0

# PostgreSQL's channel for changes, and the lock under which one copy alone creates the tables.
_CHANNEL, _TABLES_LOCK = "attention_rooms", 7_305_114
# Give up on a silent PostgreSQL after seconds; the system would take a quarter of an hour.
_PATIENCE = {"connect_timeout": 3, "tcp_user_timeout": 5_000, "keepalives_idle": 5, "keepalives_interval": 2}
# Connections are kept, because opening one takes longer than using it.
_CONNECTIONS: Mapping[str, Any] = {"pool_size": 10, "max_overflow": 0, "pool_timeout": 10}
# In seconds: how long a listener waits before reconnecting, between checks whether to stop, and between signs of life.
_RETRY, _POLL, _PING = 0.5, 0.5, 10.0
# In seconds: how long a writer waits for another one's lock on SQLite's file.
_BUSY = 10.0
# SQLite's errors for a damaged file or one that is not a database, and for one that this server may not use.
_DAMAGED = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_UNUSABLE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})

_LOGGER = logging.getLogger(__name__)


class StoreError(Exception):
    """The database cannot be reached at the moment."""


class UnusableError(StoreError):
    """The database cannot be used; the message, for the log, gives the reason and the remedy."""


class DamagedError(StoreError):
    """SQLite's file is damaged, or not a database."""


class FullError(Exception):
    """The server has too many rooms."""


class NotYoursError(Exception):
    """Only the room's owner may do this."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room: the page and link that it shows, and its question, if any."""

    code: str
    page: str
    link: str = field(repr=False)
    question: Mapping[str, Any] | None = field(default=None, repr=False)
    number: int = 0
    is_revealed: bool = False
    ends: float = 0.0
    # The hash of the teacher's key.
    kept: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to a room's question, with its verdict: an index, shares in percent, or the words that were typed."""

    given: tuple[int, ...] | tuple[str]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer to be stored."""

    code: str
    number: int
    pupil: str
    answered: Answered


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked, packed, and the answers by pupil."""

    number: int
    question: Mapping[str, Any] = field(repr=False)
    answers: Mapping[str, Answered] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Present:
    """The numbers of a room's followers, and of its screens on walls."""

    here: int = 0
    walls: int = 0


def sqlite(folder: Path) -> str:
    """Return the database address for a folder, which is created; raise UnusableError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = f"{folder} cannot be made ({error.strerror}): set ATTENTION_CACHE_DIR to a folder that can be written to"
        raise UnusableError(told) from error
    return f"sqlite:///{folder / 'rooms.sqlite'}"


def open_store(address: str, *, lasts: float = LASTS) -> Store:
    """Open the database at an SQLAlchemy URL; a damaged SQLite file is set aside.

    Raises:
        UnusableError: the database cannot be used.
        StoreError: it cannot be reached.
    """
    try:
        return Store(address, lasts=lasts)
    except DamagedError:
        set_aside(address)
        return Store(address, lasts=lasts)


def set_aside(address: str) -> None:
    """Rename the file of a damaged database, so that a new one can be created; raise UnusableError if that fails."""
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
    """The rooms of a server in a database; thread-safe.

    Raises:
        StoreError: from all methods, if the database cannot be reached.
    """

    def __init__(self, address: str, *, lasts: float = LASTS) -> None:
        """Open the database at an SQLAlchemy URL, creating missing tables; raise UnusableError if it is invalid."""
        self._lasts = lasts
        # Parameters may be sentences and answers, which must not be logged.
        given = _read_address(address)
        self.is_sqlite = given.get_backend_name() == "sqlite"
        patience = {} if self.is_sqlite else {name: _PATIENCE[name] for name in _PATIENCE.keys() - given.query.keys()}
        try:
            self._engine = sql.create_engine(given, hide_parameters=True, connect_args=patience, **_CONNECTIONS)
        except (ImportError, TypeError, SQLAlchemyError) as error:
            raise _no_address() from error
        # Reads are single statements without a transaction: one round trip to PostgreSQL, not three.
        self._reader = self._engine if self.is_sqlite else self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._writer = self._engine.execution_options(**{_WRITES: True})
        self._patience = patience
        # SQLite allows one writer at a time, and its waiting writers sleep longer and longer between attempts.
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
        """Report changes of rooms on any copy of the server, and loss of the database.

        ``changed`` is called with a room's code, followed by a space and a message if there is one (see ``tell``), or
        with None if any room may have changed (at first, and after a reconnection). Both are called in a separate
        thread. With SQLite, which only one server uses, nothing happens.
        """

        def forget() -> None:
            # The old connections are dead.
            self._engine.dispose()
            lost()

        if not self.is_sqlite:
            self._listener = _Listener(self._connect, changed, forget)

    def tell(self, code: str, said: str = "") -> None:
        """Notify all copies that a room has changed, or of ``said`` (at most 8,000 bytes), which is not stored."""
        if not self.is_sqlite:
            with self.writing() as connection:
                self.notify(connection, f"{code} {said}".strip())

    def _connect(self) -> Any:
        words, options = self._engine.dialect.create_connect_args(self._engine.url)
        return self._engine.dialect.loaded_dbapi.connect(*words, **{**options, **self._patience, "autocommit": True})

    def notify(self, connection: sql.Connection, *codes: str) -> None:
        """Notify all copies of changes to rooms, once the transaction is committed."""
        if not self.is_sqlite:
            for code in codes:
                connection.execute(sql.select(sql.func.pg_notify(_CHANNEL, code)))

    # ------------------------------------------------------------------------------------------ rooms

    def open(self, page: str, link: str) -> tuple[Room, str]:
        """Open a room that shows a page's link; return it and its key. Raises FullError."""
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
        """Return the room with this code; None if there is none, or it has expired."""
        with self.reading() as connection:
            row = connection.execute(_the_room(code)).one_or_none()
        return None if row is None else _as_room(row)

    def rooms(self, codes: Collection[str]) -> dict[str, Room]:
        """Return the existing rooms among these codes."""
        where = (_ROOMS.c.code.in_(list(codes)), _ROOMS.c.ends > time.time())
        with self.reading() as connection:
            return {row.code: _as_room(row) for row in connection.execute(sql.select(_ROOMS).where(*where))}

    def show(self, code: str, key: str, page: str, link: str) -> None:
        """Show another link in a room; a question about the last one ends."""
        self._change(code, key, {"page": page, "link": link, "question": "", "is_revealed": 0})

    def show_opened(self, code: str, key: str, link: str) -> None:
        """Show the same view with its question answered in the link; the question stays."""
        self._change(code, key, {"link": link})

    def ask(self, code: str, key: str, question: Mapping[str, Any]) -> None:
        """Ask a question."""
        values = {"question": _written(question), "number": _ROOMS.c.number + 1, "is_revealed": 0}
        row = sql.select(_ROOMS.c.code, _ROOMS.c.number, _ROOMS.c.question).where(_ROOMS.c.code == code)
        with self.writing() as connection:
            self.check(connection, code, key)
            connection.execute(sql.update(_ROOMS).where(_ROOMS.c.code == code).values(values))
            connection.execute(sql.insert(_QUESTIONS).from_select(["code", "number", "question"], row))
            self.notify(connection, code)

    def put_question(self, code: str, key: str, question: Mapping[str, Any]) -> None:
        """Replace the open question, whose answers stay."""
        self._change(code, key, {"question": _written(question)})

    def reveal(self, code: str, key: str) -> None:
        """Reveal the answer; no more answers are accepted."""
        self._change(code, key, {"is_revealed": 1})

    def withdraw(self, code: str, key: str) -> None:
        """End the question."""
        self._change(code, key, {"question": "", "is_revealed": 0})

    def end(self, code: str, key: str) -> None:
        """Delete a room with all its answers."""
        with self.writing() as connection:
            self.check(connection, code, key)
            _delete(connection, [code])
            self.notify(connection, code)

    def sweep(self) -> list[str]:
        """Delete the expired rooms; return their codes."""
        with self.writing() as connection:
            over = list(connection.scalars(sql.select(_ROOMS.c.code).where(_ROOMS.c.ends <= time.time())))
            _delete(connection, over)
            self.notify(connection, *over)
        return over

    # ---------------------------------------------------------------------------------------- answers

    def take(self, sent: Sequence[Sent]) -> list[bool]:
        """Store a batch of answers, the last of each pupil; return for each whether it counts.

        An answer after the reveal, or to another question, does not count.
        """
        codes = {each.code for each in sent}
        # A fixed order prevents deadlocks between copies of the server.
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
                connection.execute(self._insert_answers(), [_as_row(key, last[key]) for key in sorted(last)])
        return counted

    def _insert_answers(self) -> Any:
        """Return the statement that inserts answers or replaces earlier ones."""
        insert = self._dialect.insert(_ANSWERS)
        new = {name: insert.excluded[name] for name in ("given", "verdict")}
        return insert.on_conflict_do_update(index_elements=list(_ANSWERS.primary_key), set_=new)

    def own_answer(self, code: str, number: int, pupil: str) -> Answered | None:
        """Return a pupil's answer; None if there is none."""
        where = (_ANSWERS.c.code == code, _ANSWERS.c.number == number, _ANSWERS.c.pupil == pupil)
        with self.reading() as connection:
            row = connection.execute(sql.select(_ANSWERS).where(*where)).one_or_none()
        return None if row is None else Answered(tuple(json.loads(row.given)), row.verdict)

    def own_answers(self, code: str, number: int) -> dict[str, Answered]:
        """Return the answers by pupil."""
        where = (_ANSWERS.c.code == code, _ANSWERS.c.number == number)
        with self.reading() as connection:
            rows = connection.execute(sql.select(_ANSWERS).where(*where)).all()
        return {row.pupil: Answered(tuple(json.loads(row.given)), row.verdict) for row in rows}

    def answers(self, code: str, number: int) -> Counter[Answered]:
        """Return the count of each answer to a question."""
        where = (_ANSWERS.c.code == code, _ANSWERS.c.number == number)
        columns = (_ANSWERS.c.given, _ANSWERS.c.verdict)
        counted = sql.select(*columns, sql.func.count().label("n")).where(*where).group_by(*columns)
        with self.reading() as connection:
            rows = connection.execute(counted).all()
        return Counter({Answered(tuple(json.loads(row.given)), row.verdict): row.n for row in rows})

    def asked(self, code: str) -> list[Asked]:
        """Return all questions of a room with their answers, in the order in which they were asked."""
        found = sql.select(_QUESTIONS).where(_QUESTIONS.c.code == code).order_by(_QUESTIONS.c.number)
        with self.reading() as connection:
            rows = connection.execute(found).all()
        return [Asked(row.number, json.loads(row.question), self.own_answers(code, row.number)) for row in rows]

    # --------------------------------------------------------------------------------------- presence

    def note_present(self, code: str, copy: str, present: Present) -> None:
        """Record a room's followers on one copy of the server."""
        values = {"here": present.here, "walls": present.walls, "at": time.time()}
        with self.writing() as connection:
            row = {"code": code, "copy": copy}
            if self.held(connection, code) is not None:
                connection.execute(self.upsert(_PRESENT, row, values))

    def present(self, code: str) -> Present:
        """Return a room's followers on all copies."""
        where = (_PRESENT.c.code == code, _PRESENT.c.at > time.time() - _SILENT)
        sums = [sql.func.coalesce(sql.func.sum(column), 0) for column in (_PRESENT.c.here, _PRESENT.c.walls)]
        with self.reading() as connection:
            here, walls = connection.execute(sql.select(*sums).where(*where)).one()
        return Present(int(here), int(walls))

    def note_explorer(self, code: str, pupil: str) -> None:
        """Record that a pupil explores the app on their own."""
        with self.writing() as connection:
            if self.held(connection, code) is not None:
                row = {"code": code, "pupil": pupil}
                connection.execute(self.upsert(_EXPLORERS, row, {"at": time.time()}))

    def forget_explorer(self, code: str, pupil: str) -> None:
        """Record that a pupil follows the room again."""
        where = (_EXPLORERS.c.code == code, _EXPLORERS.c.pupil == pupil)
        # Most pupils have not left: a class that arrives at once does not queue to write.
        with self.reading() as connection:
            if connection.execute(sql.select(_EXPLORERS.c.at).where(*where)).one_or_none() is None:
                return
        with self.writing() as connection:
            connection.execute(sql.delete(_EXPLORERS).where(*where))

    def n_explorers(self, code: str) -> int:
        """Return the number of pupils who explore the app on their own."""
        where = (_EXPLORERS.c.code == code, _EXPLORERS.c.at > time.time() - _SILENT_PAGE)
        with self.reading() as connection:
            return int(
                connection.execute(sql.select(sql.func.count()).select_from(_EXPLORERS).where(*where)).scalar_one()
            )

    # ------------------------------------------------------------------------------------------------

    def _change(self, code: str, key: str, values: Mapping[str, Any]) -> None:
        with self.writing() as connection:
            self.check(connection, code, key)
            connection.execute(sql.update(_ROOMS).where(_ROOMS.c.code == code).values(values))
            self.notify(connection, code)

    def held(self, connection: sql.Connection, code: str) -> Any:
        """Return a room's row, locked against changes until the transaction ends; None if there is none."""
        return connection.execute(self.shared(_the_room(code))).one_or_none()

    def shared(self, rows: Any) -> Any:
        """Return the query with a shared lock on its rows until the transaction ends."""
        # SQLite has only one writer anyway.
        return rows if self.is_sqlite else rows.with_for_update(read=True)

    def own(self, connection: sql.Connection, code: str, key: str) -> None:
        """Lock a room for its teacher: no answer is stored until the transaction ends. Raises NotYoursError."""
        self.check(connection, code, key)
        if not self.is_sqlite:
            connection.execute(_the_room(code).with_for_update())

    @staticmethod
    def check(connection: sql.Connection, code: str, key: str) -> None:
        """Raise NotYoursError if the room does not exist, or has another key."""
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
        """Return the statement that inserts a row with these values, or updates an existing one.

        The existing row gets ``others`` instead, if given, and only if the condition ``where`` holds for it.
        """
        insert = self._dialect.insert(table).values(**row, **values)
        given = values if others is None else others
        return insert.on_conflict_do_update(index_elements=list(row), set_=given, where=where)

    def insert_once(self, table: Table, row: Mapping[str, Any]) -> Any:
        """Return the statement that inserts a row unless its key exists."""
        return self._dialect.insert(table).values(**row).on_conflict_do_nothing()

    @property
    def _dialect(self) -> Any:
        return sqlite_dialect if self.is_sqlite else postgresql

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Yield a connection for one reading statement."""
        try:
            with self._reader.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self._translated(error) from error

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """Yield a connection in a transaction, which is committed at the end."""
        try:
            with self._turn, self._writer.begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            raise self._translated(error) from error

    def _translated(self, error: SQLAlchemyError) -> StoreError:
        reason = getattr(error, "orig", None)
        # The lowest byte is the primary result code ("Result and Error Codes").
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
    """Receives PostgreSQL's notifications of rooms, on a connection and in a thread of its own."""

    def __init__(
        self, connect: Callable[[], Any], changed: Callable[[str | None], None], lost: Callable[[], None]
    ) -> None:
        self._connect, self._changed, self._lost = connect, changed, lost
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rooms", daemon=True)
        self._thread.start()

    def stop(self) -> None:
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
                self._ended.wait(_RETRY)

    def _hear(self, connection: Any) -> None:
        connection.execute(f"LISTEN {_CHANNEL}")
        self._changed(None)
        looked = time.monotonic()
        while not self._ended.is_set():
            for told in connection.notifies(timeout=_POLL):
                self._changed(told.payload)
            if time.monotonic() - looked > _PING:
                connection.execute("SELECT 1")
                looked = time.monotonic()


def _the_room(code: str) -> Any:
    return sql.select(_ROOMS).where(_ROOMS.c.code == code, _ROOMS.c.ends > time.time())


def _written(question: Mapping[str, Any]) -> str:
    return json.dumps(question, ensure_ascii=True)


def _as_row(key: tuple[str, int, str], answered: Answered) -> dict[str, Any]:
    values = {"given": json.dumps(answered.given), "verdict": answered.verdict}
    return dict(zip(("code", "number", "pupil"), key, strict=True)) | values


def _as_room(row: Any) -> Room:
    question = json.loads(row.question) if row.question else None
    return Room(row.code, row.page, row.link, question, row.number, bool(row.is_revealed), row.ends, row.key)


def _delete(connection: sql.Connection, codes: Sequence[str]) -> None:
    # The room first: this waits for transactions that still store answers, and prevents new ones.
    for table in sorted(SCHEMA.tables.values(), key=lambda table: table is not _ROOMS):
        if "code" in table.c:
            connection.execute(sql.delete(table).where(table.c.code.in_(codes)))


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # SQLAlchemy begins transactions; the driver would do so only before the first change.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY * 1000:.0f}")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")


def _write_ahead(connection: Any) -> None:
    """Use write-ahead logging, so that readers and the writer do not wait for one another.

    The first connection changes the file for good. If several do so simultaneously, SQLite refuses some instead of
    waiting ("Write-Ahead Logging", section 7).
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
    # A transaction that reads first and writes later could fail because of another writer in between.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
