"""What a link to a page shows of it: a small picture, its purpose, and how long it takes."""

from __future__ import annotations

from typing import Any

from attention.answer.files import thumbnail
from attention.core.messages import messages
from attention.page.page import Page

__all__ = ["card"]


def card(page: Page) -> dict[str, Any]:
    """Return what a card of a page shows beside its title; its pictures are None where there are none."""
    minutes = messages("{n} minute", "{n} minutes", page.minutes) if page.minutes else ""
    return {"text": page.purpose, "minutes": minutes, "pictures": thumbnail(page.name)}
