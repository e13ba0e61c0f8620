"""A page's files: its tables, its pictures, and the page itself, made on request.

A file's address is the page's link, the key of its block and its name, so a link gives everyone the same file, without
session state. If a model's revision has changed since the page was drawn, the file says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import quote, urlencode

from starlette.responses import Response

from attention.answer import downloads
from attention.answer.downloads import GoneError, ending_of
from attention.answer.files import FILES
from attention.answer.hosts import FRAME_VARIABLE, framed_by
from attention.answer.running import is_unread, load_silently, run_one, run_page
from attention.answer.slots import computing, one_request
from attention.core.messages import message
from attention.export.notebooks import NOTEBOOKS
from attention.export.of_page import left_out, page_file, worksheet
from attention.export.worksheet import POLICY, can_be_done, paper, worth_computing
from attention.lesson.head_context import HeadContext
from attention.models import ModelInfo, by_id
from attention.models.bundled import TOY
from attention.page.blocks import Download, Table, walk
from attention.page.content.pane import Pane
from attention.page.content.registry import CONTENTS
from attention.page.page import Page
from attention.page.parameters import other_model
from attention.page.settings import OTHER, WORD
from attention.page.view import View

# Instead of a fingerprint: the current models.
_NOW = "now"
# Instead of a block's key: the whole page, or its worksheet, which has two files.
_PAGE, _WORKSHEET = "page", "worksheet"
_WITH_SOLUTIONS, _WITHOUT = "worksheet.html", "worksheet-without-solutions.html"
# In head 3 of the toy, most tokens spread their weight over several others.
_HEAD_BY_HAND = 2


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    content: str | bytes = field(repr=False)


def where(view: View, key: str, name: str) -> str:
    """Return the address of a block's file, relative to any page, for the current models."""
    fingerprint = _fingerprint(view, by_id())
    return f"./{FILES}/{view.page.name}/{fingerprint}/{quote(key)}/{quote(name)}?{urlencode(view.to_query())}"


def of_page(page: Page) -> str:
    """Return the address of a page as a self-contained file; the browser appends its own link."""
    return _current_address(page, _PAGE, _named_after(page, ".html"))


def notebooks_of(page: Page) -> dict[str, str]:
    """Return the address of each notebook that opens the page's head, by label; the browser appends its own link."""
    if not _has_one_head(page):
        return {}
    return {notebook.label: _current_address(page, key, notebook.file) for key, notebook in NOTEBOOKS.items()}


def _current_address(page: Page, key: str, name: str) -> str:
    return f"./{FILES}/{page.name}/{_NOW}/{key}/{name}"


def worksheet_of(page: Page) -> str:
    """Return the address of a page's worksheet with solutions; the browser appends its own link.

    Empty if the page has none, because it is not about one head on one text.
    """
    return _current_address(page, _WORKSHEET, _WITH_SOLUTIONS) if _has_one_head(page) else ""


def _has_one_head(page: Page) -> bool:
    return page in CONTENTS and CONTENTS[page].sheet is not None


def give(page: Page, rest: str, link: Mapping[str, str], *, root: str = "") -> Response | None:
    """Return a file of a page; ``rest`` is the models' fingerprint, the block's key and the file's name.

    ``root`` is the app's address, for files that contain the address of their view.
    """
    fingerprint, _, rest = rest.partition("/")
    key, _, name = rest.partition("/")
    ending = ending_of(name)
    if ending is None:
        return None
    # Never name a response after the link: an explanation is named after the page.
    explained = _named_after(page, ending)
    with one_request():
        made = downloads.made(explained, partial(_file, page, fingerprint, key, name, link, root))
    if made is None:
        return None
    file = made if isinstance(made, _File) else _File(explained, made)
    said = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    if key == _WORKSHEET:
        # It is viewed before it is printed.
        policy = f"{POLICY}; frame-ancestors {framed_by(os.environ.get(FRAME_VARIABLE, ''))}"
        said = {"Content-Disposition": f'inline; filename="{file.name}"', "Content-Security-Policy": policy}
    return Response(file.content, media_type=downloads.mime_of(file.name), headers=said)


def _named_after(page: Page, ending: str) -> str:
    return f"{page.name.replace('_', '-')}{ending}"


def _file(page: Page, fingerprint: str, key: str, name: str, link: Mapping[str, str], root: str) -> _File | None:
    """Return the page's file with this key and name (None if unknown), or raise GoneError."""
    models = by_id()
    wanted = link.get("model", "")
    if wanted and wanted not in models:
        raise GoneError(message("{model_id} is no longer here.", model_id=wanted))
    content = CONTENTS[page]
    view = content.opening(View.from_query(link, page, models)[0])
    if is_unread(view):
        raise GoneError(models[view.model].reading.invitation)
    if fingerprint not in (_NOW, _fingerprint(view, models)):
        name_of = models[view.model].name
        raise GoneError(message("The files of {name} have changed. Reload the page.", name=name_of))
    panes = run_page(view, load_silently)
    if (key, name) == (_PAGE, _named_after(page, ".html")):
        return _File(name, page_file(view, panes))
    if key in NOTEBOOKS and name == NOTEBOOKS[key].file and _has_one_head(page):
        return _File(name, _notebook(view, key, panes[0]))
    if key == _WORKSHEET and name in (_WITH_SOLUTIONS, _WITHOUT):
        return _File(name, _worksheet(view, panes[0], root, with_solutions=name == _WITH_SOLUTIONS))
    for block in walk(content.make(view, panes)):
        if isinstance(block, Table) and (block.key, f"{block.file}.csv") == (key, name):
            return _File(name, downloads.csv_of(block.make()))
        if isinstance(block, Download) and block.file == key == name:
            with computing() if block.is_long else nullcontext():
                return _File(name, block.make())
    return None


def _notebook(view: View, key: str, pane: Pane) -> str:
    try:
        with computing():
            return NOTEBOOKS[key].written(pane, left_out(view, pane))
    except ValueError as reason:
        raise GoneError(str(reason)) from None


def _worksheet(view: View, pane: Pane, root: str, *, with_solutions: bool) -> str:
    """Return a page's worksheet with a link to its other version, or raise GoneError."""
    if CONTENTS[view.page].sheet is None:
        raise GoneError(message("{page} has no worksheet. Open one from Step by step.", page=view.page.title))
    scene = pane.scene
    if scene is None:
        raise GoneError(" ".join(pane.notices) if pane.reason is None else str(pane.reason))
    notes: tuple[str, ...] = ()
    small = scene
    if not can_be_done(scene):
        found = _small(view, scene)
        small = replace(found, word=worth_computing(found), cell=None)
    elif (word := worth_computing(scene)) != scene.word:
        # The whole sheet is about a better token.
        notes = (_moved(scene, word),)
        view = view.with_value(WORD, word)
        pane = run_page(view, load_silently)[0]
        small = scene = pane.scene or scene
    sheet = worksheet(view, pane, scene, small, notes)
    other, query = _WITHOUT if with_solutions else _WITH_SOLUTIONS, urlencode(view.to_query())
    address = f"{root}{view.page.address}?{query}" if root else ""
    return paper(sheet, with_solutions=with_solutions, other=f"./{other}?{query}", address=address)


def _moved(scene: HeadContext, word: int) -> str:
    before, after = scene.names[scene.word], scene.names[word]
    # The reason would answer questions on the sheet about these weights.
    return message("About “{after}”, which makes a better exercise than “{before}”.", after=after, before=before)


def _small(view: View, scene: HeadContext) -> HeadContext:
    """Return a head of the toy, on the same text if the toy can read it, otherwise on its first example."""
    info, own = TOY.info, View.of(text=TOY.info.reading.first)
    texts = [view, own] if scene.info.reading.is_same(info.reading) else [own]
    for each in texts:
        wanted = (
            each.replaced(OTHER.layer, info.default_layer)
            .replaced(OTHER.head, _HEAD_BY_HAND)
            .replaced(OTHER.cell, None)
        )
        found = run_one(wanted, info, load_silently, is_other=True, main=scene if each is view else None).scene
        if found is not None:
            return found
    raise GoneError(message("Couldn't run the toy."))


def _fingerprint(view: View, models: Mapping[str, ModelInfo]) -> str:
    shown = [view.model, *([other_model(view.model, models)] if view.beside else [])]
    told = repr([models[model].revision for model in shown])
    return hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
