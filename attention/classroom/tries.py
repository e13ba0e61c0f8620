"""Limits on attempts across all copies of the server, counted in the database.

Only a keyed hash of the caller is stored, which changes in every period and is deleted after the next: no address, and
nothing that would reveal or track one.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sql
from sqlalchemy import Column, Float, Integer, String, Table

from attention.classroom.store import SCHEMA, Room, Store

_TRIES = Table(
    "tries",
    SCHEMA,
    Column("who", String(64), primary_key=True),
    Column("n", Integer, nullable=False),
    Column("ends", Float, nullable=False, index=True),
)


class TooManyError(Exception):
    """Too many attempts."""


@dataclass(frozen=True, slots=True)
class SharedLimit:
    """A limit of ``attempts`` within ``seconds``.

    Attempts are counted in periods of that length. With a part x of the last ``seconds`` in the current period, the
    estimate is n_now + (1 − x)·n_before.
    """

    name: str
    attempts: int
    seconds: float
    secret: str
    clock: Callable[[], float] = time.time

    def counts(self, store: Store, all_who: Collection[str]) -> dict[str, float]:
        """Return each caller's number of attempts. Raises StoreError."""
        keys = {who: self._keys(who) for who in all_who}
        wanted = [key for both in keys.values() for key in both]
        if not wanted:
            return {}
        with store.reading() as connection:
            rows = connection.execute(sql.select(_TRIES.c.who, _TRIES.c.n).where(_TRIES.c.who.in_(wanted))).all()
        found = {row.who: row.n for row in rows}
        part = 1 - self.clock() / self.seconds % 1
        return {who: found.get(now, 0) + part * found.get(before, 0) for who, (now, before) in keys.items()}

    def add(self, store: Store, tries: Mapping[str, int]) -> dict[str, float]:
        """Count attempts; return each caller's number before these. Raises StoreError."""
        if not tries:
            return {}
        ends = (self.clock() // self.seconds + 2) * self.seconds
        with store.writing() as connection:
            # A fixed order prevents deadlocks between copies of the server.
            for who, n in sorted((self._keys(who)[0], n) for who, n in tries.items()):
                values = {"n": _TRIES.c.n + n}
                insert = store.upsert(_TRIES, {"who": who}, {"n": n, "ends": ends}, values)
                connection.execute(insert)
        return {who: n - tries[who] for who, n in self.counts(store, tries).items()}

    def _keys(self, who: str) -> tuple[str, str]:
        stretch = int(self.clock() // self.seconds)
        return self._key(who, stretch), self._key(who, stretch - 1)

    def _key(self, who: str, stretch: int) -> str:
        said = f"{self.name} {stretch} {who}"
        return hmac.new(self.secret.encode(), said.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def let_in(store: Store, limit: SharedLimit, wanted: Sequence[tuple[str, str]]) -> list[Room | TooManyError | None]:
    """Return the rooms for (code, caller) pairs; None if a code is wrong.

    A caller with too many wrong codes gets an error even for a right one, however many requests come at once.

    Raises:
        StoreError: the database cannot be reached.
    """
    rooms = store.rooms({code for code, _ in wanted})
    wrong = Counter(who for code, who in wanted if code not in rooms)
    right = {who for code, who in wanted if code in rooms}
    before = limit.counts(store, right - wrong.keys()) | limit.add(store, wrong)
    found: list[Room | TooManyError | None] = []
    for code, who in wanted:
        found.append(TooManyError() if before[who] > limit.attempts - 1 else rooms.get(code))
        before[who] += code not in rooms
    return found


def forget(store: Store, now: float | None = None) -> None:
    """Delete expired counts. Raises StoreError."""
    with store.writing() as connection:
        connection.execute(sql.delete(_TRIES).where(_TRIES.c.ends <= (time.time() if now is None else now)))
