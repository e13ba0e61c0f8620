"""Files to download, made on demand from what is found again by its key.

A session keeps the callback that makes a file as long as the button is there, and longer. So it refers only to names
(see ``Address``), never to the numbers themselves, which would stay in memory with it.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import PurePath

import streamlit as st

from attention.address import Address
from attention.blocks import Download, walk
from attention.blocks import Table as TableBlock
from attention.content.registry import CONTENTS, page_file
from attention.export import explanation
from attention.lesson.tables import to_csv
from attention.messages import message
from attention.models import ModelUnavailableError, get_info, list_models
from attention.pages import Page
from attention.ui.cache import ModelFailedError, scene_at, turns
from attention.ui.running import again, load_silently, run
from attention.view import View

__all__ = ["GoneError", "Table", "csv_button", "of_block", "of_page"]

_MIMES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".npz": "application/octet-stream",
}
_LOGGER = logging.getLogger(__name__)

Table = Mapping[str, Sequence[object]]


class GoneError(Exception):
    """What a file is made from is no longer in memory; the message says what to do."""


def csv_button(name: str, make: Callable[..., Table], *addresses: Address, key: str | None = None) -> None:
    """Offer a table as CSV; ``make`` is called with the scenes at the addresses, and refers only to names.

    A cell that is None is written as an empty one. If the scenes are no longer there, the file says so.
    """
    file_name = f"{name}.csv"
    _offer(file_name, file_name, partial(_of_scenes, make, addresses), key)


def of_block(label: str, file_name: str, view: View, addresses: Sequence[Address], block: str, *, key: str) -> None:
    """Offer the file of a block on a page; its content is made on demand, from the same runs."""
    _offer(label, file_name, partial(_of_block, view, addresses, block), key)


def of_page(page: Page, current: Callable[[], View]) -> None:
    """Offer a page as a file that needs no server, if the page is made of blocks; ``current`` returns its view."""
    if page in CONTENTS:
        name = f"{page.address.replace('_', '-')}.html"
        told = message("Download this page: a file that needs no network")
        _offer(message("Download"), name, partial(_of_page, current), "page_file", told)


def _offer(
    label: str, file_name: str, make: Callable[[], str | bytes], key: str | None, told: str | None = None
) -> None:
    """Offer a file; the function that makes it refers only to names."""
    data = partial(_made, file_name, make)
    st.download_button(
        label,
        data=data,
        file_name=file_name,
        mime=_MIMES[PurePath(file_name).suffix],
        key=key,
        on_click="ignore",
        help=told,
    )


def _of_scenes(make: Callable[..., Table], addresses: Sequence[Address]) -> bytes:
    return _csv(make(*map(scene_at, addresses)))


def _of_block(view: View, addresses: Sequence[Address], key: str) -> str | bytes:
    blocks = CONTENTS[view.page].make(view, again(addresses))
    offered = {block.key: block for block in walk(blocks) if isinstance(block, TableBlock)}
    if key in offered:
        return _csv(offered[key].make())
    block = next(block for block in walk(blocks) if isinstance(block, Download) and block.file == key)
    with turns() if block.is_long else nullcontext():
        return block.make()


def _of_page(current: Callable[[], View]) -> str:
    view = current()
    if view.model not in {info.model_id for info in list_models()}:
        raise GoneError(message("{model_id} is no longer here.", model_id=view.model))
    reading = get_info(view.model).reading
    if reading.is_empty(view.text):
        raise GoneError(reading.invitation)
    return page_file(view, run(CONTENTS[view.page].run_as(view), load_silently))


def _csv(table: Table) -> bytes:
    written = {title: ["" if cell is None else str(cell) for cell in column] for title, column in table.items()}
    # With the byte order mark, by which spreadsheets recognise UTF-8.
    return to_csv(written).encode("utf-8-sig")


def _made(file_name: str, make: Callable[[], str | bytes]) -> str | bytes:
    """Make a file or, if that fails, a file of the same kind that says why: there is no other way to tell the user."""
    try:
        return make()
    except (GoneError, ModelUnavailableError, ModelFailedError) as error:
        reason = str(error)
    except Exception as error:
        # Without its message, which may quote what was typed.
        kind = type(error).__name__
        _LOGGER.error("%s failed with %s:\n%s", file_name, kind, "".join(traceback.format_tb(error.__traceback__)))
        reason = message("Something went wrong ({kind}).", kind=kind)
    return explanation(file_name, message("This file could not be made. {reason}", reason=reason))
