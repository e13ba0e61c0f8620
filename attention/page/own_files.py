"""Text files of visitors: each is kept by its hash, for a while, and is found by those alone who know that."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from threading import Lock

from cachetools import TTLCache

from attention.experiments.corpus import MAX_BYTES, Sentences, read_sentences

__all__ = ["KEPT_BYTES", "KEPT_SECONDS", "OwnFiles"]

# So much is kept of all of them together, the newest; none for longer than a day in school.
KEPT_BYTES = 32 * MAX_BYTES
KEPT_SECONDS = 8 * 3600
# How many characters of a hash are its key: nobody guesses 128 bits.
_KEY = 32


class OwnFiles:
    """The sentences of files, in memory only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; ``clock`` returns the time in seconds."""
        self._lock = Lock()
        self._kept: TTLCache[str, Sentences] = TTLCache(KEPT_BYTES, KEPT_SECONDS, clock, _size)

    def keep(self, data: bytes) -> str:
        """Read the sentences of a file, of which no more than the beginning counts, and return its key."""
        data = data[: MAX_BYTES + 1]
        key = hashlib.sha256(data).hexdigest()[:_KEY]
        sentences = read_sentences(data)
        with self._lock:
            self._kept[key] = sentences
        return key

    def find(self, key: str) -> Sentences | None:
        """Return the sentences of a file; None if it is not kept, or not any more."""
        with self._lock:
            found: Sentences | None = self._kept.get(key)
            return found


def _size(sentences: Sentences) -> int:
    """Return about how many bytes are kept, never 0."""
    return 1000 + sum(len(line) for line in (*sentences.lines, *sentences.problems))
