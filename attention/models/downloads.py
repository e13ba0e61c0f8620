"""Downloads in the background, one for each model; every user sees them and can cancel them, and no page waits."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread

from attention.core.messages import message
from attention.models.hub import HubError
from attention.models.hub_download import Cancelled
from attention.models.store import OnProgress, Progress

_LOGGER = logging.getLogger(__name__)

# The most downloads at a time: each holds a connection, and all write to the same disk.
MAX_AT_ONCE = 2
# The number of finished downloads that are remembered.
MAX_OVER = 8

Fetch = Callable[[str, OnProgress, Callable[[], bool]], object]


@dataclass(frozen=True, slots=True)
class State:
    """The state of a download at one moment; ``seconds`` is its duration so far."""

    progress: Progress
    seconds: float
    is_over: bool
    is_cancelled: bool
    failure: str | None

    @property
    def bytes_per_second(self) -> float:
        """The average speed."""
        return self.progress.n_done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at this speed; None while it is unknown."""
        speed = self.bytes_per_second
        return (self.progress.n_total - self.progress.n_done) / speed if speed else None


class Download:
    """The download of one model, in a thread of its own."""

    def __init__(self, model_id: str, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at once."""
        self.model_id = model_id
        self._fetch = fetch
        self._clock = clock
        self._began = clock()
        self._progress = Progress(0, 0, "bytes")
        self._failure: str | None = None
        self._ended: float | None = None
        self._cancel = Event()
        self._thread = Thread(target=self._run, name=f"download {model_id}", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Cancel it and discard the partial file."""
        self._cancel.set()

    def state(self) -> State:
        """Return its current state."""
        ended = self._ended
        seconds = (self._clock() if ended is None else ended) - self._began
        return State(self._progress, seconds, ended is not None, self._cancel.is_set(), self._failure)

    def wait(self, seconds: float) -> None:
        """Wait until it is over, at most this long."""
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            self._fetch(self.model_id, self._note, self._cancel.is_set)
            # A request to cancel came too late: the model is here.
            self._cancel.clear()
        except Cancelled:
            pass
        except HubError as error:
            self._failure = str(error)
        except Exception as error:  # the page must report any failure
            kind = type(error).__name__
            _LOGGER.error("a download failed with %s:\n%s", kind, "".join(traceback.format_tb(error.__traceback__)))
            self._failure = message("Couldn't fetch {model_id} ({kind}).", model_id=self.model_id, kind=kind)
        finally:
            self._ended = self._clock()

    def _note(self, progress: Progress) -> None:
        self._progress = progress


class Downloads:
    """All downloads of this server."""

    def __init__(self, fetch: Fetch) -> None:
        """Start empty; ``fetch`` takes an ID, a progress callback, and a function that returns whether to stop."""
        self._fetch = fetch
        self._lock = Lock()
        self._all: dict[str, Download] = {}

    def start(self, model_id: str) -> Download:
        """Start downloading a model, or return its running download; raise HubError if there are too many already."""
        with self._lock:
            found = self._all.get(model_id)
            if found is not None and not found.state().is_over:
                return found
            if sum(not each.state().is_over for each in self._all.values()) >= MAX_AT_ONCE:
                raise HubError(
                    message("{most} models are being fetched already. Wait for one to finish.", most=MAX_AT_ONCE)
                )
            self._all.pop(model_id, None)
            self._all[model_id] = Download(model_id, self._fetch)
            self._forget()
            return self._all[model_id]

    def all(self) -> list[Download]:
        """Return the running and the most recently finished downloads."""
        with self._lock:
            return list(self._all.values())

    def _forget(self) -> None:
        over = [model_id for model_id, each in self._all.items() if each.state().is_over]
        for model_id in over[:-MAX_OVER]:
            del self._all[model_id]
