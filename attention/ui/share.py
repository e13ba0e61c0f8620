"""The button that copies the page's link, for those who do not think of the address bar."""

from __future__ import annotations

from streamlit.components.v2 import component

from attention.figures import assets

__all__ = ["copy_link"]

_SHARE = component("attention_share", css=assets.css("share"), js=assets.read("base.js", "share.js"))


def copy_link() -> None:
    """Draw the button; the link is read when it is pressed, and holds all that is to be seen then."""
    _SHARE(key="share")
