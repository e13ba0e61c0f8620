"""A leaf: what the components of a page draw for another value of one parameter, such as the next step.

A browser that has the page asks for it by the page's link and draws it by itself: Streamlit need not run, on the server
or in the browser. It then says so with the press (:mod:`attention.ui.part`). Whatever a leaf has no room for, a widget
of Streamlit's or a sentence about a link, is left to a run of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response

from attention.models import list_models
from attention.pages import STEP_BY_STEP, Page
from attention.parameters import Context, read
from attention.ui import drawing, frame, state
from attention.ui.gate import in_turn
from attention.ui.running import load_silently, run_page
from attention.view import View

__all__ = ["give", "leaf"]


def give(page: Page, rest: str, link: Mapping[str, str]) -> Response | None:
    """Return the page of a link with another value of a parameter; ``rest`` is its name and the value, as in a link."""
    with in_turn():
        found = leaf(page, rest, link)
    return None if found is None else JSONResponse(found)


def leaf(page: Page, chosen: str, link: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the new link, the data of all components below the head by their keys, and the outline of the rest.

    None if there is no such parameter or value, or if there is something to say that a component does not.
    """
    models = {info.model_id: info for info in list_models()}
    before, problems = View.from_query(link, page, models)
    name, _, written = chosen.partition("/")
    parameter = next((each for each in page.parameters if each.name == name), None)
    if page is not STEP_BY_STEP or problems or parameter is None or models[before.model].reading.is_empty(before.text):
        return None
    value, problem = read(parameter, {name: written}, Context(models, before.model))
    if problem:
        return None
    with state.imagined(before):
        state.set(parameter, value)
        view = state.current()
        panes = run_page(frame.as_seen(view), load_silently)
        if state.notices() or not frame.is_quiet(panes):
            return None
        laid = frame.all_parts(view, panes, {})
    parts = {part.key: part.data for part in drawing.parts_of(laid)}
    return {"link": urlencode(view.to_query()), "outline": drawing.outline(laid), "parts": parts}
