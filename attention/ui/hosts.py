"""By which names this server is known: whose pages may talk to it, and where other devices find it."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from functools import cache
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers

__all__ = [
    "EVERYBODY",
    "FRAME_VARIABLE",
    "address_for_others",
    "asked_host",
    "base_path",
    "framed_by",
    "in_network",
    "is_known",
    "named_hosts",
]

# Who may show the app in a frame on another page: addresses separated by spaces, "self", "none" or "*".
FRAME_VARIABLE = "ATTENTION_FRAME_ANCESTORS"
# The addresses by which a server listens to all.
EVERYBODY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
# A host as browsers write it: a name or an address, and a port (RFC 3986, section 3.2).
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,253})(?::([0-9]{1,5}))?", re.ASCII)
_LAST_PORT = 65_535


def is_known(origin: str, host: str, named: Iterable[str]) -> bool:
    """Tell whether a page at this origin may talk to the server: its own pages, and those of the named hosts."""
    scheme, _, found = origin.partition("://")
    name = _name_in(found)
    return scheme in ("http", "https") and name is not None and (found == host or name in named)


def named_hosts() -> set[str]:
    """Return the hosts whose pages may talk to this server, in addition to the server's own."""
    named = [str(st.get_option("browser.serverAddress")), *map(str, st.get_option("server.corsAllowedOrigins"))]
    hosts = {urlsplit(each if "//" in each else f"//{each}").hostname or "" for each in named}
    return (hosts | {"localhost", "127.0.0.1"}) - {""}


def asked_host(headers: Headers) -> str:
    """Return the host that a browser asked for, with its port: a proxy that asks for another one says which it was.

    It is empty if the request names none. No page can have a browser send this to another site, so what it says of an
    origin can be relied on.
    """
    forwarded = headers.get("X-Forwarded-Host", "").partition(",")[0].strip()
    return next((host for host in (forwarded, headers.get("Host", "")) if _name_in(host) is not None), "")


def _name_in(host: str) -> str | None:
    """Return the name or address in a host that may have a port, in small letters; None if it is no host."""
    found = _HOST.fullmatch(host)
    return None if found is None or int(found[2] or 0) > _LAST_PORT else found[1].strip("[]").lower()


def base_path() -> str:
    """Return the path below which the app lies, without the slashes around it."""
    return str(st.get_option("server.baseUrlPath")).strip("/")


@cache
def in_network() -> str:
    """Return the address by this machine's name, for others in its network; empty if it listens to this one alone."""
    host, port = str(st.get_option("server.address") or ""), st.get_option("server.port")
    return f"http://{socket.gethostname()}:{port}" if host in EVERYBODY else ""


def address_for_others(scheme: str, host: str) -> str:
    """Return the address at which other devices find what a browser found at a host, as far as that is known."""
    return (in_network() if _name_in(host) in _THIS_MACHINE else "") or f"{scheme}://{host}"


def framed_by(wanted: str) -> str:
    """Return who may show the app in a frame, as a Content-Security-Policy says it; ``wanted`` is the variable's text.

    Raises:
        SystemExit: it contains something that is not an address.
    """
    words = wanted.split() or ["self"]
    for word in words:
        if not re.fullmatch(r"[\w.:/*\[\]-]+", word, re.ASCII):
            raise SystemExit(
                f"{FRAME_VARIABLE}: {word!r} is no address. Give addresses such as https://school.example with "
                "spaces between them, or self, none or *."
            )
    return " ".join(f"'{word}'" if word in ("self", "none") else word for word in words)
