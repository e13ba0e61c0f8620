"""Pages are drawn one after another, in the order in which they were asked for.

Python runs one thread at a time anyway. Threads that share it are all slow, and the one that hands over what is
finished waits for each of them; one after another, each is done sooner, and the last no later. Whoever computes, loads
or waits for long steps aside meanwhile, and nobody waits for ever.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

__all__ = ["MAX_WAIT", "Gate", "Places", "aside", "in_turn"]

# In seconds. Longer than a page takes to be drawn, and shorter than what a person would take for a fault.
MAX_WAIT = 2.0


class Places:
    """So many may compute at a time, in the order in which they come, but for those who go first."""

    def __init__(self, count: int) -> None:
        """Begin with all places free."""
        self._lock = threading.Lock()
        self._n_free = count
        self._first: deque[threading.Event] = deque()
        self._others: deque[threading.Event] = deque()

    @contextmanager
    def taken(self, *, goes_first: bool = False) -> Iterator[None]:
        """Wait for a place, and give it to the next one at the end."""
        with self._lock:
            called = threading.Event() if not self._n_free else None
            if called is None:
                self._n_free -= 1
            else:
                (self._first if goes_first else self._others).append(called)
        if called is not None:
            called.wait()
        try:
            yield
        finally:
            self._leave()

    @property
    def n_waiting(self) -> int:
        """Return how many wait for a place."""
        return len(self._first) + len(self._others)

    def _leave(self) -> None:
        with self._lock:
            waiting = self._first or self._others
            if waiting:
                waiting.popleft().set()
            else:
                self._n_free += 1


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
        self._own.has_made = False
        self._has_turn = self._wait()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def aside(self, places: Places | None = None) -> Iterator[None]:
        """Let others pass meanwhile, and wait for one's turn again; whoever has no turn need not wait for one.

        What takes memory is made in one of some ``places``, which is kept until the turn comes. Whoever has made
        something in this turn goes before those who have not: otherwise everybody would wait with something in hand.
        """
        has_turn = self._has_turn
        self._leave()
        has_made = getattr(self._own, "has_made", False)
        with nullcontext() if places is None else places.taken(goes_first=has_made):
            try:
                yield
            finally:
                self._own.has_made = has_made or places is not None
                self._has_turn = has_turn and self._wait()

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

aside = _GATE.aside
in_turn = _GATE.turn
