"""Blocks drawn with Streamlit: the one place where content becomes a page of the app.

A session keeps the callbacks for presses and files for a while, so they refer to names and sizes only, never to the
numbers themselves. The callback for a file knows the view, and makes the page's content again on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import streamlit as st

from attention.address import Address
from attention.blocks import (
    Block,
    Blocks,
    Code,
    Download,
    Fold,
    Formula,
    Heading,
    Notice,
    Panels,
    Picture,
    Prose,
    Proven,
    Row,
    Section,
    Setting,
    Shapes,
    Table,
    Way,
    rows_of,
)
from attention.figures.touch import Parts
from attention.messages import message
from attention.models import list_models
from attention.parameters import Context, Parameter, read
from attention.ui import choices, components, markup, numbers, state
from attention.ui.downloads import of_block
from attention.view import View

__all__ = ["Source", "draw"]


@dataclass(frozen=True, slots=True)
class Source:
    """What blocks were made from, in names: the view, and the addresses at which the runs of its panes are found."""

    view: View
    addresses: tuple[Address, ...] = ()


def draw(blocks: Blocks, source: Source) -> None:
    """Draw blocks, which are a page's content or a part of it."""
    for block in blocks:
        _DRAWERS[type(block)](block, source)


def _heading(block: Heading, _: Source) -> None:
    (st.header if block.level == 2 else st.subheader)(block.text, anchor=block.anchor or False)


def _formula(block: Formula, _: Source) -> None:
    st.latex(block.latex)


def _prose(block: Prose, _: Source) -> None:
    markup.prose(block.html, is_detail=block.kind == "detail", is_aside=block.kind == "aside")


def _notice(block: Notice, _: Source) -> None:
    if block.is_quiet:
        st.caption(markup.plain(block.sentence))
    else:
        markup.notice(block.sentence)


def _shapes(block: Shapes, _: Source) -> None:
    markup.shapes_line(block.line)


def _code(block: Code, _: Source) -> None:
    st.code(block.source, language=block.language)


def _picture(block: Picture, source: Source) -> None:
    sets = tuple(block.sets.items())
    take = partial(_take, sets, block.clears, block.only_while) if sets else None
    ask_at = numbers.where(source.view, block.key)
    key = block.place or block.key
    components.figure(block.figure, key=key, take=take, is_selectable=block.is_selectable, ask_at=ask_at)


def _take(
    sets: Sequence[tuple[str, Parameter[Any]]],
    clears: Sequence[Parameter[Any]],
    only_while: Sequence[tuple[Parameter[Any], Any]],
    parts: Parts,
) -> None:
    """Take a press, and set what exists of it: another model may have been chosen just before."""
    view = state.current()
    if any(view[parameter] != wanted for parameter, wanted in only_while):
        return
    context = Context({info.model_id: info for info in list_models()}, view.model)
    chosen = []
    for part, parameter in sets:
        written = parts.get(part)
        value, problem = read(parameter, {} if written is None else {parameter.name: written}, context)
        if problem:
            return
        if part in parts:
            chosen.append((parameter, value))
    if chosen:
        state.set_all(chosen, clears)


def _table(block: Table, source: Source) -> None:
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


def _download(block: Download, source: Source) -> None:
    of_block(block.label, block.file, source.view, source.addresses, block.file, key=block.file)


def _setting(block: Setting, _: Source) -> None:
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


def _panels(block: Panels, source: Source) -> None:
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
    draw(block.contents[block.value], source)


def _fold(block: Fold, source: Source) -> None:
    if block.parameter is None:
        with st.expander(block.title, expanded=block.is_open):
            draw(block.blocks, source)
        return
    place = choices.opening(block.parameter, block.title, value=block.is_open, key=block.key)
    if place is not None:
        with place:
            draw(block.blocks, source)


def _way(block: Way, _: Source) -> None:
    with st.container(key=block.key):
        st.page_link(block.page.file, label=block.label, query_params=dict(block.query))


def _row(block: Row, source: Source) -> None:
    places = st.columns(len(block.columns) if block.widths is None else block.widths, gap=block.gap)
    for place, blocks in zip(places, block.columns, strict=True):
        with place:
            draw(blocks, source)


def _section(block: Section, source: Source) -> None:
    look: dict[str, Any] = {"horizontal": True, "vertical_alignment": "bottom"} if block.is_line else {}
    with (
        state.group(block.key) if block.are_choices else nullcontext(),
        st.container(key=block.key, border=block.is_framed, **look),
    ):
        if block.on_paper:
            markup.on_paper(block.on_paper)
        draw(block.blocks, source)


def _proven(block: Proven, _: Source) -> None:
    markup.proof_line(block.lines)


_DRAWERS: Mapping[type[Block], Callable[[Any, Source], None]] = {
    Heading: _heading,
    Formula: _formula,
    Prose: _prose,
    Notice: _notice,
    Shapes: _shapes,
    Code: _code,
    Picture: _picture,
    Table: _table,
    Download: _download,
    Setting: _setting,
    Panels: _panels,
    Fold: _fold,
    Way: _way,
    Row: _row,
    Section: _section,
    Proven: _proven,
}
