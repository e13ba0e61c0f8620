"""This server's host names: the origins it accepts, and its address for other devices."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers

# Who may embed the app in a frame: addresses separated by spaces, "self", "none" or "*".
FRAME_VARIABLE = "ATTENTION_FRAME_ANCESTORS"
# The addresses of a server that listens on all interfaces.
EVERYBODY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
# One address per family that lies outside any local network: reserved for documentation (RFC 5737, RFC 3849). Nothing
# is sent to them.
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
# A host as browsers write it: a name or an address, with an optional port (RFC 3986, section 3.2).
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,253})(?::([0-9]{1,5}))?", re.ASCII)
_LAST_PORT = 65_535


def is_known(origin: str, host: str, named: Iterable[str]) -> bool:
    """Tell whether the server accepts requests from this origin: its own, or that of a named host."""
    scheme, _, found = origin.partition("://")
    name = _name_in(found)
    return scheme in ("http", "https") and name is not None and (found == host or name in named)


def named_hosts() -> set[str]:
    """Return the hosts, besides the server's own, whose pages this server accepts requests from."""
    named = [str(st.get_option("browser.serverAddress")), *map(str, st.get_option("server.corsAllowedOrigins"))]
    hosts = {urlsplit(each if "//" in each else f"//{each}").hostname or "" for each in named}
    return (hosts | {"localhost", "127.0.0.1"}) - {""}


def asked_host(headers: Headers) -> str:
    """Return the host that the browser requested, with its port, even behind a proxy; empty if there is none.

    A page cannot forge this header in another site's request, so it can be compared with the origin.
    """
    forwarded = headers.get("X-Forwarded-Host", "").partition(",")[0].strip()
    return next((host for host in (forwarded, headers.get("Host", "")) if _name_in(host) is not None), "")


def _name_in(host: str) -> str | None:
    """Return the lower-case name or address in a host, without its port; None if it is invalid."""
    found = _HOST.fullmatch(host)
    return None if found is None or int(found[2] or 0) > _LAST_PORT else found[1].strip("[]").lower()


def secret() -> str:
    """Return the secret that all copies of the server share, which is not in the database."""
    return str(st.get_option("server.cookieSecret"))


def base_path() -> str:
    """Return the path prefix of the app, without slashes at its ends."""
    return str(st.get_option("server.baseUrlPath")).strip("/")


def in_network() -> str:
    """Return this server's address in its network; empty if it listens only to this machine."""
    bound_to, port = str(st.get_option("server.address") or ""), st.get_option("server.port")
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{own_address() or socket.gethostname()}:{port}" if bound_to in EVERYBODY else ""


def own_address() -> str | None:
    """Return this machine's address in its network, for phones, which cannot resolve its name; None without a network.

    Connecting a datagram socket sends nothing, but gives it the address from which this machine would send. The result
    is not cached, because a laptop changes networks.
    """
    for family, elsewhere in _ELSEWHERE.items():
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((elsewhere, 9))
            found = ip_address(asked.getsockname()[0])
            # Other machines cannot reach a loopback or link-local address.
            if not (found.is_loopback or found.is_link_local or found.is_unspecified):
                return f"[{found}]" if found.version == 6 else str(found)
    return None


def address_for_others(scheme: str, host: str) -> str:
    """Return the address for other devices of a page that a browser opened at a host, as far as known."""
    return (in_network() if _name_in(host) in _THIS_MACHINE else "") or f"{scheme}://{host}"


def address_of_app(scheme: str, headers: Headers) -> str:
    """Return the app's address for others, with a slash at its end; empty if the request names no host."""
    host, path = asked_host(headers), f"/{base_path()}/".replace("//", "/")
    return f"{address_for_others(scheme, host)}{path}" if host else ""


def framed_by(wanted: str) -> str:
    """Return the frame ancestors for a Content-Security-Policy; raise SystemExit for anything but addresses."""
    words = wanted.split() or ["self"]
    for word in words:
        if not re.fullmatch(r"[\w.:/*\[\]-]+", word, re.ASCII):
            raise SystemExit(
                f"{FRAME_VARIABLE}: {word!r} is no address. Give addresses such as https://school.example with "
                "spaces between them, or self, none or *."
            )
    return " ".join(f"'{word}'" if word in ("self", "none") else word for word in words)
