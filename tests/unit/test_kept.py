"""What sessions share: held against a reference that keeps a list, and under threads."""

from collections import OrderedDict
from contextlib import nullcontext
from functools import partial
from threading import BoundedSemaphore, Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.ui.kept import Kept

PATIENCE = 120
FREELY = nullcontext()


def size_of(thing):
    return thing[1]


def nothing():
    raise AssertionError("it is there already")


class Reference:
    """The same in the plainest way: a list in the order of use, cut at its beginning."""

    def __init__(self, limit, at_least):
        self.limit, self.at_least = limit, at_least
        self.things = OrderedDict()

    def get(self, key, size):
        is_new = key not in self.things
        thing = self.things.pop(key, (key, size))
        self.things[key] = thing
        if is_new:
            while sum(map(size_of, self.things.values())) > self.limit and len(self.things) > self.at_least:
                del self.things[next(iter(self.things))]
        return thing, is_new

    def drop(self, group):
        for key in [key for key in self.things if key[0] == group]:
            del self.things[key]


KEYS = st.tuples(st.sampled_from("ab"), st.integers(0, 4))
ASKED = st.tuples(KEYS, st.integers(0, 60))


@given(st.integers(1, 100), st.integers(1, 3), st.lists(st.one_of(ASKED, st.sampled_from("ab")), max_size=60))
def test_it_keeps_what_was_used_last_and_never_less_than_it_was_told(limit, at_least, deeds):
    kept = Kept(limit, size_of, at_least=at_least, group=lambda key: key[0])
    reference = Reference(limit, at_least)
    for deed in deeds:
        if isinstance(deed, str):
            kept.drop(deed)
            reference.drop(deed)
            continue
        key, size = deed
        wanted, is_new = reference.get(key, size)
        make = partial(tuple, (key, size)) if is_new else nothing
        assert kept.get(key, make, FREELY) == wanted


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
