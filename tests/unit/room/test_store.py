"""What is kept of a class, held against what a plain dictionary would keep."""

import logging
import sqlite3
import threading
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.room import store as stores
from attention.room.store import Answered, FullError, NotYoursError, Store, StoreError, sqlite

QUESTION = {"question": "Which?", "answers": ["one", "two"]}


@pytest.fixture
def address(tmp_path):
    return sqlite(tmp_path)


@pytest.fixture
def store(address):
    store = Store(address)
    yield store
    store.close()


def test_a_room_shows_what_its_teacher_shows_and_survives_the_server(store, address):
    room, key = store.open("step_by_step", "text=One")
    assert store.room(room.code) == room
    store.show(room.code, key, "why_divide", "text=Two")
    store.ask(room.code, key, QUESTION)
    again = Store(address)
    found = again.room(room.code)
    assert (found.page, found.link, found.question, found.number) == ("why_divide", "text=Two", QUESTION, 1)
    assert again.is_teacher(room.code, key)
    assert not again.is_teacher(room.code, "another")
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


def test_an_answer_counts_once_until_the_reveal_and_to_its_own_question(store):
    room, key = store.open("step_by_step", "")
    code = room.code
    wrong, right = Answered((1,), "other"), Answered((0,), "right")
    assert not store.answer(code, 0, "me", right)
    store.ask(code, key, QUESTION)
    assert store.answer(code, 1, "me", wrong)
    assert store.answer(code, 1, "me", right)
    assert store.answer(code, 1, "you", wrong)
    assert not store.answer(code, 2, "you", wrong)
    assert store.answers(code, 1) == Counter({right: 1, wrong: 1})
    assert store.own_answer(code, 1, "me") == right
    assert store.own_answer(code, 1, "she") is None
    store.reveal(code, key)
    assert not store.answer(code, 1, "me", wrong)
    assert store.room(code).is_revealed
    store.ask(code, key, QUESTION)
    assert store.room(code).number == 2
    assert store.answers(code, 2) == Counter()


def test_another_view_ends_the_question(store):
    room, key = store.open("step_by_step", "")
    store.ask(room.code, key, QUESTION)
    store.show(room.code, key, "step_by_step", "step=scale")
    assert store.room(room.code).question is None
    assert not store.answer(room.code, 1, "me", Answered((0,), "right"))


def test_an_ended_room_leaves_nothing(store, tmp_path):
    room, key = store.open("step_by_step", "text=Secret")
    store.ask(room.code, key, QUESTION)
    store.answer(room.code, 1, "me", Answered((0,), "right"))
    store.note_present(room.code, "here", 3)
    store.end(room.code, key)
    with sqlite3.connect(tmp_path / "rooms.sqlite") as plain:
        for table in ("rooms", "answers", "present"):
            assert plain.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


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


def test_no_code_is_given_twice(store, monkeypatch):
    codes = iter(["BBBBBB", "BBBBBB", "CCCCCC"])
    monkeypatch.setattr(stores, "new_code", lambda: next(codes))
    assert [store.open("step_by_step", "")[0].code for _ in range(2)] == ["BBBBBB", "CCCCCC"]


def test_all_copies_are_counted_that_have_spoken_lately(store, monkeypatch):
    room, _ = store.open("step_by_step", "")
    assert store.present(room.code) == 0
    store.note_present(room.code, "a", 5)
    store.note_present(room.code, "a", 20)
    store.note_present(room.code, "b", 3)
    assert store.present(room.code) == 23
    monkeypatch.setattr(stores, "_SILENT", -1.0)
    assert store.present(room.code) == 0


def test_a_thousand_answers_of_many_threads_are_all_counted_once(store):
    room, key = store.open("step_by_step", "")
    store.ask(room.code, key, QUESTION)

    def answer(first):
        for pupil in range(first, 1000, 8):
            assert store.answer(room.code, 1, f"pupil {pupil}", Answered((1,), "other"))
            assert store.answer(room.code, 1, f"pupil {pupil}", Answered((pupil % 2,), "right"))

    threads = [threading.Thread(target=answer, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.answers(room.code, 1) == Counter({Answered((0,), "right"): 500, Answered((1,), "right"): 500})


def test_a_database_out_of_reach_is_said_without_what_was_to_be_written(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    store = Store(sqlite(tmp_path))
    room, key = store.open("step_by_step", "")
    with sqlite3.connect(tmp_path / "rooms.sqlite") as plain:
        plain.execute("DROP TABLE rooms")
    with pytest.raises(StoreError) as failed:
        store.show(room.code, key, "step_by_step", "text=A+secret+sentence")
    assert "secret" not in str(failed.value.__cause__)
    assert "secret" not in caplog.text
    store.close()


@settings(max_examples=25, deadline=None)
@given(
    acts=st.lists(
        st.tuples(st.sampled_from(["answer", "reveal", "ask", "show"]), st.integers(0, 2), st.integers(0, 1)),
        max_size=12,
    )
)
def test_it_keeps_what_a_dictionary_would(tmp_path_factory, acts):
    store = Store(sqlite(tmp_path_factory.mktemp("rooms")))
    room, key = store.open("step_by_step", "")
    kept, number, is_open = {}, 0, False
    for act, pupil, given_ in acts:
        if act == "answer":
            answered = Answered((given_,), "other")
            assert store.answer(room.code, number, str(pupil), answered) == is_open
            if is_open:
                kept[number, pupil] = answered
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
    store.close()
