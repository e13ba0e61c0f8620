"""Storage of a class, in SQLite and PostgreSQL, compared with a plain dictionary."""

import logging
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import sqlalchemy as sql
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention.classroom import store as stores
from attention.classroom.codes import fits
from attention.classroom.store import Answered, FullError, NotYoursError, Present, Sent, Store, StoreError
from tests.until import until

QUESTION = {"question": "Which?", "answers": ["one", "two"]}


@contextmanager
def plainly(address):
    """The database as anybody else sees it."""
    engine = sql.create_engine(address)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def at_once(act, each):
    """Do something for each of some, in threads that all begin together; return what came of it."""
    together = threading.Barrier(len(each))

    def begin(one):
        together.wait()
        return act(one)

    with ThreadPoolExecutor(len(each)) as threads:
        return list(threads.map(begin, each))


def answer(store, *sent):
    """Send one answer; return whether it counts."""
    return store.take([Sent(*sent)])[0]


def test_a_room_shows_what_its_teacher_shows_and_survives_the_server(store, address):
    room, key = store.open("step_by_step", "text=One")
    assert store.room(room.code) == room
    store.show(room.code, key, "why_divide", "text=Two")
    store.ask(room.code, key, QUESTION)
    again = Store(address)
    found = again.room(room.code)
    assert (found.page, found.link, found.question, found.number) == ("why_divide", "text=Two", QUESTION, 1)
    assert fits(key, again.room(room.code).kept)
    assert not fits("another", again.room(room.code).kept)
    again.close()


def test_only_its_teacher_changes_a_room(store):
    room, _ = store.open("step_by_step", "")
    _, other_key = store.open("step_by_step", "")
    for change in (
        lambda: store.show(room.code, other_key, "x", "y"),
        lambda: store.ask(room.code, other_key, QUESTION),
        lambda: store.reveal(room.code, other_key),
        lambda: store.withdraw(room.code, other_key),
        lambda: store.end(room.code, other_key),
        lambda: store.end("BBBBBB", other_key),
    ):
        with pytest.raises(NotYoursError):
            change()
    assert store.room(room.code) == room


def test_rooms_go_after_their_day_with_their_answers(address):
    store = Store(address, lasts=-1)
    room, _ = store.open("step_by_step", "")
    assert store.room(room.code) is None
    assert store.sweep() == [room.code]
    assert store.sweep() == []
    store.close()


def test_so_many_rooms_are_enough(store, monkeypatch):
    monkeypatch.setattr(stores, "MAX_ROOMS", 2)
    for _ in range(2):
        store.open("step_by_step", "")
    with pytest.raises(FullError):
        store.open("step_by_step", "")


def test_all_copies_are_counted_that_have_spoken_lately(store, monkeypatch):
    room, _ = store.open("step_by_step", "")
    assert store.present(room.code) == Present()
    store.note_present(room.code, "a", Present(5, 1))
    store.note_present(room.code, "a", Present(20, 0))
    store.note_present(room.code, "b", Present(3, 2))
    assert store.present(room.code) == Present(23, 2)
    monkeypatch.setattr(stores, "_SILENT", -1.0)
    assert store.present(room.code) == Present()


def test_a_thousand_answers_of_many_threads_are_all_counted_once(store):
    room, key = store.open("step_by_step", "")
    store.ask(room.code, key, QUESTION)

    def answer_every_eighth(first):
        for pupil in range(first, 1000, 8):
            assert answer(store, room.code, 1, f"pupil {pupil}", Answered((1,), "other"))
            assert answer(store, room.code, 1, f"pupil {pupil}", Answered((pupil % 2,), "right"))

    threads = [threading.Thread(target=answer_every_eighth, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.answers(room.code, 1) == Counter({Answered((0,), "right"): 500, Answered((1,), "right"): 500})


def test_a_code_is_given_once_to_those_who_open_rooms_at_once(store, monkeypatch):
    codes, lock = iter(["BBBBBB"] * 8 + [f"CCCCC{letter}" for letter in "BCDFGHJ"]), threading.Lock()

    def new_code():
        with lock:
            return next(codes)

    monkeypatch.setattr(stores, "new_code", new_code)
    opened = at_once(lambda _: store.open("step_by_step", ""), range(8))
    assert len({room.code for room, _ in opened}) == 8
    assert all(fits(key, store.room(room.code).kept) for room, key in opened)


def test_one_pupil_who_answers_in_many_windows_at_once_counts_once(store):
    room, key = store.open("step_by_step", "")
    store.ask(room.code, key, QUESTION)
    assert all(at_once(lambda n: answer(store, room.code, 1, "me", Answered((n,), "other")), range(8)))
    (answered,) = store.answers(room.code, 1).elements()
    assert store.own_answer(room.code, 1, "me") == answered


def test_what_is_taken_before_the_reveal_counts_and_nothing_that_is_refused(store):
    room, key = store.open("step_by_step", "")
    for number in range(1, 6):
        store.ask(room.code, key, QUESTION)

        def act(pupil, number=number):
            if pupil == 4:
                store.reveal(room.code, key)
                return False
            return answer(store, room.code, number, f"pupil {pupil}", Answered((1,), "other"))

        taken = at_once(act, range(8))
        assert store.answers(room.code, number).total() == sum(taken)


def test_an_answer_that_comes_as_a_room_ends_leaves_nothing(store, address):
    for _ in range(5):
        room, key = store.open("step_by_step", "")
        store.ask(room.code, key, QUESTION)

        def act(pupil, code=room.code, key=key):
            if pupil == 4:
                return store.end(code, key)
            store.note_present(code, f"copy {pupil}", Present(1))
            return answer(store, code, 1, f"pupil {pupil}", Answered((1,), "other"))

        at_once(act, range(8))
    with plainly(address) as plain:
        for table in ("rooms", "answers", "followers"):
            assert plain.scalar(sql.text(f"SELECT count(*) FROM {table}")) == 0


def test_copies_that_start_at_once_make_the_tables_once(address):
    for each in at_once(lambda _: Store(address), range(6)):
        assert each.room("BBBBBB") is None
        each.close()


def test_many_who_open_a_new_file_at_the_same_moment_all_can(tmp_path):
    def opened(path):
        connection = sqlite3.connect(path)
        stores._prepare_sqlite(connection, None)
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        connection.close()
        return mode

    for attempt in range(60):
        assert at_once(opened, [tmp_path / f"{attempt}.sqlite"] * 6) == ["wal"] * 6


def test_a_database_out_of_reach_is_said_without_what_was_to_be_written(store, address, caplog):
    caplog.set_level(logging.DEBUG)
    room, key = store.open("step_by_step", "")
    with plainly(address) as plain:
        plain.execute(sql.text("DROP TABLE rooms"))
    with pytest.raises(StoreError) as failed:
        store.show(room.code, key, "step_by_step", "text=A+secret+sentence")
    assert "secret" not in str(failed.value.__cause__)
    assert "secret" not in caplog.text


class Heard:
    """What a copy of the server is told."""

    def __init__(self, address):
        self.changed, self.n_lost = [], 0
        self.store = Store(address)
        self.store.listen(self.changed.append, self.lose)
        until(lambda: self.changed == [None])

    def lose(self):
        self.n_lost += 1


def test_other_copies_hear_of_every_change_once_it_is_made(postgres):
    address = postgres.new()
    here, there = Store(address), Heard(address)
    room, key = here.open("step_by_step", "")
    seen, third = [], Store(address)
    third.listen(lambda code: seen.append(code and here.room(code)), lambda: None)
    until(lambda: seen == [None])
    changes = [
        lambda: here.show(room.code, key, "why_divide", ""),
        lambda: here.ask(room.code, key, QUESTION),
        lambda: here.reveal(room.code, key),
        lambda: here.withdraw(room.code, key),
        lambda: here.tell(room.code),
        lambda: here.end(room.code, key),
    ]
    for n, change in enumerate(changes, 1):
        change()
        # Both have heard of it, and looked, before there is something else to be seen.
        until(lambda n=n: len(there.changed) == len(seen) == n + 1)
    assert there.changed == [None, *[room.code] * len(changes)]
    # Who looks when told finds what was told of.
    assert seen[1].page == "why_divide"
    assert seen[2].question == QUESTION
    assert seen[-1] is None
    with pytest.raises(NotYoursError):
        here.show(room.code, key, "step_by_step", "")
    for each in (here, there.store, third):
        each.close()


@pytest.mark.slow
def test_a_copy_that_loses_the_database_says_so_and_comes_back(postgres):
    address = postgres.new()
    here, there = Store(address), Heard(address)
    room, key = here.open("step_by_step", "")
    here.ask(room.code, key, QUESTION)
    assert answer(here, room.code, 1, "me", Answered((0,), "right"))
    until(lambda: there.changed == [None, room.code])
    postgres.stop()
    try:
        until(lambda: there.n_lost > 0)
        with pytest.raises(StoreError):
            here.room(room.code)
        with pytest.raises(StoreError):
            Store(address)
    finally:
        postgres.start()
    # Anything may have changed meanwhile.
    until(lambda: there.changed == [None, room.code, None])
    assert here.answers(room.code, 1) == Counter({Answered((0,), "right"): 1})
    here.reveal(room.code, key)
    until(lambda: there.changed[-1] == room.code)
    for each in (here, there.store):
        each.close()


def test_a_file_has_nobody_else_to_hear_of(tmp_path):
    store = Store(stores.sqlite(tmp_path))
    told = []
    store.listen(told.append, lambda: told.append("lost"))
    room, key = store.open("step_by_step", "")
    store.show(room.code, key, "why_divide", "")
    store.tell(room.code)
    store.close()
    assert told == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(
        st.tuples(st.sampled_from(["answer", "reveal", "ask", "show"]), st.integers(0, 2), st.integers(0, 1)),
        max_size=12,
    )
)
def test_it_keeps_what_a_dictionary_would(store, acts):
    # Of many rooms in one place, each keeps its own.
    room, key = store.open("step_by_step", "")
    kept, number, is_open = {}, 0, False
    for act, pupil, given_ in acts:
        if act == "answer":
            answered = Answered((given_,), "other")
            assert answer(store, room.code, number, str(pupil), answered) == is_open
            if is_open:
                kept[number, str(pupil)] = answered
        elif act == "reveal":
            store.reveal(room.code, key)
            is_open = False
        elif act == "ask":
            store.ask(room.code, key, QUESTION)
            number, is_open = number + 1, True
        else:
            store.show(room.code, key, "step_by_step", str(pupil))
            is_open = False
    for asked in range(1, number + 1):
        wanted = Counter(answered for (of, _), answered in kept.items() if of == asked)
        assert store.answers(room.code, asked) == wanted
        own = {pupil: answered for (of, pupil), answered in kept.items() if of == asked}
        assert store.own_answers(room.code, asked) == own
        assert [store.own_answer(room.code, asked, pupil) for pupil in "012"] == [own.get(pupil) for pupil in "012"]
