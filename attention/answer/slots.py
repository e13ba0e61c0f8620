"""A limit on the requests that compute at once: more would only share the processors, and each needs memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_AT_ONCE = 4


class _Current(threading.local):
    """The request that this thread handles, if any."""

    is_open = False
    has_slot = False


class Slots:
    """Slots for computing, of which a request takes at most one."""

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count)
        self._current = _Current()

    @contextmanager
    def one_request(self) -> Iterator[None]:
        """Handle a request, and return its slot at the end; a request within another is part of it."""
        if self._current.is_open:
            yield
            return
        self._current.is_open = True
        try:
            yield
        finally:
            self.give_back()
            self._current.is_open = False

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Wait for a slot, and keep it until the request ends: what was computed stays in memory until then."""
        with self.one_request():
            if not self._current.has_slot:
                self._free.acquire()
                self._current.has_slot = True
            yield

    def give_back(self) -> None:
        """Return the request's slot, if it has one, before a long wait or at its end."""
        if self._current.has_slot:
            self._current.has_slot = False
            self._free.release()


_SLOTS = Slots(min(MAX_AT_ONCE, os.cpu_count() or 1))

one_request = _SLOTS.one_request
computing = _SLOTS.computing
give_back = _SLOTS.give_back
