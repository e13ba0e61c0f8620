"""Limits on attempts across all copies of the server."""

import threading

import pytest
import sqlalchemy as sql
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention.classroom import tries
from attention.classroom.store import Store
from attention.classroom.tries import SharedLimit, TooManyError, forget, let_in
from tests.clock import Clock

ADDRESS = "203.0.113.77"


@pytest.fixture
def copies(address):
    both = Store(address), Store(address)
    for each in both:
        forget(each, now=float("inf"))
    yield both
    for each in both:
        each.close()


def limit(clock, name="wrong codes", secret="one for all copies"):
    return SharedLimit(name, 5, 60, secret, clock)


def rows(store):
    with store.reading() as connection:
        return connection.execute(sql.text("SELECT who, n, ends FROM tries")).all()


def test_what_is_tried_on_one_copy_counts_on_the_other(copies, clock):
    here, there = copies
    room, _ = here.open("step_by_step", "")
    # Each copy has the same secret, and a limit of its own making.
    ours, theirs = limit(clock), limit(clock)
    assert let_in(here, ours, [("BBBBBB", ADDRESS)] * 3) == [None] * 3
    assert let_in(there, theirs, [("BBBBBB", ADDRESS), (room.code, ADDRESS)]) == [None, room]
    told = let_in(there, theirs, [("CCCCCC", ADDRESS), ("CCCCCC", ADDRESS), (room.code, ADDRESS)])
    # Not even the right code is told from the others then.
    assert told[0] is None
    assert all(isinstance(each, TooManyError) for each in told[1:])
    assert isinstance(let_in(here, ours, [(room.code, ADDRESS)])[0], TooManyError)
    # Somebody else is let in, and after a while so is whoever has tried too often.
    assert let_in(here, ours, [(room.code, "198.51.100.1")]) == [room]
    clock.now += 119
    assert let_in(here, ours, [(room.code, ADDRESS)]) == [room]


def test_many_who_come_at_once_from_one_address_learn_no_more_than_one_after_another(copies, clock):
    here, there = copies
    told = []

    def guess(store):
        told.extend(let_in(store, limit(clock), [("BBBBBB", ADDRESS)] * 7))

    threads = [threading.Thread(target=guess, args=(store,)) for store in (here, there) * 4]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(told) == 56
    assert sum(each is None for each in told) <= 5
    assert sum(n for _, n, _ in rows(here)) == 56


def test_no_address_is_kept_and_nothing_stays(copies, clock):
    here, _ = copies
    let_in(here, limit(clock), [("BBBBBB", ADDRESS)])
    ((first, n, ends),) = rows(here)
    assert n == 1
    assert ADDRESS not in first
    assert len(first) == 64
    assert clock.now < ends <= clock.now + 120
    # In the next stretch of time, with another secret, and for something else, nobody is the same.
    others = {limit(clock, name="newcomers")._keys(ADDRESS)[0], limit(clock, secret="another")._keys(ADDRESS)[0]}
    clock.now += 60
    others.add(limit(clock)._keys(ADDRESS)[0])
    assert len(others | {first}) == 4
    forget(here, now=ends - 1)
    assert rows(here)
    forget(here, now=ends)
    assert rows(here) == []


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(st.floats(0, 50), st.integers(1, 4), st.booleans()), max_size=12))
def test_never_are_more_within_a_time_than_twice_the_number_and_never_none_after_it(copies, acts):
    clock, taken = Clock(), []
    # Each example begins where no other has been.
    clock.now = 1_000_000.0 + 600 * next(EXAMPLES)
    for later, n, is_there in acts:
        clock.now += later
        store = copies[is_there]
        told = let_in(store, limit(clock), [("BBBBBB", "somebody")] * n)
        taken += [clock.now] * sum(each is None for each in told)
    for start in taken:
        assert sum(start <= each < start + 60 for each in taken) <= 2 * 5
    clock.now += 120
    assert let_in(copies[0], limit(clock), [("BBBBBB", "somebody")]) == [None]


EXAMPLES = iter(range(10_000))


def test_a_number_that_is_asked_for_twice_is_not_read_twice(copies, clock, monkeypatch):
    here, _ = copies
    room, _ = here.open("step_by_step", "")
    written = []
    monkeypatch.setattr(tries.SharedLimit, "add", lambda self, store, found: written.append(dict(found)) or {})
    assert let_in(here, limit(clock), [(room.code, ADDRESS)] * 100) == [room] * 100
    # Where all codes are right, nothing is written.
    assert written == [{}]
