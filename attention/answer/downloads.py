"""Files to download, made on demand; a file that fails contains the reason."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import TypeVar

from attention.answer.cache import ModelFailedError
from attention.core.messages import message
from attention.export.explanation import explanation
from attention.lesson.tables import to_csv
from attention.models import ModelUnavailableError

T = TypeVar("T")


_MIMES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".npz": "application/octet-stream",
    ".ipynb": "application/x-ipynb+json",
}
_LOGGER = logging.getLogger(__name__)

Table = Mapping[str, Sequence[object]]


class GoneError(Exception):
    """The file's source is no longer in memory; the message says what to do."""


def csv_of(table: Table) -> bytes:
    """Return a table as a CSV file; None becomes an empty cell."""
    written = {title: ["" if cell is None else str(cell) for cell in column] for title, column in table.items()}
    # Spreadsheets recognise UTF-8 by the byte order mark.
    return to_csv(written).encode("utf-8-sig")


def ending_of(name: str) -> str | None:
    """Return a file name's suffix, with its dot; None for unknown files."""
    ending = PurePath(name).suffix
    return ending if ending in _MIMES else None


def mime_of(name: str) -> str:
    """Return the media type of a file."""
    return _MIMES[PurePath(name).suffix]


def made(file_name: str, make: Callable[[], T]) -> T | str | bytes:
    """Make a file or, if that fails, one of the same type with the reason: a download cannot report errors."""
    try:
        return make()
    except (GoneError, ModelUnavailableError, ModelFailedError) as error:
        reason = str(error)
    except Exception as error:
        # Without its message, which may quote the user's text.
        kind = type(error).__name__
        _LOGGER.error("%s failed with %s:\n%s", file_name, kind, "".join(traceback.format_tb(error.__traceback__)))
        reason = message("Something went wrong ({kind}).", kind=kind)
    return explanation(file_name, message("Couldn't make this file. {reason}", reason=reason))
