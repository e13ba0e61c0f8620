"""Pages are drawn one after another, in the order in which they were asked for.

Python runs one thread at a time anyway. Threads that share it are all slow, and the one that hands over what is
finished waits for each of them; one after another, each is done sooner, and the last no later. Whoever computes, loads
or waits for long steps aside meanwhile, and nobody waits for ever. There is no public way to do this, so this patches a
private function of the pinned version.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner import RerunData, ScriptRunner

__all__ = ["MAX_WAIT", "Gate", "aside", "in_turn", "one_page_at_a_time"]

# In seconds. Longer than a page takes to be drawn, and shorter than what a person would take for a fault.
MAX_WAIT = 2.0


class Gate:
    """Lets one thread pass at a time, in the order in which they come; each waits ``max_wait`` seconds at most."""

    def __init__(self, max_wait: float = MAX_WAIT) -> None:
        """Begin open."""
        self._max_wait = max_wait
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_taken = False
        self._own = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn, and let the next one pass at the end; a turn within a turn is the same one."""
        if self._has_turn:
            yield
            return
        self._has_turn = self._wait()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let others pass meanwhile, and wait for one's turn again; without a turn, nothing happens."""
        if not self._has_turn:
            yield
            return
        self._leave()
        try:
            yield
        finally:
            self._has_turn = self._wait()

    @property
    def n_waiting(self) -> int:
        """Return how many wait for their turn."""
        return len(self._waiting)

    @property
    def _has_turn(self) -> bool:
        return bool(getattr(self._own, "has_turn", False))

    @_has_turn.setter
    def _has_turn(self, has_turn: bool) -> None:
        self._own.has_turn = has_turn

    def _wait(self) -> bool:
        """Wait for one's turn; tell whether it came, for whoever has waited for too long goes on without one."""
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return True
            called = threading.Event()
            self._waiting.append(called)
        if called.wait(self._max_wait):
            return True
        with self._lock:
            if called.is_set():
                return True
            self._waiting.remove(called)
            return False

    def _leave(self) -> None:
        if not self._has_turn:
            return
        self._has_turn = False
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_taken = False


_GATE = Gate()
_run = ScriptRunner._run_script

aside = _GATE.aside
in_turn = _GATE.turn


def one_page_at_a_time() -> None:
    """Let every run of a page of this server wait for its turn."""
    ScriptRunner._run_script = _run_in_turn  # type: ignore[method-assign]


def _run_in_turn(self: ScriptRunner, rerun_data: RerunData) -> None:
    with _GATE.turn():
        _run(self, rerun_data)
