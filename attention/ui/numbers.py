"""The numbers of a large matrix, which is sent in shades: a browser asks for them when somebody points at it.

Their address is the link of the page, the key of the picture and a fingerprint of the numbers. So nothing is kept for
it: whoever asks, on whichever copy of the server and after a restart too, is answered out of the same run, made anew
if need be; and where another model or another picture is found there by now, the fingerprint tells.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlencode

from starlette.responses import PlainTextResponse, Response

from attention.blocks import Picture, walk
from attention.content.registry import CONTENTS
from attention.figures.matrix import Matrix
from attention.models import list_models
from attention.pages import PAGES, Page
from attention.ui.files import NUMBERS
from attention.ui.running import load_silently, run
from attention.view import View

__all__ = ["answer", "where"]

_LOGGER = logging.getLogger(__name__)


def where(view: View, key: str) -> Callable[[str], str] | None:
    """Return what gives the address of a fingerprint's numbers, from the page; None where a page is not made anew."""
    return partial(_address, view, key) if view.page in CONTENTS else None


def _address(view: View, key: str, fingerprint: str) -> str:
    return f"./{NUMBERS}/{view.page.address}/{key}/{fingerprint}?{urlencode(view.to_query())}"


def answer(method: str, path: str, link: Mapping[str, str], headers: Mapping[str, str]) -> Response:
    """Answer who asks for numbers: by the page, the picture and the fingerprint in the path, and the page's link."""
    address, _, rest = path.partition("/")
    key, _, fingerprint = rest.partition("/")
    pages = {page.address: page for page in PAGES if page in CONTENTS}
    if address not in pages or not fingerprint:
        return PlainTextResponse("Not Found", status_code=404)
    if method != "GET":
        return PlainTextResponse("Method Not Allowed", status_code=405)
    # A page of somebody else's is not to have a model run.
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return PlainTextResponse("Forbidden", status_code=403)
    try:
        matrix = _find(pages[address], key, link)
    except Exception as error:
        # Without its message, which may quote what was typed.
        kind = type(error).__name__
        _LOGGER.error("%s failed with %s:\n%s", key, kind, "".join(traceback.format_tb(error.__traceback__)))
        return PlainTextResponse("Internal Server Error", status_code=500)
    if matrix is None or matrix.fingerprint != fingerprint:
        return PlainTextResponse("Gone", status_code=410)
    return Response(matrix.numbers, media_type="application/octet-stream", headers={"Cache-Control": "no-store"})


def _find(page: Page, key: str, link: Mapping[str, str]) -> Matrix | None:
    """Make the page of a link anew, and return the matrix in it that has this key, if there is one."""
    models = {info.model_id: info for info in list_models()}
    view, _ = View.from_query(link, page, models)
    if models[view.model].reading.is_empty(view.text):
        return None
    content = CONTENTS[page]
    panes = run(content.run_as(view), load_silently)
    for block in walk(content.make(view, panes)):
        if isinstance(block, Picture) and block.key == key and isinstance(block.figure, Matrix):
            return block.figure
    return None
