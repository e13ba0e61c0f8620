"""A Streamlit page: one component, which gets everything else from the server (:mod:`attention.answer.page`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from attention.answer.files import PAGES, stub
from attention.core.messages import message
from attention.page.page import Page


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("attention_page", js=stub("page"), isolate_styles=False)


def show(page: Page) -> None:
    """Show a page; the browser reads the address itself. Reruns change nothing."""
    title = message("{title} · attention step by step", title=page.tab or page.title)
    st.set_page_config(page_title=title, page_icon="🔎", layout="wide")
    _component()(key="page", data={"pages": f"./{PAGES}"})
