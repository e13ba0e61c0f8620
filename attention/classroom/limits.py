"""A limit on the rate of requests to this copy of the server, so that one room does not slow others."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock

from cachetools import LRUCache

# The number of callers remembered.
_MOST = 10_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Limit:
    """A token bucket per caller: Up to ``attempts`` at once, replenished evenly over ``seconds``."""

    def __init__(self, attempts: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._attempts, self._rate, self._clock = attempts, attempts / seconds, clock
        self._buckets: LRUCache[Hashable, _Bucket] = LRUCache(_MOST)
        self._lock = Lock()

    def takes(self, who: Hashable) -> bool:
        """Count an attempt; return whether it is allowed."""
        with self._lock:
            bucket = self._filled(who)
            if bucket.left < 1:
                return False
            bucket.left -= 1
            return True

    def _filled(self, who: Hashable) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.setdefault(who, _Bucket(self._attempts, now))
        bucket.left = min(self._attempts, bucket.left + (now - bucket.at) * self._rate)
        bucket.at = now
        return bucket
