"""What a server remembers of its last visitors, each by the random name that a browser has given itself."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

__all__ = ["Owned"]

T = TypeVar("T")

# Of so many visitors; who is forgotten can do everything, and is not told what came of an earlier press.
MAX_VISITORS = 1000


class Owned(Generic[T]):
    """Something for each of the last visitors, made when it is first asked for."""

    def __init__(self, make: Callable[[], T], most: int = MAX_VISITORS) -> None:
        """Begin with no visitor."""
        self._make = make
        self._lock = Lock()
        self._known: LRUCache[str, T] = LRUCache(most)

    def of(self, name: str) -> T:
        """Return what is remembered under a name."""
        with self._lock:
            if name not in self._known:
                self._known[name] = self._make()
            return self._known[name]
