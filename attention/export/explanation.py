"""A replacement for a file that could not be made: one sentence, in the requested file type."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import PurePath

import numpy as np

from attention.core.messages import language
from attention.export.notebook import cells
from attention.figures.charts import escaped
from attention.page.page_file import plain


def explanation(file_name: str, sentence: str) -> str | bytes:
    """Return a file of the type given by its name that contains only a sentence.

    Raises:
        KeyError: the type of file is not used here.
    """
    kinds: dict[str, Callable[[str], str | bytes]] = {
        ".html": _page,
        ".csv": _cell,
        ".json": _figure,
        ".npz": _array,
        ".ipynb": _notebook,
    }
    return kinds[PurePath(file_name).suffix](sentence)


def _page(sentence: str) -> str:
    words = plain(sentence)
    head = f'<head><meta charset="utf-8"><title>{words}</title></head>'
    return f'<!doctype html>\n<html lang="{plain(language().name)}">\n{head}\n<body><p>{words}</p></body>\n</html>\n'


def _cell(sentence: str) -> bytes:
    quoted = sentence.replace('"', '""')
    return f'"{quoted}"\r\n'.encode("utf-8-sig")


def _figure(sentence: str) -> str:
    return json.dumps({"data": [], "layout": {"title": {"text": escaped(sentence)}}})


def _array(sentence: str) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, explanation=np.array(sentence))
    return file.getvalue()


def _notebook(sentence: str) -> str:
    return cells.written(sentence, (cells.Text(cells.plain(sentence)),))
