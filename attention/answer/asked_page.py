"""Read a request for a page, without trusting it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.responses import JSONResponse, Response

from attention.answer.page import MAX_PRESSES, Asked, Press, answer
from attention.answer.slots import one_request
from attention.page.page import Page

# The longest name of a visitor, and how many entries a browser may remember.
MAX_NAME, MAX_REMEMBERED = 64, 64


def give(page: Page, body: bytes) -> Response | None:
    """Answer a request for a page; None if the request is malformed."""
    try:
        asked = _read(page, json.loads(body))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    with one_request():
        return JSONResponse(answer(asked))


def _read(page: Page, said: Mapping[str, Any]) -> Asked:
    presses = tuple(Press(str(each["key"]), each["value"]) for each in said["presses"])
    link, visitor = said["link"], said["visitor"]
    if not isinstance(link, str) or not isinstance(visitor, str):
        raise TypeError
    if len(presses) > MAX_PRESSES or len(visitor) > MAX_NAME:
        raise ValueError
    return Asked(page, dict(parse_qsl(link, keep_blank_values=True)), presses, _memory(said["memory"]), visitor)


def _memory(said: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    memory = {name: dict(query) for name, query in said.items()}
    written = [text for name, query in memory.items() for text in (name, *query, *query.values())]
    if len(memory) > MAX_REMEMBERED or not all(isinstance(text, str) for text in written):
        raise ValueError
    return memory
