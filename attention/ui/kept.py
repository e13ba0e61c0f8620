"""What was made last, kept up to a limit of memory; it imports no Streamlit, and knows nothing of what it keeps."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Kept"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Things by their keys, shared by all sessions: those used last, as many as fit into so many bytes.

    The last ``at_least`` stay however large they are: what a page shows would be made anew at every press otherwise.
    """

    def __init__(
        self,
        limit: int,
        size: Callable[[V], int],
        *,
        at_least: int = 1,
        group: Callable[[K], Hashable] = lambda _: None,
    ) -> None:
        """Begin empty; ``size`` says how many bytes a thing takes, ``group`` what it goes with (see ``drop``)."""
        self._limit = limit
        self._size_of = size
        self._at_least = at_least
        self._group_of = group
        self._lock = Lock()
        # Those used last stand last; each with its size.
        self._things: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0
        self._n_drops: Counter[Hashable] = Counter()

    def get(self, key: K, make: Callable[[], V], turns: AbstractContextManager[object]) -> V:
        """Return the thing with this key; where there is none, make it, in turn.

        What ``make`` raises is raised, and nothing is kept of it.
        """
        found = self._find(key)
        if found is not None:
            return found[0]
        with turns:
            # Who waited for a turn may have waited for this very thing: a class often types the same.
            found = self._find(key)
            if found is not None:
                return found[0]
            n_drops = self._n_drops[self._group_of(key)]
            made = make()
            self._keep(key, made, n_drops)
            return made

    def drop(self, group: Hashable) -> None:
        """Let go of all things of a group; what is being made of it at this moment is not kept either."""
        with self._lock:
            self._n_drops[group] += 1
            for key in [key for key in self._things if self._group_of(key) == group]:
                self._size -= self._things.pop(key)[1]

    def _find(self, key: K) -> tuple[V, int] | None:
        with self._lock:
            found = self._things.get(key)
            if found is not None:
                self._things.move_to_end(key)
            return found

    def _keep(self, key: K, made: V, n_drops: int) -> None:
        size = self._size_of(made)
        with self._lock:
            if self._n_drops[self._group_of(key)] != n_drops:
                return
            _, before = self._things.pop(key, (made, 0))
            self._things[key] = made, size
            self._size += size - before
            while self._size > self._limit and len(self._things) > self._at_least:
                _, (_, gone) = self._things.popitem(last=False)
                self._size -= gone
