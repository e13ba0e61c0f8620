"""The numbers of a large picture, which a browser requests when it needs them.

Their address is the page's link, the picture's key and a fingerprint of the numbers, which differs if the model or the
picture has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

from starlette.responses import Response

from attention.answer.files import NUMBERS
from attention.answer.running import is_unread, load_silently, run_page
from attention.figures.large import AskAt, Large
from attention.models import by_id
from attention.page.blocks import Picture, walk
from attention.page.content.registry import CONTENTS
from attention.page.page import Page
from attention.page.view import View


def where(view: View, key: str) -> AskAt:
    """Return the function that gives the address of a picture's numbers by fingerprint."""
    return partial(_address, view, key)


def _address(view: View, key: str, fingerprint: str) -> str:
    return f"./{NUMBERS}/{view.page.name}/{key}/{fingerprint}?{urlencode(view.to_query())}"


def give(page: Page, rest: str, link: Mapping[str, str]) -> Response | None:
    """Return a picture's numbers; ``rest`` is the picture's key and the numbers' fingerprint."""
    key, _, fingerprint = rest.partition("/")
    figure = _find(page, key, link)
    if figure is None:
        return None
    if figure.fingerprint != fingerprint:
        # A growing picture has other numbers by now. Browsers report an error status in their console.
        return Response(status_code=204)
    return Response(figure.numbers, media_type="application/octet-stream")


def _find(page: Page, key: str, link: Mapping[str, str]) -> Large | None:
    models = by_id()
    view, _ = View.from_query(link, page, models)
    if is_unread(view):
        return None
    panes = run_page(view, load_silently)
    for block in walk(CONTENTS[page].make(view, panes)):
        if isinstance(block, Picture) and block.key == key and isinstance(block.figure, Large):
            return block.figure
    return None
