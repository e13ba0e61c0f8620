"""A line to the hub on which nobody waits for long: each answer comes within seconds, or a sentence says why not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

__all__ = ["Cancelled", "HubError", "Line"]

# The hub has so long to begin an answer, and to go on with one: less than this many bytes in that time is nothing.
PATIENCE_SECONDS = 4.0
LEAST_BYTES = 1024
# So often somebody who has cancelled is listened to.
_GLANCE_SECONDS = 0.05


class HubError(Exception):
    """A model cannot be fetched; the message is one sentence or two for the page."""


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """Somebody does not want the model any more."""


class Line:
    """Asks the hub, one question after the other.

    The network is left to a thread of its own, for there is much in it that waits as long as it likes: the look-up of
    a name, or a server that sends its answer letter by letter. Who asks only takes what that thread has heard.
    """

    def __init__(self, is_cancelled: Callable[[], bool]) -> None:
        """Prepare; nobody is called yet."""
        self._is_cancelled = is_cancelled

    def read(self, url: str, limit: int, model_id: str) -> bytes:
        """Return a whole answer.

        Raises:
            HubError: there is none, or it is longer than ``limit`` bytes.
            Cancelled: somebody has.
        """
        answer = bytearray()
        for chunk in self.stream(url, model_id):
            answer += chunk
            if len(answer) > limit:
                raise HubError(f"The hub's answer about {model_id} is far too long: it may not be a hub.")
        return bytes(answer)

    def stream(self, url: str, model_id: str) -> Iterator[bytes]:
        """Return an answer as it comes.

        Raises:
            HubError: there is none, it breaks off, or it does not go on.
            Cancelled: somebody has.
        """
        heard: Queue[bytes | Exception | None] = Queue(maxsize=4)
        is_left = Event()
        Thread(target=_listen, args=(url, model_id, heard, is_left), name="hub", daemon=True).start()
        try:
            yield from self._take(heard, model_id)
        finally:
            is_left.set()

    def _take(self, heard: Queue[bytes | Exception | None], model_id: str) -> Iterator[bytes]:
        n_bytes, since = 0, time.monotonic()
        while True:
            if self._is_cancelled():
                raise Cancelled
            try:
                chunk = heard.get(timeout=_GLANCE_SECONDS)
            except Empty:
                chunk = b""
            if chunk is None:
                return
            if isinstance(chunk, Exception):
                raise chunk
            n_bytes += len(chunk)
            now = time.monotonic()
            if n_bytes >= LEAST_BYTES:
                n_bytes, since = 0, now
            elif now - since > PATIENCE_SECONDS:
                raise _too_slow(model_id)
            if chunk:
                yield chunk


def _listen(url: str, model_id: str, heard: Queue[bytes | Exception | None], is_left: Event) -> None:
    """Put down what is heard; once the one who asked has gone, hang up."""
    import httpx2
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    # Never signed in: what is fetched here is for everybody.
    headers = build_hf_headers(token=False) | {"Accept-Encoding": "identity"}
    last: Exception | None = None
    try:
        with (
            httpx2.Client(timeout=PATIENCE_SECONDS, follow_redirects=True, headers=headers) as client,
            client.stream("GET", url) as response,
        ):
            _check_status(response, model_id)
            # As it comes: to wait for so many bytes would make a slow line a silent one.
            for chunk in response.iter_raw():
                if not _put(heard, chunk, is_left):
                    return
    except Exception as error:  # whatever it is, who asked has to hear of it
        last = _as_sentence(error, model_id)
    _put(heard, last, is_left)


def _put(heard: Queue[bytes | Exception | None], item: bytes | Exception | None, is_left: Event) -> bool:
    while not is_left.is_set():
        try:
            heard.put(item, timeout=_GLANCE_SECONDS)
        except Full:
            continue
        return True
    return False


def _check_status(response: httpx2.Response, model_id: str) -> None:
    status = response.status_code
    if status in (401, 403, 404):
        raise HubError(
            f"The hub shows no model {model_id} to everybody ({status}): it may be misspelt, private, or ask for an "
            "account, and this server signs in nowhere."
        )
    if status == 429:
        wait = response.headers.get("Retry-After", "")
        when = f"in {wait} seconds" if wait.isdecimal() else "in some minutes"
        raise HubError(f"The hub has been asked too often from here (429): try again {when}.")
    if status >= 500:
        raise HubError(f"The hub itself is out of order ({status}): try again later.")
    if status != 200:
        raise HubError(f"The hub's answer about {model_id} cannot be used ({status}).")


def _as_sentence(error: Exception, model_id: str) -> HubError:
    import httpx2

    if isinstance(error, HubError):
        return error
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return _too_slow(model_id)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return HubError("The hub cannot be reached from here: there is no network, or the hub is down.")
    if isinstance(error, httpx2.TransportError):
        return HubError(f"The hub broke off in the middle of {model_id}: nothing of it is kept; try again.")
    return HubError(f"The hub's answer about {model_id} cannot be used ({type(error).__name__}).")


def _too_slow(model_id: str) -> HubError:
    return HubError(
        f"The hub has not answered for {PATIENCE_SECONDS:.0f} seconds about {model_id}: it is too slow now, "
        "nothing is kept; try again later."
    )
