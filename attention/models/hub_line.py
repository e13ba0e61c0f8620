"""A connection to the hub that never keeps the user waiting: each answer comes in seconds, or a sentence says why not.

The hub may redirect to other addresses, as the real one does for large files. Redirects are followed within the hub
itself and, over https, to public internet addresses; never to this machine or its network, where services may trust
whatever is inside.
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

from attention.messages import message, messages

if TYPE_CHECKING:
    import httpx2

__all__ = ["Cancelled", "HubError", "Line", "Pace", "is_open"]

# How long the hub may take to begin an answer, or to continue it with at least this many bytes.
PATIENCE_SECONDS = 4.0
LEAST_BYTES = 1024
# A slow connection is not an error, but with fewer bytes in this time, a model would take days.
WINDOW_SECONDS, LEAST_BYTES_IN_WINDOW = 30.0, 300_000
# The hub's description of a model is read as a whole, and has to arrive within this time.
ANSWER_SECONDS = 8.0
# The real hub redirects once or twice for a file.
MAX_REDIRECTS = 5
# How many addresses of one host are tried.
_MAX_ADDRESSES = 4
# IPv6 addresses that a gateway translates to the IPv4 address in their last four bytes (RFC 6052).
_GATEWAY = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
# How often the request to cancel is checked.
_GLANCE_SECONDS = 0.05


class HubError(Exception):
    """A model cannot be fetched; the message is a sentence or two for the page."""


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """The user cancelled the download."""


@dataclass(slots=True)
class Pace:
    """How fast an answer arrives: it must not stop, nor trickle, nor exceed its time limit, if it has one.

    Times are in seconds; ``limit`` is the time for the whole answer, None if that depends on its length.
    """

    began: float
    limit: float | None = None
    _silent_since: float = 0.0
    _n_since: int = 0
    _window_since: float = 0.0
    _n_in_window: int = 0

    def __post_init__(self) -> None:
        """Begin with nothing received."""
        self._silent_since = self._window_since = self.began

    def fault(self, now: float, n_bytes: int) -> Literal["silent", "slow"] | None:
        """Return what is wrong, if anything, when ``n_bytes`` more of the answer have arrived."""
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
    """Sends requests to the hub, one after another.

    The network is left to a separate thread, because much of it can block indefinitely: looking up a name, or a server
    that sends its answer byte by byte. The caller only takes what that thread has received.
    """

    def __init__(self, is_cancelled: Callable[[], bool]) -> None:
        """Prepare; no connection is made yet."""
        self._is_cancelled = is_cancelled

    def read(self, url: str, limit: int, model_id: str) -> bytes:
        """Return a complete answer.

        Raises:
            HubError: there is no answer, or it is longer than ``limit`` bytes.
            Cancelled: the download was cancelled.
        """
        answer = bytearray()
        for chunk in self.stream(url, model_id, ANSWER_SECONDS):
            answer += chunk
            if len(answer) > limit:
                raise HubError(
                    message(
                        "The hub's answer about {model_id} is far too long: it may not be a hub.", model_id=model_id
                    )
                )
        return bytes(answer)

    def stream(self, url: str, model_id: str, limit_seconds: float | None = None) -> Iterator[bytes]:
        """Yield an answer as it arrives; all of it has to arrive within ``limit_seconds``, if that is given.

        Raises:
            HubError: there is no answer, it breaks off, or it does not continue.
            Cancelled: the download was cancelled.
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
    """Queue what is received; close the connection once the caller has gone."""
    import httpx2
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    # Never signed in: what is fetched here is available to all users.
    headers = build_hf_headers(token=False) | {"Accept-Encoding": "identity"}
    last: Exception | None = None
    try:
        with (
            httpx2.Client(timeout=PATIENCE_SECONDS, headers=headers) as client,
            closing(_answer(client, httpx2.URL(url), is_left)) as response,
        ):
            _check_status(response, model_id)
            # As it arrives: waiting for chunks of a fixed size would make a slow connection look like a silent one.
            for chunk in response.iter_raw():
                if not _put(heard, chunk, is_left):
                    return
    except Exception as error:  # whatever it is, the caller has to be told
        last = _as_sentence(error, model_id)
    _put(heard, last, is_left)


def _answer(client: httpx2.Client, url: httpx2.URL, is_left: Event) -> httpx2.Response:
    """Return the answer at this address of the hub, or from where the hub redirects."""
    import httpx2

    target = url
    for _ in range(MAX_REDIRECTS + 1):
        response = _open(client, url, target)
        if not response.has_redirect_location or is_left.is_set():
            return response
        # The body of a redirect is not read.
        response.close()
        try:
            target = target.join(response.headers["Location"])
        except httpx2.InvalidURL:
            raise HubError(message("The hub leads on to what is no address: it may not be a hub.")) from None
    raise HubError(
        message("The hub leads on from one address to the next, more than {most} times.", most=MAX_REDIRECTS)
    )


def _open(client: httpx2.Client, own: httpx2.URL, target: httpx2.URL) -> httpx2.Response:
    """Send a request to one address: the hub's own, or one to which it redirects, if that is allowed."""
    import httpx2

    if _is_same(own, target):
        return client.send(client.build_request("GET", target), stream=True)
    if target.scheme != "https" or target.userinfo:
        raise HubError(message("The hub leads on to an address that is not encrypted, or not open to everybody."))
    if _has_proxy(target):
        # A proxy looks up names itself, and the owner chose it.
        _addresses_of(target, is_number=True)
        return client.send(client.build_request("GET", target), stream=True)
    failure: httpx2.TransportError = httpx2.ConnectError("no address")
    for address in _addresses_of(target)[:_MAX_ADDRESSES]:
        # The connection is made to the very address that was checked: a second look-up of the name might return
        # another. The certificate must still be that of the name.
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
    """Tell whether an address is the hub's own: its host and port, or its host over https instead of http."""
    if (target.scheme, target.host, target.port) == (own.scheme, own.host, own.port):
        return True
    return (own.scheme, target.scheme, target.host) == ("http", "https", own.host) and own.port is target.port is None


def _has_proxy(url: httpx2.URL) -> bool:
    proxies = getproxies()
    return ("https" in proxies or "all" in proxies) and not proxy_bypass(url.host)


def _addresses_of(url: httpx2.URL, *, is_number: bool = False) -> list[IPv4Address | IPv6Address]:
    """Look up the addresses of a host; with ``is_number``, return only an address that is written as a number.

    Raises:
        HubError: one of them is not a public internet address, or there are none.
    """
    flags = socket.AI_NUMERICHOST if is_number else 0
    try:
        found = socket.getaddrinfo(url.raw_host.decode("ascii"), url.port or 443, type=socket.SOCK_STREAM, flags=flags)
    except OSError:
        if is_number:
            return []
        raise HubError(message("The hub leads on to a host that cannot be found from here.")) from None
    addresses = [ip_address(where[0]) for _, _, _, _, where in found]
    if not all(map(is_open, addresses)):
        raise HubError(message("The hub leads on to an address inside this network, where it is not followed."))
    return list(dict.fromkeys(addresses))


def is_open(address: IPv4Address | IPv6Address) -> bool:
    """Tell whether an address is on the public internet: not on this machine or its network, and not multicast.

    An IPv6 address that stands for an IPv4 address is as public as that.
    """
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _GATEWAY:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo is not None or (inner is not None and not is_open(inner)):
            return False
        if inner is not None:
            return True
        # Of the remaining IPv6 addresses, those from 2000:: to 3fff:: are global unicast (RFC 4291, section 2.4).
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
            message(
                "The hub shows no model {model_id} to everybody ({status}): it may be misspelt, private, or ask "
                "for an account, and this server signs in nowhere.",
                model_id=model_id,
                status=status,
            )
        )
    if status == 429:
        wait = response.headers.get("Retry-After", "")
        if wait.isdecimal():
            raise HubError(
                messages(
                    "The hub has been asked too often from here (429): try again in {n} second.",
                    "The hub has been asked too often from here (429): try again in {n} seconds.",
                    int(wait),
                )
            )
        raise HubError(message("The hub has been asked too often from here (429): try again in some minutes."))
    if status >= 500:
        raise HubError(message("The hub itself is out of order ({status}): try again later.", status=status))
    if status != 200:
        raise HubError(
            message("The hub's answer about {model_id} cannot be used ({status}).", model_id=model_id, status=status)
        )


def _as_sentence(error: Exception, model_id: str) -> HubError:
    import httpx2

    if isinstance(error, HubError):
        return error
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return _silent(model_id)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return HubError(message("The hub cannot be reached from here: there is no network, or the hub is down."))
    if isinstance(error, httpx2.TransportError):
        return HubError(
            message(
                "The hub broke off in the middle of {model_id}: nothing of it is kept; try again.", model_id=model_id
            )
        )
    return HubError(
        message(
            "The hub's answer about {model_id} cannot be used ({status}).",
            model_id=model_id,
            status=type(error).__name__,
        )
    )


def _silent(model_id: str) -> HubError:
    return HubError(
        message(
            "The hub has not answered for {seconds} seconds about {model_id}: it is too slow now, nothing "
            "is kept; try again later.",
            seconds=f"{PATIENCE_SECONDS:.0f}",
            model_id=model_id,
        )
    )


def _too_slow(model_id: str) -> HubError:
    return HubError(
        message(
            "The hub sends {model_id} far too slowly: it is given up, and nothing is kept; try again later.",
            model_id=model_id,
        )
    )
