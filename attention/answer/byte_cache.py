"""A cache with a limit in bytes."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from cachetools import LRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# glibc's mallopt(3): the number of M_MMAP_THRESHOLD, and the environment variable that sets it.
_PARAMETER, VARIABLE = -3, "MALLOC_MMAP_THRESHOLD_"
# The arrays of one sentence are smaller, so their allocation stays fast.
THRESHOLD = 256 * 1024
OBJECT_BYTES = 64


class Kept(Generic[K, V]):
    """A least-recently-used cache with a limit in bytes, shared by all sessions.

    The last ``at_least`` values are kept at any size: otherwise every press would recompute them.
    """

    def __init__(
        self,
        limit: int,
        size: Callable[[V], int],
        *,
        at_least: int = 1,
        group: Callable[[K], Hashable] = lambda _: None,
    ) -> None:
        """``size`` returns the bytes of a value, ``group`` the group of a key (see ``drop``)."""
        # A value's size is capped at its share, so that ``at_least`` values always fit.
        share = limit // at_least
        self._things: LRUCache[K, V] = LRUCache(limit, getsizeof=lambda thing: min(size(thing), share))
        self._group_of = group
        self._lock = Lock()
        self._n_drops: Counter[Hashable] = Counter()

    def get(self, key: K, make: Callable[[], V], turns: AbstractContextManager[object]) -> V:
        """Return the value of this key; if it is missing, acquire ``turns`` and make it.

        Errors from ``make`` propagate, and nothing is cached.
        """
        found = self._find(key)
        if found is not None:
            return found[0]
        with turns:
            # Another session may have made it meanwhile: a class often types the same sentence.
            found = self._find(key)
            if found is not None:
                return found[0]
            n_drops = self._n_drops[self._group_of(key)]
            made = make()
            self._keep(key, made, n_drops)
            return made

    def drop(self, group: Hashable) -> None:
        """Drop all values of a group, including those still being made."""
        with self._lock:
            self._n_drops[group] += 1
            for key in [key for key in self._things if self._group_of(key) == group]:
                del self._things[key]

    def _find(self, key: K) -> tuple[V] | None:
        with self._lock:
            return (self._things[key],) if key in self._things else None

    def _keep(self, key: K, made: V, n_drops: int) -> None:
        with self._lock:
            if self._n_drops[self._group_of(key)] == n_drops:
                self._things[key] = made


def n_bytes(thing: object) -> int:
    """Return about how much memory a value takes: its arrays, and a little for each object; labels are the model's."""
    if isinstance(thing, np.ndarray | bytes):
        return OBJECT_BYTES + (thing.nbytes if isinstance(thing, np.ndarray) else len(thing))
    if isinstance(thing, tuple | list):
        return OBJECT_BYTES + (0 if thing and isinstance(thing[0], str) else sum(map(n_bytes, thing)))
    if is_dataclass(thing):
        return OBJECT_BYTES + sum(n_bytes(getattr(thing, each.name)) for each in fields(thing))
    return OBJECT_BYTES


def give_back_arrays() -> bool:
    """Return large arrays to the system as soon as they are freed; return whether this system needed the setting.

    glibc allocates each block above a threshold separately, and returns it when it is freed. But freeing a larger block
    raises the threshold, up to 32 MiB; from then on the arrays of long texts lie among small blocks, in a heap per
    thread, and are never returned: after eight texts, 800 MiB were allocated and unused. A threshold that was set
    explicitly is not raised.
    """
    if VARIABLE in os.environ or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_PARAMETER, THRESHOLD))
