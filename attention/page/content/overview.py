"""All pages of a group as cards: a thumbnail, the purpose, and the time needed."""

from __future__ import annotations

from collections.abc import Sequence

from attention.page.blocks import Blocks, Section, Way
from attention.page.content.pane import Pane
from attention.page.pages import PAGES
from attention.page.view import View


def content(view: View, _panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return a card for each other page of the group; a ``whole`` page has no links."""
    others = [page for page in PAGES if page.group == view.page.group and page is not view.page]
    cards = tuple(
        Way(f"card_{page.name}", page.title, page, view.for_page(page).to_query(), is_card=True) for page in others
    )
    return () if whole else (Section("cards", cards),)
