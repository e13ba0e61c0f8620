"""The theme that begins every run of a page, made once.

Streamlit collects it anew with every run, out of six sections of options, although none of them changes while the
server runs: that takes a twentieth of the time of a step. There is no public way to keep it, so this patches a private
function of the pinned version.
"""

from __future__ import annotations

from functools import cache

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

__all__ = ["keep_theme"]

_populate = app_session._populate_theme_msg


def keep_theme() -> None:
    """Make every run of a page begin with the theme as it was first read."""
    app_session._populate_theme_msg = _put_in


def _put_in(msg: CustomThemeConfig, section: str = "theme") -> None:
    """Put the theme of a section into a message; without any option, nothing is touched, as Streamlit does it."""
    theme = _theme(section)
    if theme.ByteSize():
        msg.MergeFrom(theme)


@cache
def _theme(section: str) -> CustomThemeConfig:
    theme = CustomThemeConfig()
    _populate(theme, section)
    return theme
