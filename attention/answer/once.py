"""The server's singletons, made on first use, and its memory of the latest visitors."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Lock
from typing import Generic, TypeVar

from cachetools import LRUCache, cached

T = TypeVar("T")

# A forgotten visitor misses only the results of earlier presses.
MAX_VISITORS = 1000


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Cache a function's result; while one thread computes it, others wait."""
    return cached({}, condition=Condition())(make)


class Owned(Generic[T]):
    """One value for each of the latest visitors by the random name that a browser chose, made on first use."""

    def __init__(self, make: Callable[[], T], most: int = MAX_VISITORS) -> None:
        self._make = make
        self._lock = Lock()
        self._known: LRUCache[str, T] = LRUCache(most)

    def of(self, name: str) -> T:
        """Return a visitor's value."""
        with self._lock:
            if name not in self._known:
                self._known[name] = self._make()
            return self._known[name]
