"""Files to take away, made when somebody asks for one, out of what is found anew by its names.

A session keeps what makes a file as long as the button is there, and longer: so that is names (see ``Address``), and
never the numbers themselves, which would stay in memory with it.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from attention.export import explanation
from attention.lesson.tables import to_csv
from attention.models import ModelUnavailableError
from attention.ui.cache import Address, ModelFailedError, scene_at

__all__ = ["GoneError", "Table", "csv_button", "file_button"]

_LOGGER = logging.getLogger(__name__)

Table = Mapping[str, Sequence[object]]


class GoneError(Exception):
    """What a file would be made of is no longer in memory; the message says what to do."""


def csv_button(name: str, make: Callable[..., Table], *addresses: Address, key: str | None = None) -> None:
    """Offer a table as CSV; ``make`` is given the scenes at the addresses, and holds names alone.

    A cell that is None is written as an empty one.
    """
    file_name = f"{name}.csv"
    file_button(file_name, file_name, "text/csv", partial(_csv, make), *addresses, key=key)


def file_button(
    label: str, file_name: str, mime: str, make: Callable[..., str | bytes], *addresses: Address, key: str | None = None
) -> None:
    """Offer a file; ``make`` is given the scenes at the addresses, and holds names alone.

    Where these are no longer there, the file says so.
    """
    data = partial(_made, file_name, make, addresses)
    st.download_button(label, data=data, file_name=file_name, mime=mime, key=key, on_click="ignore")


def _csv(make: Callable[..., Table], *scenes: object) -> bytes:
    written = {title: ["" if cell is None else str(cell) for cell in column] for title, column in make(*scenes).items()}
    # With the mark by which spreadsheets know UTF-8.
    return to_csv(written).encode("utf-8-sig")


def _made(file_name: str, make: Callable[..., str | bytes], addresses: Sequence[Address]) -> str | bytes:
    """Make a file, or one of its kind that says why it cannot be made: nobody else could tell who has clicked."""
    try:
        return make(*map(scene_at, addresses))
    except (GoneError, ModelUnavailableError, ModelFailedError) as error:
        reason = str(error)
    except Exception as error:
        # Without its message, which may quote what was typed.
        kind = type(error).__name__
        _LOGGER.error("%s failed with %s:\n%s", file_name, kind, "".join(traceback.format_tb(error.__traceback__)))
        reason = f"Something went wrong ({kind})."
    return explanation(file_name, f"This file could not be made. {reason}")
