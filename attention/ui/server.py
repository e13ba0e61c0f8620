"""What the server does around the pages: whom it answers, with what headers, and whom it never asks.

``app.py`` hands this to ``st.App``, so it holds whichever way the app is started: ``make run``, the image's
command, and a plain ``streamlit run app.py``.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.ui import files
from attention.ui.mail import gather_mail

__all__ = [
    "FRAME_VARIABLE",
    "METRICS_VARIABLE",
    "address",
    "content_policy",
    "is_known",
    "lifespan",
    "middleware",
    "page_below",
    "raise_descriptor_limit",
]

# Who may show the app in a frame of a page of theirs: addresses with spaces between them, "self", "none" or "*".
FRAME_VARIABLE = "ATTENTION_FRAME_ANCESTORS"
# Set to 1, the server tells everybody who asks how much memory its caches and sessions hold.
METRICS_VARIABLE = "ATTENTION_METRICS"

# An open tab takes four files or connections. macOS grants a process 256 unless it asks, and 10,240 at the most.
MAX_DESCRIPTORS = 10_240

# What Streamlit itself answers below these names is none of a page's.
_STREAMLITS_OWN = frozenset({"_stcore", "component", "media", "static"})
_EVERYBODY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104

_LOGGER = logging.getLogger(__name__)


# ------------------------------------------------------------------------------- for st.App


def middleware(script: str) -> list[Middleware]:
    """Return what every request passes through before Streamlit gets it; ``script`` is the main page's file."""
    pages = frozenset(path.stem for path in Path(script).with_name("pages").glob("*.py"))
    kept = files.kept_files()
    return [
        Middleware(_WithHeaders, policy=content_policy(_inline_scripts(), os.environ.get(FRAME_VARIABLE, ""))),
        Middleware(_AtOnce),
        Middleware(_KnownOriginsOnly),
        Middleware(_Ways, pages=pages, kept=kept, has_metrics=os.environ.get(METRICS_VARIABLE, "") == "1"),
        Middleware(files.DocumentLinks, links=files.document_links(kept)),
    ]


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Make room for a class of open tabs, let pages gather what they say, and say where the app is.

    Streamlit's own welcome is switched off (``logger.hideWelcomeMessage``): for a server that everybody may
    reach, it asks a stranger on the internet for this machine's address, at every start.
    """
    raise_descriptor_limit()
    gather_mail()
    bound_to = str(st.get_option("server.address") or "")
    is_open = bound_to in _EVERYBODY
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    url = f"{scheme}://{address(bound_to)}:{st.get_option('server.port')}/{_base_path()}"
    others = " (on other devices, with this machine's name or address in place of localhost)" if is_open else ""
    sys.stdout.write(f"Step by step attention: open {url} in a browser{others}; Ctrl+C here stops it.\n")
    sys.stdout.flush()
    yield


def _base_path() -> str:
    return str(st.get_option("server.baseUrlPath")).strip("/")


def address(bound_to: str) -> str:
    """Return the name under which a browser on this machine finds a server that listens at an address."""
    if bound_to in _EVERYBODY:
        return "localhost"
    return f"[{bound_to}]" if ":" in bound_to else bound_to


def raise_descriptor_limit() -> None:
    """Let this process open as many files and connections as it may, at most MAX_DESCRIPTORS."""
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


# ------------------------------------------------------------------------------- headers


def content_policy(inline_scripts: Iterable[str], framed_by: str = "") -> str:
    """Return what a page may load and who may frame it, as the header Content-Security-Policy has it.

    Everything comes from this server. Streamlit needs no more than these exceptions: the scripts of the pictures
    are blobs that its own script makes, styles are written into the page, and tables draw their
    icons from data and blobs. ``inline_scripts`` are those of Streamlit's index.html, which are known by their hash.

    Raises:
        SystemExit: ``framed_by`` has something in it that is no address.
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
            f"frame-ancestors {_framed_by(framed_by)}",
        )
    )


def _framed_by(wanted: str) -> str:
    words = wanted.split() or ["self"]
    for word in words:
        if not re.fullmatch(r"[\w.:/*\[\]-]+", word, re.ASCII):
            raise SystemExit(
                f"{FRAME_VARIABLE}: {word!r} is no address. Give addresses such as https://school.example with "
                "spaces between them, or self, none or *."
            )
    return " ".join(f"'{word}'" if word in ("self", "none") else word for word in words)


def _inline_scripts() -> list[str]:
    """Return the scripts that stand in Streamlit's index.html itself."""
    index = Path(st.__file__).parent / "static" / "index.html"
    return re.findall(r"<script>(.*?)</script>", index.read_text("utf-8"), re.DOTALL)


class _WithHeaders:
    """Adds to every answer that browsers must not guess its kind, and to every document what it may load."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                headers["X-Content-Type-Options"] = "nosniff"
                # A browser that has the document already takes this header from the answer that says so.
                if headers.get("Content-Type", "").startswith("text/html") or message["status"] == 304:
                    headers["Content-Security-Policy"] = self.policy
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


# ------------------------------------------------------------------------------- without delay


class _AtOnce:
    """Has every small message of a WebSocket sent at once.

    Left alone, the system keeps a small one back until the browser has confirmed the one before, which browsers
    put off for 40 ms (Nagle's algorithm, RFC 896, meets delayed acknowledgements, RFC 1122, 4.2.3.2). asyncio switches
    that off for sockets that say that they are TCP, and the one that Streamlit listens on does not say it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # ASGI has no name for the connection; uvicorn hands out methods of what has it.
            transport = getattr(getattr(send, "__self__", None), "transport", None)
            connection = transport.get_extra_info("socket") if isinstance(transport, asyncio.Transport) else None
            if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await self.app(scope, receive, send)


# ------------------------------------------------------------------------------- who is let in


def is_known(origin: str, host: str, named: Iterable[str]) -> bool:
    """Tell whether a page at this origin may talk to the server: its own pages, and those of hosts that are named."""
    try:
        found = urlsplit(origin)
        return bool(found.netloc) and (found.netloc == host or (found.hostname or "") in named)
    except ValueError:
        return False


class _KnownOriginsOnly:
    """Refuses a WebSocket of a foreign page before Streamlit looks for other names that this machine may have.

    Streamlit would ask checkip.amazonaws.com whether the foreign page is at this machine's address on the internet,
    and every visitor would wait for the answer. The pages that may talk to the server are the same ones without that:
    its own, those of this machine, and what the owner names in browser.serverAddress or server.corsAllowedOrigins.
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
        elif is_known(origin, host, _named_hosts()):
            # It has been looked at; of an origin that it sees, Streamlit would ask the stranger first.
            others = [(name, value) for name, value in scope["headers"] if name != b"origin"]
            await self.app({**scope, "headers": others}, receive, send)
        else:
            _LOGGER.warning("A WebSocket of a page at %.100r was refused: this server is %.100r.", origin, host)
            await send({"type": "websocket.close", "code": 1008})


def _named_hosts() -> set[str]:
    """Return the hosts whose pages may talk to this server, beside the server's own."""
    named = [str(st.get_option("browser.serverAddress")), *map(str, st.get_option("server.corsAllowedOrigins"))]
    hosts = {urlsplit(each if "//" in each else f"//{each}").hostname or "" for each in named}
    return (hosts | {"localhost", "127.0.0.1"}) - {""}


# ------------------------------------------------------------------------------- where a path leads


def page_below(path: str, pages: Iterable[str]) -> str | None:
    """Return the way from ``/page/anything`` back to ``/page``, relative, so that it is right behind every proxy.

    >>> page_below("/models/of/mine", {"models"})
    '../../models'
    >>> page_below("/models", {"models"}) is None
    True
    """
    page, *rest = path.removeprefix("/").split("/")
    if not rest or page not in pages or not _STREAMLITS_OWN.isdisjoint(rest):
        return None
    return "../" * len(rest) + page


class _Ways:
    """Gives the files that browsers keep, leads from below a page to the page, and hides the server's numbers."""

    def __init__(
        self, app: ASGIApp, pages: frozenset[str], kept: Mapping[str, files.KeptFile], *, has_metrics: bool
    ) -> None:
        self.app = app
        self.pages = pages
        self.kept = kept
        self.has_metrics = has_metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answer(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        path = scope["path"].removeprefix(f"/{_base_path()}".rstrip("/"))
        if path == "/_stcore/metrics" and not self.has_metrics:
            return PlainTextResponse("Not Found", status_code=404)
        if path.startswith(f"/{files.FOLDER}/"):
            return files.answer(self.kept, path.removeprefix(f"/{files.FOLDER}/"), Headers(scope=scope))
        way = page_below(path, self.pages) if scope["method"] in ("GET", "HEAD") else None
        if way is None:
            return None
        query = scope["query_string"].decode("latin-1")
        headers = {"Location": f"{way}?{query}" if query else way, "Cache-Control": "no-cache"}
        return Response(status_code=307, headers=headers)
