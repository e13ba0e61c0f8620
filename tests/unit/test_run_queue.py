"""Pages are drawn one after another, in order, and none waits for ever."""

import threading
from contextlib import contextmanager

import pytest

from attention.answer.run_queue import Gate, Places

# In seconds: only a test that fails waits for so long.
PATIENCE = 60


class Line:
    """Threads that come to a gate, or want a place, one after another, and note when they have it."""

    def __init__(self, waited_for, enter):
        self.waited_for, self.enter = waited_for, enter
        self.passed = []
        self.threads = []

    def come(self, name, **how):
        """Let a thread come, and wait until it stands there."""
        n_before = self.waited_for.n_waiting
        thread = threading.Thread(target=self._pass, args=(name, how), daemon=True)
        thread.start()
        self.threads.append(thread)
        while self.waited_for.n_waiting == n_before and thread.is_alive():
            threading.Event().wait(0.001)

    def _pass(self, name, how):
        with self.enter(**how):
            self.passed.append(name)

    def gone(self):
        """Wait for all of them, and return the order in which they passed."""
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        return self.passed


@contextmanager
def taken(gate):
    """Another thread has its turn meanwhile."""
    has_it, may_go = threading.Event(), threading.Event()

    def stay():
        with gate.turn():
            has_it.set()
            may_go.wait(PATIENCE)

    thread = threading.Thread(target=stay, daemon=True)
    thread.start()
    assert has_it.wait(PATIENCE)
    yield
    may_go.set()
    thread.join(PATIENCE)


def test_they_pass_in_the_order_in_which_they_come():
    gate = Gate(PATIENCE)
    line = Line(gate, gate.turn)
    with gate.turn():
        for name in range(8):
            line.come(name)
        assert line.passed == []
    assert line.gone() == list(range(8))


def test_whoever_steps_aside_lets_the_next_one_pass_and_comes_back():
    gate = Gate(PATIENCE)
    line = Line(gate, gate.turn)
    with gate.turn():
        line.come("other")
        with gate.aside():
            assert line.gone() == ["other"]
        late = Line(gate, gate.turn)
        late.come("late")
        assert late.passed == []
    assert late.gone() == ["late"]


def test_nobody_waits_for_ever():
    gate = Gate(max_wait=0.01)
    with taken(gate):
        with gate.turn():
            pass
        with gate.turn(), gate.aside():
            pass
        assert gate.n_waiting == 0
    # Who went on without a turn has not opened the gate to two.
    gate = Gate(PATIENCE)
    line = Line(gate, gate.turn)
    with gate.turn():
        line.come("next")
        assert line.passed == []
    assert line.gone() == ["next"]


def test_a_turn_within_a_turn_is_the_same_one():
    gate = Gate(PATIENCE)
    line = Line(gate, gate.turn)
    with gate.turn():
        with gate.turn():
            line.come("other")
        assert line.passed == []
    assert line.gone() == ["other"]


def test_an_error_opens_the_gate():
    gate = Gate(PATIENCE)
    with pytest.raises(ZeroDivisionError), gate.turn():
        _ = 1 / 0
    line = Line(gate, gate.turn)
    line.come("other")
    assert line.gone() == ["other"]


def test_without_a_turn_one_need_not_step_aside():
    gate = Gate(PATIENCE)
    with taken(gate):
        with gate.aside():
            pass
        assert gate.n_waiting == 0


def test_a_place_that_was_taken_meanwhile_is_kept_until_the_turn_comes():
    gate, places = Gate(PATIENCE), Places(1)
    is_aside, may_come_back = threading.Event(), threading.Event()

    def make():
        with gate.turn(), gate.aside(places):
            is_aside.set()
            may_come_back.wait(PATIENCE)

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    assert is_aside.wait(PATIENCE)
    late = Line(places, places.taken)
    with gate.turn():
        may_come_back.set()
        while not gate.n_waiting:
            threading.Event().wait(0.001)
        late.come("late", goes_first=True)
        assert late.passed == []
    thread.join(PATIENCE)
    assert late.gone() == ["late"]


def test_who_has_made_something_for_a_page_goes_first():
    places = Places(1)
    waiting = Line(places, places.taken)
    with places.taken():
        for name in ("a", "b"):
            waiting.come(name)
        for name in ("A", "B"):
            waiting.come(name, goes_first=True)
        assert waiting.passed == []
    assert waiting.gone() == ["A", "B", "a", "b"]


def test_in_a_turn_the_second_thing_that_is_made_goes_before_the_first_of_others():
    gate, places = Gate(PATIENCE), Places(1)
    is_held, is_released = threading.Event(), threading.Event()

    def hold():
        with places.taken():
            is_held.set()
            while places.n_waiting < 2:
                threading.Event().wait(0.001)
        is_released.set()

    waiting = Line(places, places.taken)
    with gate.turn():
        with gate.aside(places):
            pass
        threading.Thread(target=hold, daemon=True).start()
        assert is_held.wait(PATIENCE)
        waiting.come("other")
        with gate.aside(places):
            assert is_released.wait(PATIENCE)
            assert waiting.passed == []
    assert waiting.gone() == ["other"]
