"""Storage of ten questions on pupils' own sentences, in SQLite and PostgreSQL."""

import pytest
import sqlalchemy as sql

from attention.classroom import own_store
from attention.classroom.own_store import Mark, Taken, Tally
from attention.classroom.store import NotYoursError, Store, StoreError
from tests.unit.classroom.test_store import at_once, plainly

DATA = {
    "sentence": "A secret",
    "questions": [
        {"name": "sums", "question": "Which?", "answers": ["rows", "both"], "right": [0]},
        {"name": "cost", "question": "How many?", "answers": ["4", "8"], "right": [0, 1]},
    ],
}
TABLES = ("own_rounds", "own_papers", "own_marks")


@pytest.fixture
def room(store):
    """A room in which a round goes on: its code and its key."""
    room, key = store.open("step_by_step", "")
    own_store.start(store, room.code, key, "model=toy", True)
    return room.code, key


def begin(store, code, pupil, nickname="", number=1, data=DATA):
    return own_store.begin(store, code, number, pupil, nickname, data)


def right(question):
    return Mark(question, 0, is_right=True)


def wrong(question, given=1):
    return Mark(question, given, is_right=False, answer="both", thought="so …")


def test_a_paper_survives_the_server_with_what_was_answered(store, address, room):
    code, _ = room
    assert begin(store, code, "me", "Ann") == "begun"
    assert own_store.mark(store, code, 1, "me", wrong("sums")) == 1
    again = Store(address)
    paper = own_store.paper(again, code, "me")
    assert (paper.data, paper.given) == (DATA, {"sums": 1})
    assert own_store.paper(again, code, "you") is None
    found = own_store.round_of(again, code)
    assert (found.number, found.link, found.asks_nickname, found.is_open) == (1, "model=toy", True, True)
    again.close()


def test_the_first_answer_to_a_question_counts(store, room):
    code, _ = room
    begin(store, code, "me")
    assert own_store.mark(store, code, 1, "me", wrong("sums")) == 1
    assert own_store.mark(store, code, 1, "me", right("sums")) == 1
    assert own_store.tallies(store, code) == [Tally("sums", False, "so …", "both", 1)]


def test_of_many_answers_at_once_one_counts(store, room):
    code, _ = room
    begin(store, code, "me")
    told = at_once(lambda n: own_store.mark(store, code, 1, "me", wrong("sums", n)), range(8))
    assert len(set(told)) == 1
    assert own_store.paper(store, code, "me").given == {"sums": told[0]}


def test_another_sentence_can_be_taken_until_something_is_answered(store, room):
    code, _ = room
    begin(store, code, "me", "Ann")
    other = {**DATA, "sentence": "Another"}
    assert begin(store, code, "me", "Anna", data=other) == "begun"
    assert own_store.paper(store, code, "me").data == other
    own_store.mark(store, code, 1, "me", right("sums"))
    assert begin(store, code, "me") == "answered"
    assert own_store.taken(store, code) == [
        Taken(
            "Anna",
            ("sums", "cost"),
            {"sums": True},
            "Another",
            {"sums": "rows"},
            {"sums": "rows", "cost": "4 / 8"},
            {"sums": "Which?", "cost": "How many?"},
            "me",
        )
    ]


def test_nothing_is_taken_of_another_round_before_a_paper_or_after_the_end(store, room):
    code, key = room
    assert own_store.mark(store, code, 1, "me", right("sums")) is None
    assert begin(store, code, "me", number=2) == "over"
    begin(store, code, "me")
    assert own_store.mark(store, code, 2, "me", right("sums")) is None
    own_store.finish(store, code, key)
    assert own_store.mark(store, code, 1, "me", right("sums")) is None
    assert begin(store, code, "you") == "over"
    # What was there is kept for the teacher.
    assert own_store.progress(store, code) == ({1: 1}, 0)
    assert not own_store.round_of(store, code).is_open


def test_who_has_begun_and_finished_is_counted(store, room):
    code, _ = room
    assert own_store.progress(store, code) == ({}, 0)
    for pupil in "abc":
        begin(store, code, pupil, pupil)
    for pupil, question in (("a", "sums"), ("a", "cost"), ("b", "sums")):
        own_store.mark(store, code, 1, pupil, right(question))
    assert own_store.progress(store, code) == ({1: 1, 2: 1}, 1)
    counts = {each.question: each.count for each in own_store.tallies(store, code)}
    assert counts == {"sums": 2, "cost": 1}
    assert [each.nickname for each in own_store.taken(store, code)] == ["a", "b", "c"]


def test_a_new_round_begins_with_nothing(store, room):
    code, key = room
    begin(store, code, "me")
    own_store.mark(store, code, 1, "me", right("sums"))
    own_store.start(store, code, key, "model=minilm-l6", False)
    found = own_store.round_of(store, code)
    assert (found.number, found.link, found.asks_nickname) == (2, "model=minilm-l6", False)
    assert own_store.progress(store, code) == ({}, 0)
    assert own_store.paper(store, code, "me") is None
    assert own_store.mark(store, code, 1, "me", right("sums")) is None


def test_only_its_teacher_begins_and_ends_a_round(store, room):
    code, _ = room
    _, other = store.open("step_by_step", "")
    for change in (
        lambda: own_store.start(store, code, other, "", False),
        lambda: own_store.finish(store, code, other),
    ):
        with pytest.raises(NotYoursError):
            change()
    assert own_store.round_of(store, code).is_open


def test_a_room_has_an_end_of_pupils(store, room, monkeypatch):
    monkeypatch.setattr(own_store, "MAX_PAPERS", 2)
    code, _ = room
    assert [begin(store, code, pupil) for pupil in "abc"] == ["begun", "begun", "full"]
    assert begin(store, code, "a") == "begun"


def count(address):
    with plainly(address) as plain:
        return [plain.scalar(sql.text(f"SELECT count(*) FROM {table}")) for table in TABLES]


def test_what_comes_as_a_room_ends_leaves_nothing(store, address):
    for _ in range(5):
        room, key = store.open("step_by_step", "")
        own_store.start(store, room.code, key, "", False)

        def act(pupil, code=room.code, key=key):
            if pupil == 4:
                return store.end(code, key)
            begin(store, code, f"pupil {pupil}")
            return own_store.mark(store, code, 1, f"pupil {pupil}", right("sums"))

        at_once(act, range(8))
    assert count(address) == [0, 0, 0]


def test_sentences_go_after_their_day(address, monkeypatch):
    store = Store(address, lasts=0.5)
    room, key = store.open("step_by_step", "")
    own_store.start(store, room.code, key, "", False)
    begin(store, room.code, "me")
    monkeypatch.setattr("attention.classroom.store.time.time", lambda: room.ends + 1)
    assert store.sweep() == [room.code]
    store.close()
    assert count(address) == [0, 0, 0]


def test_no_sentence_stands_openly_in_an_error(store, address, room, caplog):
    code, _ = room
    with plainly(address) as plain:
        plain.execute(sql.text("DROP TABLE own_papers"))
    with pytest.raises(StoreError) as failed:
        begin(store, code, "me", "Ann")
    assert "secret" not in str(failed.value.__cause__)
    assert "Ann" not in str(failed.value.__cause__)
    assert "secret" not in caplog.text
