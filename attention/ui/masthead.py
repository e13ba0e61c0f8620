"""The head of every page: its title in the tab, the way between pages, and the link to share."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.messages import message
from attention.pages import MODELS, PAGES, Page
from attention.settings import GET
from attention.ui import markup, share, state
from attention.ui.downloads import of_page
from attention.view import View

__all__ = ["masthead", "notices"]


def masthead(page: Page, opening: Callable[[View], View] | None = None) -> View:
    """Set the page up, read its view, and draw the way to the other pages, which takes the view along.

    ``opening`` chooses what a link leaves open.
    """
    title = page.tab or page.title
    st.set_page_config(
        page_title=message("{title} · attention step by step", title=title), page_icon="🔎", layout="wide"
    )
    view = state.open_page(page, opening)
    taken = state.taken_along()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masthead"):
        for each in PAGES:
            st.page_link(each.file, label=each.title, query_params=taken.on(each).to_query())
        share.copy_link()
        of_page(view)
    return view


def notices() -> None:
    """Say what is wrong with the link or the text; a model that is not here may be fetched."""
    for sentence in state.notices():
        markup.notice(sentence)
    wanted = state.wanted_model()
    if wanted:
        query = state.current().on(MODELS).having(GET, wanted).to_query()
        with st.container(key="way_in_models"):
            st.page_link(
                MODELS.file,
                label=message("Look for {wanted} among the models ▸", wanted=markup.plain(wanted)),
                query_params=query,
            )
