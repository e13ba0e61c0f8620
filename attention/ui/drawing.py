"""Blocks drawn with Streamlit: the one place where content becomes a page of the app.

A session keeps the callbacks for presses for a while, so they refer to names and sizes only, never to the numbers
themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import streamlit as st

from attention.blocks import (
    Block,
    Blocks,
    Code,
    Fold,
    Panels,
    Row,
    Section,
)
from attention.ui import choices, sheet, state
from attention.ui.components import Part, mount
from attention.ui.sheet import is_for_sheet, with_words
from attention.view import View

__all__ = ["Laid", "Placed", "draw", "lay", "outline", "parts_of", "show"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A block that Streamlit draws, with its place and what is inside it."""

    block: Block
    place: str
    inside: tuple[Laid, ...] = ()


# What is laid out on a page: components of ours, and what Streamlit draws.
Laid = tuple[Part | Placed, ...]


def draw(blocks: Blocks, view: View, place: str = "page") -> None:
    """Draw blocks, which are a page's content or a part of it: at each ``place``, once."""
    show(lay(blocks, view, place))


def lay(blocks: Blocks, view: View, place: str = "page") -> Laid:
    """Lay blocks out: those that need no widget of Streamlit's and follow one another are written on one sheet."""
    laid: list[Part | Placed] = []
    n_sheets = 0
    for is_sheet, run in groupby(blocks, is_for_sheet):
        if is_sheet:
            n_sheets += 1
            laid.append(sheet.written(run, view, f"sheet_{place}_{n_sheets}"))
            continue
        for index, block in enumerate(run):
            at = f"{place}_{n_sheets}_{index}"
            inside = tuple(lay(inner, view, name) for inner, name in _inside(block, at))
            laid.append(Placed(block, at, inside))
    return tuple(laid)


def _inside(block: Block, place: str) -> Iterator[tuple[Blocks, str]]:
    """Yield what is drawn inside a block, with its places."""
    match block:
        case Panels():
            yield (block.choice,), f"{block.key}_choice"
            yield block.contents[block.value], block.key
        case Fold():
            yield block.blocks, block.key
        case Section():
            yield with_words(block), block.key
        case Row():
            yield from ((column, f"{place}_{index}") for index, column in enumerate(block.columns))


def show(laid: Laid) -> None:
    """Draw what is laid out."""
    for each in laid:
        if isinstance(each, Part):
            mount(each)
        else:
            _DRAWERS[type(each.block)](each.block, each)


def parts_of(laid: Laid) -> Iterator[Part]:
    """Yield all components of ours that are laid out."""
    for each in laid:
        if isinstance(each, Part):
            yield each
        else:
            for inner in each.inside:
                yield from parts_of(inner)


def outline(laid: Laid) -> str:
    """Return a fingerprint of all that is laid out but what is in components of ours; "" of what may not be the same.

    Where it is the same for two views, the one page becomes the other as soon as its components draw other data.
    """
    told = _outline(laid)
    return "" if told is None else hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _outline(laid: Laid) -> str | None:
    told = []
    for each in laid:
        if isinstance(each, Part):
            told.append(f"{each.name} {each.key}")
            continue
        own = _OUTLINES.get(type(each.block), lambda _: None)(each.block)
        inner = [_outline(laid) for laid in each.inside]
        if own is None or None in inner:
            return None
        told.append(f"{type(each.block).__name__} {each.place} {own} {inner}")
    return "\n".join(told)


_OUTLINES: Mapping[type[Block], Callable[[Any], object]] = {
    Code: lambda block: (block.source, block.language),
    Panels: lambda block: (block.key, block.value),
    Fold: lambda block: (block.key, block.title, block.is_open),
    Row: lambda block: (block.widths, block.gap),
    Section: lambda block: (block.key, block.is_framed, block.is_line),
}


def _code(block: Code, _: Placed) -> None:
    st.code(block.source, language=block.language)


def _panels(block: Panels, placed: Placed) -> None:
    with st.container(key=f"{block.key}_open"):
        _all(placed)


def _fold(block: Fold, placed: Placed) -> None:
    place = choices.opening(block, state.current())
    if place is not None:
        with place:
            _all(placed)


def _row(block: Row, placed: Placed) -> None:
    places = st.columns(len(block.columns) if block.widths is None else block.widths, gap=block.gap)
    for column, laid in zip(places, placed.inside, strict=True):
        with column:
            show(laid)


def _section(block: Section, placed: Placed) -> None:
    look: dict[str, Any] = {"horizontal": True, "vertical_alignment": "bottom"} if block.is_line else {}
    with st.container(key=block.key, border=block.is_framed, **look):
        _all(placed)


def _all(placed: Placed) -> None:
    for laid in placed.inside:
        show(laid)


# The rest is on sheets.
_DRAWERS: Mapping[type[Block], Callable[[Any, Placed], None]] = {
    Code: _code,
    Panels: _panels,
    Fold: _fold,
    Row: _row,
    Section: _section,
}
