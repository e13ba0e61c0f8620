"""What sessions share: its limits, and threads."""

from contextlib import nullcontext
from functools import partial
from threading import BoundedSemaphore, Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.answer.byte_cache import Kept

PATIENCE = 120
FREELY = nullcontext()


def size_of(thing):
    return thing[1]


def nothing():
    raise AssertionError("it is there already")


@given(st.integers(3, 100), st.integers(1, 3), st.lists(st.integers(0, 200), min_size=1, max_size=30))
def test_the_last_are_kept_however_large_and_all_that_fit_and_no_more(limit, at_least, sizes):
    kept = Kept(limit, size_of, at_least=at_least)
    things = [kept.get(key, partial(tuple, (key, size)), FREELY) for key, size in enumerate(sizes)]
    for place, thing in enumerate(reversed(things)):
        if place < at_least or sum(sizes[thing[0] :]) <= limit:
            assert kept.get(thing[0], nothing, FREELY) is thing
        elif sum(min(size, limit // at_least) for size in sizes[thing[0] :]) > limit:
            assert kept.get(thing[0], lambda: ("gone", 0), FREELY) == ("gone", 0)
            break


def test_what_was_used_longest_ago_goes_first():
    kept = Kept(10, size_of)
    for key in "abac":
        kept.get(key, partial(tuple, (key, 5)), FREELY)
    assert kept.get("a", nothing, FREELY) == ("a", 5)
    assert kept.get("b", lambda: ("b", 6), FREELY) == ("b", 6)


def test_what_is_larger_than_the_limit_is_not_made_again():
    kept = Kept(10, size_of, at_least=2)
    first, second = (kept.get(key, lambda key=key: (key, 1000), FREELY) for key in "ab")
    for _ in range(3):
        assert kept.get("a", nothing, FREELY) is first
        assert kept.get("b", nothing, FREELY) is second


def test_what_could_not_be_made_is_not_kept():
    kept = Kept(10, size_of)

    def fail():
        raise LookupError("not now")

    with pytest.raises(LookupError):
        kept.get("a", fail, FREELY)
    assert kept.get("a", lambda: ("a", 1), FREELY) == ("a", 1)


def test_nothing_is_a_thing_too():
    kept = Kept(10, lambda _: 1)
    assert kept.get("a", lambda: None, FREELY) is None
    assert kept.get("a", nothing, FREELY) is None


def test_of_two_who_ask_at_once_one_makes_it():
    kept, turns = Kept(10, size_of), BoundedSemaphore(1)
    began, may_end, made = Event(), Event(), []

    def make():
        made.append(1)
        began.set()
        assert may_end.wait(PATIENCE)
        return "a", 1

    askers = [Thread(target=lambda: kept.get("a", make, turns)) for _ in range(3)]
    for asker in askers:
        asker.start()
    assert began.wait(PATIENCE)
    may_end.set()
    for asker in askers:
        asker.join(PATIENCE)
    assert made == [1]


def test_what_is_dropped_while_it_is_made_is_given_and_not_kept():
    kept = Kept(10, size_of, group=lambda key: key[0])

    def make(group):
        kept.drop(group)
        return "made", 1

    assert kept.get(("a", 1), lambda: make("a"), FREELY) == ("made", 1)
    assert kept.get(("a", 1), lambda: ("anew", 1), FREELY) == ("anew", 1)
    # Whatever is dropped of others meanwhile.
    assert kept.get(("a", 2), lambda: make("b"), FREELY) == ("made", 1)
    assert kept.get(("a", 2), nothing, FREELY) == ("made", 1)
