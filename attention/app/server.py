"""The server around the pages: access control, headers, and no contact to third parties.

``app.py`` passes this to ``st.App``, so that it applies however the app is started: by ``make run``, by the image's
command, or by a plain ``streamlit run app.py``.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import importlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.answer import files
from attention.answer.hosts import (
    EVERYBODY,
    FRAME_VARIABLE,
    address_of_app,
    asked_host,
    base_path,
    framed_by,
    is_known,
    named_hosts,
)

# If 1, the server reports the memory of its caches and sessions to anyone.
METRICS_VARIABLE = "ATTENTION_METRICS"

# An open tab needs four files or connections. macOS allows a process 256 by default, and at most 10,240.
MAX_DESCRIPTORS = 10_240

# The descriptors of this process, by number; Windows has no such folder.
_DESCRIPTORS = Path("/dev/fd")

# The longest time for a request's body, in seconds: enough for the largest upload at 0.5 Mbit/s.
MAX_BODY_SECONDS = 120.0

# Imported when there is a class.
_ROOMS = "attention.classroom.rooms"
# Paths with these names belong to Streamlit, not to a page.
_STREAMLITS_OWN = frozenset({"_stcore", "component", "media", "static"})
# Browsers must not answer from their caches.
_NO_CACHE = {"Cache-Control": "no-cache"}
# Requested by Streamlit's script: no other site's page may send it commands, and no dialog blocks errors, because the
# app itself says when the connection is lost, and the page stays readable.
_HOST = {"allowedOrigins": [], "useExternalAuthToken": False, "blockErrorDialogs": True}

_LOGGER = logging.getLogger(__name__)


# ------------------------------------------------------------------------------- for st.App


def middleware(script: str) -> list[Middleware]:
    """Return the middleware in front of Streamlit; ``script`` is the main page's file."""
    pages = frozenset(path.stem for path in Path(script).with_name("pages").glob("*.py"))
    frames = os.environ.get(FRAME_VARIABLE, "")
    return [
        Middleware(_WithHeaders, policy=content_policy((), frames)),
        Middleware(_BodyTimeout),
        Middleware(_KnownOriginsOnly),
        Middleware(_Routes, pages=pages, has_metrics=os.environ.get(METRICS_VARIABLE, "") == "1"),
        Middleware(
            files.DocumentLinks,
            links=files.document_links(),
            policy=lambda document: content_policy(inline_scripts(document), frames),
        ),
    ]


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Prepare for a class of open tabs, and print the app's address.

    Streamlit's own welcome is off (``logger.hideWelcomeMessage``): on a server that is open to other machines, it asks
    a third party for this machine's address at every start.
    """
    raise_descriptor_limit()
    send_at_once(st.get_option("server.port"))
    bound_to = str(st.get_option("server.address") or "")
    is_open = bound_to in EVERYBODY
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    url = f"{scheme}://{address(bound_to)}:{st.get_option('server.port')}/{base_path()}"
    others = " (on other devices, with this machine's name or address in place of localhost)" if is_open else ""
    sys.stdout.write(f"Step by step attention: open {url} in a browser{others}; Ctrl+C here stops it.\n")
    sys.stdout.flush()
    _dismiss_screens_at_exit()
    yield


def _dismiss_screens_at_exit() -> None:
    """Dismiss the screens of rooms when the server has to end: it would wait for them for ever."""
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def end(got: int, frame: Any, before: Any = before) -> None:
            if loaded := sys.modules.get(_ROOMS):
                loop.call_soon_threadsafe(loaded.rooms().stop)
            if callable(before):
                before(got, frame)

        signal.signal(number, end)


def address(bound_to: str) -> str:
    """Return the host name for a browser on this machine, of a server bound to this address."""
    if bound_to in EVERYBODY:
        return "localhost"
    return f"[{bound_to}]" if ":" in bound_to else bound_to


def raise_descriptor_limit() -> None:
    """Raise this process's limit of open files and connections as far as allowed, up to MAX_DESCRIPTORS."""
    try:
        import resource
    except ImportError:
        # Windows has no such limit.
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def send_at_once(port: int) -> None:
    """Switch off Nagle's algorithm for the connections that this process accepts at a port from now on.

    By default, the system holds small packets back until earlier ones are acknowledged, which the browser's side delays
    by 40 ms (RFC 896; RFC 1122, section 4.2.3.2), and uvicorn writes the head and the body of a response one after the
    other. asyncio does this for sockets declared as TCP, which the one on which Streamlit listens is not. Accepted
    connections inherit its options.
    """
    for each in _DESCRIPTORS.iterdir() if _DESCRIPTORS.is_dir() else ():
        # Anything but a socket, and the folder itself, which is closed by now, raises an error.
        with suppress(OSError), socket.socket(fileno=os.dup(int(each.name))) as found:
            is_tcp = found.family in (socket.AF_INET, socket.AF_INET6) and found.type == socket.SOCK_STREAM
            if is_tcp and found.getsockname()[1] == port:
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


# ------------------------------------------------------------------------------- headers


def content_policy(inline_scripts: Iterable[str], frames: str = "") -> str:
    """Return a page's Content-Security-Policy header; ``frames`` names the sites that may embed it.

    Everything comes from this server, except for what Streamlit needs: scripts in blobs (for pictures), inline styles,
    and icons of tables as data and blobs. ``inline_scripts`` are the document's, allowed by their hashes.

    Raises:
        SystemExit: ``frames`` contains something that is not an address.
    """
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in inline_scripts]
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("script-src 'self' blob:", *(f"'sha256-{digest}'" for digest in digests))),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            f"frame-ancestors {framed_by(frames)}",
        )
    )


def inline_scripts(document: str) -> list[str]:
    """Return the inline scripts of a document.

    >>> inline_scripts('<script src="a.js"></script><script>one()</script><SCRIPT type="module">two()</SCRIPT>')
    ['one()', 'two()']
    """
    found = _InlineScripts()
    found.feed(document)
    found.close()
    return found.scripts


class _InlineScripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[str] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_inside = tag == "script" and "src" not in dict(attrs)
        if self._is_inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = self._is_inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.scripts[-1] += data


class _WithHeaders:
    """Adds headers: no guessing of content types, and a Content-Security-Policy for documents."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                headers["X-Content-Type-Options"] = "nosniff"
                # A browser with a cached document takes this header from the 304 response.
                if headers.get("Content-Type", "").startswith("text/html") or message["status"] == 304:
                    headers.setdefault("Content-Security-Policy", self.policy)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


# ------------------------------------------------------------------------------- timeouts


class _BodyTimeout:
    """Gives up requests whose body does not arrive: half a request would hold a connection for ever.

    Only the time that the app waits for the body counts. For the request line and headers (at most 64 kB), uvicorn has
    no time limit.
    """

    def __init__(self, app: ASGIApp, seconds: float = MAX_BODY_SECONDS) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        has_body = "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0"
        loop, seconds_left, is_whole, has_begun = asyncio.get_running_loop(), self.seconds, False, False

        async def receive_in_time() -> Message:
            nonlocal seconds_left, is_whole
            if is_whole:
                return await receive()
            begin = loop.time()
            limit.reschedule(begin + seconds_left)
            message = await receive()
            limit.reschedule(None)
            seconds_left -= loop.time() - begin
            is_whole = not message.get("more_body", False)
            return message

        async def send_and_note(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start" and has_body and not is_whole:
                # Do not wait for the rest of an answered request.
                MutableHeaders(raw=message["headers"])["Connection"] = "close"
            await send(message)

        try:
            async with asyncio.timeout(None) as limit:
                await self.app(scope, receive_in_time, send_and_note)
        except TimeoutError:
            if not limit.expired():
                raise
            if not has_begun:
                late = PlainTextResponse("Request Timeout", status_code=408, headers={"Connection": "close"})
                await late(scope, receive, send)


# ------------------------------------------------------------------------------- access


class _KnownOriginsOnly:
    """Refuses WebSockets of foreign pages before Streamlit looks for other names of this machine.

    Streamlit would ask checkip.amazonaws.com whether the foreign page is at this machine's public address, and every
    visitor would wait for that. Otherwise the allowed pages are the same: the server's own, also behind a proxy, this
    machine's, and those in browser.serverAddress or server.corsAllowedOrigins.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not st.get_option("server.enableCORS"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin, host = headers.get("Origin"), headers.get("Host", "")
        if origin is None or is_known(origin, host, ()):
            await self.app(scope, receive, send)
        elif is_known(origin, asked_host(headers), named_hosts()):
            # The origin has been checked; with it, Streamlit would query a third party.
            others = [(name, value) for name, value in scope["headers"] if name != b"origin"]
            await self.app({**scope, "headers": others}, receive, send)
        else:
            _LOGGER.warning("A WebSocket of a page at %.100r was refused: this server is %.100r.", origin, host)
            await send({"type": "websocket.close", "code": 1008})


# ------------------------------------------------------------------------------- routes


def page_below(path: str, pages: Iterable[str]) -> str | None:
    """Return the relative path from ``/page/anything`` back to ``/page``, which works behind any proxy.

    >>> page_below("/models/of/mine", {"models"})
    '../../models'
    >>> page_below("/models", {"models"}) is None
    True
    """
    page, *rest = path.removeprefix("/").split("/")
    if not rest or page not in pages or not _STREAMLITS_OWN.isdisjoint(rest):
        return None
    return "../" * len(rest) + page


class _FromLink:
    """Serves files and numbers made from a page's link (see ``attention.answer.asked``)."""

    def __init__(self, module: str, path: str) -> None:
        self.module = module
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await run_in_threadpool(self._answer, Request(scope))
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        # Imported late, because it takes long, and the server should respond earlier.
        from attention.answer import asked

        return asked.answer(self._give(request), request.method, self.path, request.query_params, request.headers)

    def _give(self, request: Request) -> Callable[..., Response | None]:  # noqa: ARG002 - of use to files
        give: Callable[..., Response | None] = importlib.import_module(self.module).give
        return give


class _Files(_FromLink):
    """Serves files; a worksheet contains the app's address."""

    def _give(self, request: Request) -> Callable[..., Response | None]:
        return partial(super()._give(request), root=address_of_app(request.scope["scheme"], request.headers))


class _Pages:
    """Serves the page that follows from a page and the presses on it."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from attention.answer import asked

        request = Request(scope, receive)
        body = await asked.body_of(request)
        response = await run_in_threadpool(asked.answer_page, request.method, self.path, body, request.headers)
        await response(scope, receive, send)


async def _classroom(path: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a screen of a class; its routes do not include the app's base path."""
    found = await run_in_threadpool(importlib.import_module, _ROOMS)
    await found.rooms()({**scope, "path": path}, receive, send)


class _Routes:
    """Serves cacheable files, redirects from below a page to the page, and hides the server's metrics."""

    def __init__(self, app: ASGIApp, pages: frozenset[str], *, has_metrics: bool) -> None:
        self.app = app
        self.pages = pages
        self.fixed: dict[str, Response] = {"/_stcore/host-config": JSONResponse(_HOST, headers=_NO_CACHE)}
        if not has_metrics:
            self.fixed["/_stcore/metrics"] = PlainTextResponse("Not Found", status_code=404)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answer(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def _answer(self, scope: Scope) -> ASGIApp | None:
        path = scope["path"].removeprefix(f"/{base_path()}".rstrip("/"))
        return self.fixed.get(path) or _served(path, Headers(scope=scope)) or self._redirected(path, scope)

    def _redirected(self, path: str, scope: Scope) -> Response | None:
        way = page_below(path, self.pages) if scope["method"] in ("GET", "HEAD") else None
        if way is None:
            return None
        query = scope["query_string"].decode("latin-1")
        headers = {"Location": f"{way}?{query}" if query else way, **_NO_CACHE}
        return Response(status_code=307, headers=headers)


def _served(path: str, headers: Headers) -> ASGIApp | None:
    """Return the app that serves a path of ours; None if it is Streamlit's."""
    if path == "/room" or path.startswith(f"/{files.ROOMS}/"):
        return partial(_classroom, path)
    for known, answer in _ANSWERS.items():
        if path.startswith(f"/{known}/"):
            return answer(path.removeprefix(f"/{known}/"))
    is_file = path.startswith(f"/{files.FOLDER}/")
    return files.answer(path.removeprefix(f"/{files.FOLDER}/"), headers) if is_file else None


# The handlers of our folders.
_ANSWERS: Mapping[str, Callable[[str], ASGIApp]] = {
    files.PAGES: _Pages,
    files.NUMBERS: partial(_FromLink, "attention.answer.numbers"),
    files.FILES: partial(_Files, "attention.answer.generated_files"),
}
