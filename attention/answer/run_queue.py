"""Draw pages one after another, in the order of their requests.

Python runs one thread at a time. Threads that share it are all slow; one after another, each finishes sooner, and the
last no later. Threads that compute, load or wait for long release their turn meanwhile, and none waits for ever.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

# In seconds: longer than drawing a page takes, and shorter than a user's patience.
MAX_WAIT = 2.0


class Places:
    """A semaphore with a first-in, first-out queue, and a second queue that goes first."""

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self._n_free = count
        self._first: deque[threading.Event] = deque()
        self._others: deque[threading.Event] = deque()

    @contextmanager
    def taken(self, *, goes_first: bool = False) -> Iterator[None]:
        """Wait for a place; release it at the end."""
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
        """The number of threads that wait for a place."""
        return len(self._first) + len(self._others)

    def _leave(self) -> None:
        with self._lock:
            waiting = self._first or self._others
            if waiting:
                waiting.popleft().set()
            else:
                self._n_free += 1


class Gate:
    """A first-in, first-out lock for drawing; a thread that has waited ``max_wait`` seconds goes on without it."""

    def __init__(self, max_wait: float = MAX_WAIT) -> None:
        self._max_wait = max_wait
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_taken = False
        self._own = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and release it at the end; nested turns are one."""
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
        """Release the turn for the duration of the block, then wait for it again (if the thread had it).

        Large objects are made in one of ``places``, held until the turn comes back. Threads that already hold a large
        object go first: otherwise all would wait with one in memory.
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
        """The number of threads that wait for their turn."""
        return len(self._waiting)

    @property
    def _has_turn(self) -> bool:
        return bool(getattr(self._own, "has_turn", False))

    @_has_turn.setter
    def _has_turn(self, has_turn: bool) -> None:
        self._own.has_turn = has_turn

    def _wait(self) -> bool:
        """Wait for a turn; return False if it did not come in time."""
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
