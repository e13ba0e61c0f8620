"""A few requests compute at once, each with one slot until its end; the others wait."""

import threading
from contextlib import ExitStack, contextmanager

import pytest

from attention.answer.slots import Slots

# In seconds: how long a test that fails waits, and how long one looks whether a thread goes on that must not.
PATIENCE, MOMENT = 60, 0.05


@contextmanager
def another_request(slots, *, computes=True):
    """Let another thread handle a request until the end of the block; yield an event for when it is at work."""
    is_at_work, may_end = threading.Event(), threading.Event()

    def handle():
        with slots.one_request():
            if computes:
                with slots.computing():
                    pass
            is_at_work.set()
            may_end.wait(PATIENCE)

    thread = threading.Thread(target=handle, daemon=True)
    thread.start()
    yield is_at_work
    may_end.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_request_keeps_its_slot_until_its_end():
    slots = Slots(1)
    with ExitStack() as others:
        with slots.one_request():
            with slots.computing():
                pass
            is_at_work = others.enter_context(another_request(slots))
            assert not is_at_work.wait(MOMENT)
            # What is only looked up needs no slot.
            assert others.enter_context(another_request(slots, computes=False)).wait(PATIENCE)
        assert is_at_work.wait(PATIENCE)


def test_a_request_takes_one_slot_only():
    slots = Slots(2)
    with ExitStack() as others, slots.one_request():
        with slots.computing(), slots.one_request(), slots.computing():
            pass
        assert others.enter_context(another_request(slots)).wait(PATIENCE)
        # The inner request has not returned the slot of the outer one.
        assert not others.enter_context(another_request(slots)).wait(MOMENT)


def test_a_request_that_waits_for_something_else_gives_its_slot_back():
    slots = Slots(1)
    with slots.one_request():
        with slots.computing():
            pass
        slots.give_back()
        with another_request(slots) as is_at_work:
            assert is_at_work.wait(PATIENCE)
        with slots.computing():
            pass


def test_outside_a_request_and_after_an_error_the_slot_is_returned():
    slots = Slots(1)
    with pytest.raises(ZeroDivisionError), slots.computing():
        _ = 1 / 0
    with another_request(slots) as is_at_work:
        assert is_at_work.wait(PATIENCE)
