"""The button that copies the page's link, for those who do not think of the address bar."""

from __future__ import annotations

from attention.ui.files import component

__all__ = ["copy_link"]

_SHARE = component("share")


def copy_link() -> None:
    """Draw the button; the link is read when it is pressed, and holds all that is to be seen then."""
    _SHARE(key="share")
