"""Users' text files, kept by hash for a while; reading one requires its hash."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from threading import Lock

from cachetools import TTLCache

from attention.experiments.corpus import MAX_BYTES, Sentences, read_sentences

KEPT_BYTES = 32 * MAX_BYTES  # of all files together
KEPT_SECONDS = 8 * 3600  # a school day
_KEY = 32  # hexadecimal digits of a hash: 128 bits cannot be guessed


class OwnFiles:
    """The sentences of files, in memory only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty; ``clock`` returns the time in seconds."""
        self._lock = Lock()
        self._kept: TTLCache[str, Sentences] = TTLCache(KEPT_BYTES, KEPT_SECONDS, clock, _size)

    def keep(self, data: bytes) -> str:
        """Store the sentences of a file, of which only the first ``MAX_BYTES`` count, and return its key."""
        data = data[: MAX_BYTES + 1]
        key = hashlib.sha256(data).hexdigest()[:_KEY]
        sentences = read_sentences(data)
        with self._lock:
            self._kept[key] = sentences
        return key

    def find(self, key: str) -> Sentences | None:
        """Return the sentences of a file; None if it is not kept."""
        with self._lock:
            found: Sentences | None = self._kept.get(key)
            return found


def _size(sentences: Sentences) -> int:
    """Return roughly the bytes kept, never 0."""
    return 1000 + sum(len(line) for line in (*sentences.lines, *sentences.problems))
