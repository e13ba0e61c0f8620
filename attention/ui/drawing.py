"""Blocks drawn with Streamlit: the one place where content becomes a page of the app.

A session keeps the callbacks for presses and files for a while, so they refer to names and sizes only, never to the
numbers themselves. The callback for a file knows the view, and makes the page's content again on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import streamlit as st

from attention.address import Address
from attention.blocks import (
    Block,
    Blocks,
    Code,
    Download,
    Fold,
    Panels,
    Row,
    Section,
    Setting,
    Table,
    Way,
    rows_of,
)
from attention.messages import message
from attention.ui import choices, markup, sheet, state
from attention.ui.downloads import of_block
from attention.ui.sheet import is_for_sheet, with_words
from attention.view import View

__all__ = ["Source", "draw"]


@dataclass(frozen=True, slots=True)
class Source:
    """What blocks were made from, in names: the view, and the addresses at which the runs of its panes are found."""

    view: View
    addresses: tuple[Address, ...] = ()


def draw(blocks: Blocks, source: Source, place: str = "page") -> None:
    """Draw blocks, which are a page's content or a part of it: at each ``place``, once.

    Blocks that need no widget of Streamlit's and follow one another are drawn on one sheet.
    """
    n_sheets = 0
    for is_sheet, run in groupby(blocks, is_for_sheet):
        if is_sheet:
            n_sheets += 1
            sheet.draw(run, source.view, f"sheet_{place}_{n_sheets}")
            continue
        for index, block in enumerate(run):
            _DRAWERS[type(block)](block, source, f"{place}_{n_sheets}_{index}")


def _code(block: Code, _: Source, __: str) -> None:
    st.code(block.source, language=block.language)


def _table(block: Table, source: Source, _: str) -> None:
    columns = block.make() if block.is_shown else {}
    n_rows = rows_of(columns)
    if block.limit is not None and max(n_rows, len(columns)) > block.limit:
        markup.notice(
            message(
                "{file}: {size} numbers are too many to read here; take the CSV.",
                file=block.file,
                size=f"{n_rows} × {len(columns) - 1}",
            )
        )
    elif block.is_shown:
        width: Literal["content", "stretch"] = "content" if block.is_narrow else "stretch"
        if block.is_whole:
            markup.table(columns, width)
        else:
            st.dataframe(dict(columns), hide_index=True, key=block.key, width=width)
    if block.file:
        name = f"{block.file}.csv"
        of_block(name, name, source.view, source.addresses, block.key, key=f"{block.key}_csv")


def _download(block: Download, source: Source, _: str) -> None:
    of_block(block.label, block.file, source.view, source.addresses, block.file, key=block.file)


def _setting(block: Setting, _: Source, __: str) -> None:
    look: dict[str, Any] = {"key": block.key}
    if block.help:
        look["help"] = block.help
    if block.is_off:
        look["disabled"] = True
    if not block.options:
        choices.switch(block.parameter, block.label, **look)
        return
    labels = {option.value: option.label for option in block.options}
    if block.width is not None:
        look["width"] = block.width
    kind = choices.select if block.is_list else choices.one_of
    kind(block.parameter, block.label, list(labels), value=block.value, format_func=labels.__getitem__, **look)


def _panels(block: Panels, source: Source, _: str) -> None:
    labels = {option.value: option.label for option in block.options}
    choices.one_of(
        block.parameter,
        block.label,
        list(labels),
        value=block.value,
        key=block.key,
        format_func=labels.__getitem__,
        label_visibility="visible" if block.is_labelled else "collapsed",
    )
    draw(block.contents[block.value], source, block.key)


def _fold(block: Fold, source: Source, _: str) -> None:
    if block.parameter is None:
        with st.expander(block.title, expanded=block.is_open):
            draw(block.blocks, source, block.key)
        return
    place = choices.opening(block.parameter, block.title, value=block.is_open, key=block.key)
    if place is not None:
        with place:
            draw(block.blocks, source, block.key)


def _way(block: Way, _: Source, __: str) -> None:
    with st.container(key=block.key):
        st.page_link(block.page.file, label=block.label, query_params=dict(block.query))


def _row(block: Row, source: Source, place: str) -> None:
    places = st.columns(len(block.columns) if block.widths is None else block.widths, gap=block.gap)
    for index, (column, blocks) in enumerate(zip(places, block.columns, strict=True)):
        with column:
            draw(blocks, source, f"{place}_{index}")


def _section(block: Section, source: Source, _: str) -> None:
    look: dict[str, Any] = {"horizontal": True, "vertical_alignment": "bottom"} if block.is_line else {}
    with (
        state.group(block.key) if block.are_choices else nullcontext(),
        st.container(key=block.key, border=block.is_framed, **look),
    ):
        draw(with_words(block), source, block.key)


_DRAWERS: Mapping[type[Block], Callable[[Any, Source, str], None]] = {
    Code: _code,
    Table: _table,
    Download: _download,
    Setting: _setting,
    Panels: _panels,
    Fold: _fold,
    Way: _way,
    Row: _row,
    Section: _section,
}
