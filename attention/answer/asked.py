"""Answer requests for a page and for its files and numbers, each identified by the page's link.

Nothing is kept between requests: any copy of the server, even after a restart, gives the same answer.
"""

from __future__ import annotations

import gzip
import logging
import re
import traceback
from collections.abc import Callable, Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from attention.core.messages import message
from attention.page.page import Page
from attention.page.pages import BY_ADDRESS, PAGES

# Make a response from a page, the rest of the path and the page's link; None if it does not exist.
Give = Callable[[Page, str, Mapping[str, str]], Response | None]

# The gzip level: the highest saves another 2 %, and takes nearly twice as long.
PACKED = 4

# In bytes: enough for a text to learn from and everything that a browser remembers.
MAX_BODY = 2**21

_BY_NAME = {page.name: page for page in PAGES}
_LOGGER = logging.getLogger(__name__)


def answer(give: Give, method: str, path: str, link: Mapping[str, str], headers: Mapping[str, str]) -> Response:
    """Answer a request for a page's file or numbers; the path begins with the page's name."""
    name, _, rest = path.partition("/")
    page = _BY_NAME.get(name)
    if page is None or not rest:
        return _not_found()
    return _respond(partial(give, page, rest, link), "GET", method, path, headers)


def answer_page(method: str, address: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
    """Answer a request for a page; ``body`` is None if it was too long."""
    from attention.answer import asked_page

    page = BY_ADDRESS.get(address)
    if page is None:
        return _not_found()
    if body is None:
        return PlainTextResponse("Content Too Large", status_code=413)
    return _respond(partial(asked_page.give, page, body), "POST", method, address, headers)


async def body_of(request: Request) -> bytes | None:
    """Return a request's body; None if it is too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            return None
    return bytes(body)


def _not_found() -> Response:
    return PlainTextResponse(message("There is nothing here."), status_code=404)


def _respond(
    give: Callable[[], Response | None], wanted: str, method: str, path: str, headers: Mapping[str, str]
) -> Response:
    if method != wanted:
        return PlainTextResponse("Method Not Allowed", status_code=405)
    # Another site must not make a model run; typing the address or opening a bookmark is allowed.
    site, is_visit = headers.get("sec-fetch-site", "same-origin"), headers.get("sec-fetch-mode") == "navigate"
    if site != "same-origin" and not (site == "none" and is_visit):
        return PlainTextResponse("Forbidden", status_code=403)
    try:
        given = give()
    except Exception as error:
        # Without its message, which may quote the user's text.
        kind = type(error).__name__
        _LOGGER.error("%.100r failed with %s:\n%s", path, kind, "".join(traceback.format_tb(error.__traceback__)))
        return PlainTextResponse("Internal Server Error", status_code=500)
    if given is None:
        return PlainTextResponse("Gone", status_code=410)
    given.headers["Cache-Control"] = "no-store"
    if given.media_type == JSONResponse.media_type and takes_gzip(headers.get("accept-encoding", "")):
        given.body = gzip.compress(given.body, compresslevel=PACKED, mtime=0)
        given.headers.update({"Content-Encoding": "gzip", "Content-Length": str(len(given.body))})
    return given


def takes_gzip(accepted: str) -> bool:
    """Tell whether a browser accepts gzip, from its Accept-Encoding header.

    >>> takes_gzip("gzip, deflate, br"), takes_gzip("gzip;q=0, br"), takes_gzip("")
    (True, False, False)
    """
    named = (each.strip().lower().replace(" ", "") for each in accepted.split(","))
    return any(each.partition(";")[0] == "gzip" and not re.fullmatch(r"gzip;q=0(\.0*)?", each) for each in named)
