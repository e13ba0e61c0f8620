"""A page as a file and as a worksheet."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.messages import message
from attention.export.worksheet import Worksheet, worksheet_of
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.page import pages
from attention.page.content.pane import Pane, proven
from attention.page.content.registry import CONTENTS, title_of
from attention.page.page_file import page
from attention.page.settings import HEAD
from attention.page.view import View


def page_file(view: View, panes: Sequence[Pane]) -> str:
    """Return a page as one file, with everything opened, and with the proof."""
    content = CONTENTS[view.page]
    blocks = (*content.above(view, panes), *content.make(view, panes, whole=True), *proven(view, panes))
    title, place = title_of(view, panes)
    return page(title, f"{view.page.title}\n{place}".strip(), blocks, view.arranged)


def worksheet(view: View, pane: Pane, scene: HeadContext, small: HeadContext, notes: tuple[str, ...] = ()) -> Worksheet:
    """Return the worksheet of a page's scene; its tasks are about a ``small`` head.

    Raises:
        ValueError: the page has no worksheet.
    """
    page = view.page
    sheet = CONTENTS[page].sheet
    if sheet is None:
        raise ValueError(f"page must have a worksheet, got {page.address!r}")
    notes = (*notes, *pane.notices, *left_out(view, pane))
    # Only this pane's text, even if the page has a second one.
    text, place = title_of(CONTENTS[page].run_as(view).for_page(pages.STEP_BY_STEP), [pane])
    return worksheet_of(step_of(sheet(view)), scene, small, text=text, place=place, notes=notes)


def left_out(view: View, pane: Pane) -> tuple[str, ...]:
    """Return notes on the omissions of worksheet and notebooks, and on the head they show if the page has none."""
    found = [message("Settings of the lab are not included.")] if view.page in pages.OF_LABS.values() else []
    if pane.scene is not None and HEAD in CONTENTS[view.page].idle(view, [pane]):
        found.append(
            message(
                "This file shows layer {layer}, head {head}. For others, open Step by step.",
                layer=pane.scene.layer + 1,
                head=pane.scene.head + 1,
            )
        )
    return tuple(found)
