"""What grouped queries save, beside the heads that share keys and values."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.lesson.savings import PRESETS, savings_table, tell_savings
from attention.ui import text
from attention.ui.frame import Pane
from attention.view import View

__all__ = ["show"]


def show(view: View, panes: Sequence[Pane]) -> None:
    """Draw the costs of one model's sizes at the step that makes queries, keys and values, where heads share them."""
    if view.step != "qkv" or not any(pane.scene is not None and pane.info.group_size > 1 for pane in panes):
        return
    st.subheader("What grouped queries save", anchor=False)
    presets = {sizes.name: sizes for sizes in PRESETS}
    chosen = st.segmented_control("Sizes of", list(presets), default=next(iter(presets)), key="sizes", required=True)
    sizes = presets[chosen]
    left, right = st.columns(2, gap="large")
    with left:
        text.prose(tell_savings(sizes), is_aside=True)
    with right:
        st.dataframe(savings_table(sizes), hide_index=True, key="savings_table")
