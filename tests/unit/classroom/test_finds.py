"""Storage of tasks and submissions, in SQLite and PostgreSQL."""

import pytest
import sqlalchemy as sql
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention.classroom import finds
from attention.classroom.finds import BEST, Find
from attention.classroom.store import NotYoursError, Store
from tests.until import until

TASK = {"name": "previous", "given": None}


@pytest.fixture
def room(store):
    found, key = store.open("step_by_step", "text=One")
    return found.code, key


def find(score, *, is_solved=False, link="text=One"):
    return Find("all_heads", link, "<p>told</p>", is_solved, score)


def test_a_task_is_set_by_its_teacher_alone_and_survives_the_server(store, room, address):
    code, key = room
    assert finds.task(store, code) is None
    for act in (lambda: finds.set_task(store, code, "wrong", TASK), lambda: finds.reveal_task(store, code, "wrong")):
        with pytest.raises(NotYoursError):
            act()
    finds.set_task(store, code, key, TASK)
    again = Store(address)
    found = finds.task(again, code)
    again.close()
    assert (found.task, found.number, found.is_revealed) == (TASK, 1, False)
    finds.reveal_task(store, code, key)
    assert finds.task(store, code).is_revealed
    finds.end_task(store, code, key)
    assert finds.task(store, code) is None
    finds.set_task(store, code, key, {**TASK, "name": "it"})
    assert (finds.task(store, code).number, finds.task(store, code).is_revealed) == (2, False)


def test_nothing_is_taken_without_a_task_after_the_reveal_or_for_another_one(store, room):
    code, key = room
    assert not finds.hand_in(store, code, 1, "a", find(0.5))
    finds.set_task(store, code, key, TASK)
    assert not finds.hand_in(store, code, 2, "a", find(0.5))
    assert not finds.hand_in(store, "BBBBBB", 1, "a", find(0.5))
    assert finds.hand_in(store, code, 1, "a", find(0.5))
    finds.reveal_task(store, code, key)
    assert not finds.hand_in(store, code, 1, "a", find(0.9))
    assert finds.own_find(store, code, 1, "a") == find(0.5)
    assert finds.own_find(store, code, 1, "b") is None


def worth(each):
    return each.is_solved, each.score


HANDED = st.lists(
    st.tuples(
        st.sampled_from("abcdefg"),
        st.builds(
            lambda score, solved, link: find(score / 8, is_solved=solved, link=link),
            st.integers(0, 8),
            st.booleans(),
            st.sampled_from(("text=One", "text=Two", "text=<b>", "text=3", "text=4", "text=5", "text=6")),
        ),
    ),
    max_size=20,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(handed=HANDED)
def test_the_best_of_each_counts_and_of_equal_links_one(store, handed):
    room, key = store.open("step_by_step", "text=One")
    finds.set_task(store, room.code, key, TASK)
    own = {}
    for pupil, each in handed:
        assert finds.hand_in(store, room.code, 1, pupil, each)
        if pupil not in own or worth(each) > worth(own[pupil]):
            own[pupil] = each
    for pupil, each in own.items():
        assert finds.own_find(store, room.code, 1, pupil) == each
    tally = finds.tally(store, room.code, 1)
    assert (tally.n, tally.n_solved) == (len(own), sum(each.is_solved for each in own.values()))
    links = {each.link: max(worth(other) for other in own.values() if other.link == each.link) for each in own.values()}
    assert [worth(each) for each in tally.best] == sorted(links.values(), reverse=True)[:BEST]
    assert len({each.link for each in tally.best}) == len(tally.best)
    store.end(room.code, key)


def test_everything_goes_with_the_room(store, room, address):
    code, key = room
    finds.set_task(store, code, key, TASK)
    finds.hand_in(store, code, 1, "a", find(0.5))
    store.end(code, key)
    engine = sql.create_engine(address)
    with engine.connect() as connection:
        for table in ("tasks", "finds"):
            assert connection.execute(sql.text(f"SELECT count(*) FROM {table}")).scalar_one() == 0
    engine.dispose()


def test_other_copies_hear_of_a_task(postgres):
    here, there = (Store(address) for address in [postgres.new()] * 2)
    heard = []
    there.listen(heard.append, lambda: None)
    until(lambda: None in heard)
    room, key = here.open("step_by_step", "text=One")
    for act in (lambda: finds.set_task(here, room.code, key, TASK), lambda: finds.reveal_task(here, room.code, key)):
        before = heard.count(room.code)
        act()
        until(lambda before=before: heard.count(room.code) > before)
    assert finds.task(there, room.code).is_revealed
    for store in (here, there):
        store.close()
