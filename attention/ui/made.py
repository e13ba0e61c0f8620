"""The files of a page that is made of blocks: its tables, its pictures, and the page itself, made when they are wanted.

The address of a file is the page's link, the key of its block and the file's name. So a link gives the same file to
everybody, and no session keeps anything for it. Where another revision of a model has come since the page was drawn,
the file says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from urllib.parse import quote, urlencode

from starlette.responses import Response

from attention.blocks import Download, Table, walk
from attention.content.notebooks import NOTEBOOKS
from attention.content.pane import Pane
from attention.content.registry import CONTENTS, page_file
from attention.messages import message
from attention.models import ModelInfo, list_models
from attention.pages import Page
from attention.parameters import other_model
from attention.ui import downloads
from attention.ui.cache import turns
from attention.ui.downloads import GoneError, is_file_name
from attention.ui.files import FILES
from attention.ui.gate import in_turn
from attention.ui.running import load_silently, run
from attention.view import View

__all__ = ["give", "notebooks_of", "of_page", "where"]

# In place of a fingerprint: whatever there is now.
_NOW = "now"
# In place of a block: all of the page.
_PAGE = "page"


def where(view: View, key: str, name: str) -> str:
    """Return the address of a block's file, from any page, as the models are that are here now."""
    fingerprint = _fingerprint(view, {info.model_id: info for info in list_models()})
    return f"./{FILES}/{view.page.address}/{fingerprint}/{quote(key)}/{quote(name)}?{urlencode(view.to_query())}"


def of_page(page: Page) -> str:
    """Return the address of a page as a file that needs no server; the browser puts its own link behind it."""
    return _now(page, _PAGE, f"{page.address.replace('_', '-')}.html")


def notebooks_of(page: Page) -> dict[str, str]:
    """Return the address of each notebook in which a page's head can be opened, by its label, in the same way."""
    if page not in CONTENTS or not CONTENTS[page].has_head:
        return {}
    return {notebook.label: _now(page, key, notebook.file) for key, notebook in NOTEBOOKS.items()}


def _now(page: Page, key: str, name: str) -> str:
    return f"./{FILES}/{page.address}/{_NOW}/{key}/{name}"


def give(page: Page, rest: str, link: Mapping[str, str]) -> Response | None:
    """Return a file of the page of a link; ``rest`` is the models' fingerprint, the block's key and the file's name."""
    fingerprint, _, rest = rest.partition("/")
    key, _, name = rest.partition("/")
    if not is_file_name(name):
        return None
    with in_turn():
        content = downloads.made(name, partial(_content, page, fingerprint, key, link))
    if content is None:
        return None
    said = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=downloads.mime_of(name), headers=said)


def _content(page: Page, fingerprint: str, key: str, link: Mapping[str, str]) -> str | bytes | None:
    """Return the content of a file, or None if the page has no such block.

    Raises:
        GoneError: a model is not here, or is another one by now, or there is nothing to read.
    """
    models = {info.model_id: info for info in list_models()}
    wanted = link.get("model", "")
    if wanted and wanted not in models:
        raise GoneError(message("{model_id} is no longer here.", model_id=wanted))
    view, _ = View.from_query(link, page, models)
    reading = models[view.model].reading
    if reading.is_empty(view.text):
        raise GoneError(reading.invitation)
    if fingerprint not in (_NOW, _fingerprint(view, models)):
        name_of = models[view.model].name
        raise GoneError(message("The files of {name} have changed since: load the page anew.", name=name_of))
    content = CONTENTS[page]
    panes = run(content.run_as(view), load_silently)
    if key == _PAGE:
        return page_file(view, panes)
    if key in NOTEBOOKS and content.has_head:
        return _notebook(key, panes[0])
    for block in walk(content.make(view, panes)):
        if isinstance(block, Table) and block.key == key:
            return downloads.csv_of(block.make())
        if isinstance(block, Download) and block.file == key:
            with turns() if block.is_long else nullcontext():
                return block.make()
    return None


def _notebook(key: str, pane: Pane) -> str:
    """Return a notebook.

    Raises:
        GoneError: there is nothing to show in it.
    """
    try:
        with turns():
            return NOTEBOOKS[key].written(pane)
    except ValueError as reason:
        raise GoneError(str(reason)) from None


def _fingerprint(view: View, models: Mapping[str, ModelInfo]) -> str:
    """Return what changes with the revision of any model of a view."""
    shown = [view.model, *([other_model(view.model, models)] if view.beside else [])]
    told = repr([models[model].revision for model in shown])
    return hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
