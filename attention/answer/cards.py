"""The card for a link to a page: a small picture, its purpose, and its duration."""

from __future__ import annotations

from typing import Any

from attention.answer.files import thumbnail
from attention.core.messages import messages
from attention.page.page import Page


def card(page: Page) -> dict[str, Any]:
    """Return a card's text, duration and pictures (None if there are none)."""
    minutes = messages("{n} minute", "{n} minutes", page.minutes) if page.minutes else ""
    return {"text": page.purpose, "minutes": minutes, "pictures": thumbnail(page.name)}
