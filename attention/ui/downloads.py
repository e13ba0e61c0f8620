"""Tables as files to take away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from attention.lesson.tables import to_csv

__all__ = ["csv_button"]


def csv_button(name: str, make: Callable[[], Mapping[str, Sequence[object]]], *, key: str | None = None) -> None:
    """Offer a table as CSV, made when somebody asks for it; None is written as an empty cell."""

    def data() -> bytes:
        written = {title: ["" if cell is None else str(cell) for cell in column] for title, column in make().items()}
        # With the mark by which spreadsheets know UTF-8.
        return to_csv(written).encode("utf-8-sig")

    file_name = f"{name}.csv"
    st.download_button(file_name, data=data, file_name=file_name, mime="text/csv", key=key, on_click="ignore")
