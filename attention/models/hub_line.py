"""A line to the hub on which nobody waits for long: each answer comes within seconds, or a sentence says why not.

The hub may lead on to other addresses, as the real one does for large files. It is followed within itself, and over
https to addresses of the open internet: never to this machine or its network, where others trust who is inside.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Literal
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    import httpx2

__all__ = ["Cancelled", "HubError", "Line", "Pace", "is_open"]

# The hub has so long to begin an answer, and to go on with one: less than this many bytes in that time is nothing.
PATIENCE_SECONDS = 4.0
LEAST_BYTES = 1024
# A slow line is no fault, but one of fewer bytes in this time would take days for a model.
WINDOW_SECONDS, LEAST_BYTES_IN_WINDOW = 30.0, 300_000
# What the hub says of a model is read as a whole, and is there within this time.
ANSWER_SECONDS = 8.0
# The real hub leads once or twice to a file.
MAX_REDIRECTS = 5
# Of several addresses of one host, so many are tried.
_MAX_ADDRESSES = 4
# IPv6 addresses that a gateway takes for those of IPv4 in their last four bytes (RFC 6052).
_GATEWAY = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
# So often somebody who has cancelled is listened to.
_GLANCE_SECONDS = 0.05


class HubError(Exception):
    """A model cannot be fetched; the message is one sentence or two for the page."""


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """Somebody does not want the model any more."""


@dataclass(slots=True)
class Pace:
    """How fast an answer comes: it must not fall silent, nor trickle, nor, if it has to end in time, go on for ever.

    Times are in seconds; ``limit`` is how long the whole answer may take, None if that depends on its length.
    """

    began: float
    limit: float | None = None
    _silent_since: float = 0.0
    _n_since: int = 0
    _window_since: float = 0.0
    _n_in_window: int = 0

    def __post_init__(self) -> None:
        """Nothing has come yet."""
        self._silent_since = self._window_since = self.began

    def fault(self, now: float, n_bytes: int) -> Literal["silent", "slow"] | None:
        """Say what is wrong, if anything is, after so many more bytes of the answer have come."""
        self._n_since += n_bytes
        self._n_in_window += n_bytes
        if self._n_since >= LEAST_BYTES:
            self._n_since, self._silent_since = 0, now
        elif now - self._silent_since > PATIENCE_SECONDS:
            return "silent"
        if self._n_in_window >= LEAST_BYTES_IN_WINDOW:
            self._n_in_window, self._window_since = 0, now
        elif now - self._window_since > WINDOW_SECONDS:
            return "slow"
        return "slow" if self.limit is not None and now - self.began > self.limit else None


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
        for chunk in self.stream(url, model_id, ANSWER_SECONDS):
            answer += chunk
            if len(answer) > limit:
                raise HubError(f"The hub's answer about {model_id} is far too long: it may not be a hub.")
        return bytes(answer)

    def stream(self, url: str, model_id: str, limit_seconds: float | None = None) -> Iterator[bytes]:
        """Return an answer as it comes, and has to be there within so many seconds.

        Raises:
            HubError: there is none, it breaks off, or it does not go on.
            Cancelled: somebody has.
        """
        heard: Queue[bytes | Exception | None] = Queue(maxsize=4)
        is_left = Event()
        Thread(target=_listen, args=(url, model_id, heard, is_left), name="hub", daemon=True).start()
        try:
            yield from self._take(heard, model_id, limit_seconds)
        finally:
            is_left.set()

    def _take(
        self, heard: Queue[bytes | Exception | None], model_id: str, limit_seconds: float | None
    ) -> Iterator[bytes]:
        pace = Pace(time.monotonic(), limit_seconds)
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
            fault = pace.fault(time.monotonic(), len(chunk))
            if fault is not None:
                raise _silent(model_id) if fault == "silent" else _too_slow(model_id)
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
            httpx2.Client(timeout=PATIENCE_SECONDS, headers=headers) as client,
            closing(_answer(client, httpx2.URL(url), is_left)) as response,
        ):
            _check_status(response, model_id)
            # As it comes: to wait for so many bytes would make a slow line a silent one.
            for chunk in response.iter_raw():
                if not _put(heard, chunk, is_left):
                    return
    except Exception as error:  # whatever it is, who asked has to hear of it
        last = _as_sentence(error, model_id)
    _put(heard, last, is_left)


def _answer(client: httpx2.Client, url: httpx2.URL, is_left: Event) -> httpx2.Response:
    """Return the answer at this address of the hub, or where the hub leads from there."""
    import httpx2

    target = url
    for _ in range(MAX_REDIRECTS + 1):
        response = _open(client, url, target)
        if not response.has_redirect_location or is_left.is_set():
            return response
        # What else such an answer says is not read.
        response.close()
        try:
            target = target.join(response.headers["Location"])
        except httpx2.InvalidURL:
            raise HubError("The hub leads on to what is no address: it may not be a hub.") from None
    raise HubError(f"The hub leads on from one address to the next, more than {MAX_REDIRECTS} times.")


def _open(client: httpx2.Client, own: httpx2.URL, target: httpx2.URL) -> httpx2.Response:
    """Ask at one address: the hub's own, or one that it leads to, if it may."""
    import httpx2

    if _is_same(own, target):
        return client.send(client.build_request("GET", target), stream=True)
    if target.scheme != "https" or target.userinfo:
        raise HubError("The hub leads on to an address that is not encrypted, or not open to everybody.")
    if _has_proxy(target):
        # It looks names up itself, and is the owner's.
        _addresses_of(target, is_number=True)
        return client.send(client.build_request("GET", target), stream=True)
    failure: httpx2.TransportError = httpx2.ConnectError("no address")
    for address in _addresses_of(target)[:_MAX_ADDRESSES]:
        # The connection is made to the very address that was looked at: asked for once more, the name might have
        # another one. The certificate must be the name's all the same.
        request = client.build_request(
            "GET",
            target.copy_with(host=str(address)),
            headers={"Host": target.netloc.decode("ascii")},
            extensions={"sni_hostname": target.raw_host.decode("ascii")},
        )
        try:
            return client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failure = error
    raise failure


def _is_same(own: httpx2.URL, target: httpx2.URL) -> bool:
    """Tell whether an address is the hub's own: its host and port, or its host with encryption added."""
    if (target.scheme, target.host, target.port) == (own.scheme, own.host, own.port):
        return True
    return (own.scheme, target.scheme, target.host) == ("http", "https", own.host) and own.port is target.port is None


def _has_proxy(url: httpx2.URL) -> bool:
    proxies = getproxies()
    return ("https" in proxies or "all" in proxies) and not proxy_bypass(url.host)


def _addresses_of(url: httpx2.URL, *, is_number: bool = False) -> list[IPv4Address | IPv6Address]:
    """Look up the addresses of a host; with ``is_number``, only those that are written out.

    Raises:
        HubError: one of them is no address of the open internet, or there is none.
    """
    flags = socket.AI_NUMERICHOST if is_number else 0
    try:
        found = socket.getaddrinfo(url.raw_host.decode("ascii"), url.port or 443, type=socket.SOCK_STREAM, flags=flags)
    except OSError:
        if is_number:
            return []
        raise HubError("The hub leads on to a host that cannot be found from here.") from None
    addresses = [ip_address(where[0]) for _, _, _, _, where in found]
    if not all(map(is_open, addresses)):
        raise HubError("The hub leads on to an address inside this network, where it is not followed.")
    return list(dict.fromkeys(addresses))


def is_open(address: IPv4Address | IPv6Address) -> bool:
    """Tell whether an address is one of the open internet: not of this machine, its network, or a group of machines.

    An address of IPv6 that stands for one of IPv4 is as open as that one.
    """
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _GATEWAY:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo is not None or (inner is not None and not is_open(inner)):
            return False
        if inner is not None:
            return True
        # What is left of IPv6's own is open from 2000:: to 3fff:: (RFC 4291, section 2.4).
        if address not in _UNICAST:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


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
        return _silent(model_id)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return HubError("The hub cannot be reached from here: there is no network, or the hub is down.")
    if isinstance(error, httpx2.TransportError):
        return HubError(f"The hub broke off in the middle of {model_id}: nothing of it is kept; try again.")
    return HubError(f"The hub's answer about {model_id} cannot be used ({type(error).__name__}).")


def _silent(model_id: str) -> HubError:
    return HubError(
        f"The hub has not answered for {PATIENCE_SECONDS:.0f} seconds about {model_id}: it is too slow now, "
        "nothing is kept; try again later."
    )


def _too_slow(model_id: str) -> HubError:
    return HubError(f"The hub sends {model_id} far too slowly: it is given up, and nothing is kept; try again later.")
