"""The header of every page: the menu of pages, the text, the model, and actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attention.answer import components, fields, generated_files, hosts, state
from attention.answer.cards import card
from attention.answer.files import address_of
from attention.answer.lines import Field, Line
from attention.core.messages import message
from attention.models import list_models
from attention.page.blocks import Blocks, Notice, Way
from attention.page.page import Page
from attention.page.pages import BY_ADDRESS, CLASSROOM, GROUP_TITLES, GROUPS, MODELS, PAGES
from attention.page.settings import ANSWER, FIRST_ANSWER, GET, MODEL, PRESENT
from attention.page.view import View

# The longest model ID accepted.
MAX_ID = 96

Second = Callable[[View], Field | None]


def no_field(_: View) -> None:
    """Return None, for pages without a field of their own."""


# Shown instead of the text field.
_UNREAD = {"many": message("This page reads its own sentences"), "nothing": message("This page reads no sentence")}


def masthead(view: View, second: Second = no_field, *, source: str = "typed") -> components.Part:
    """Return the header of a page; ``source`` names its text: the view's, others, or none.

    ``second`` returns the page's own field for a second text.
    """
    line = Line("header", "header", hosts.in_network())
    _pages(line.group(message("Pages")), view.page)
    if source in _UNREAD:
        line.group(message("Sentence")).note("unread", _UNREAD[source])
    else:
        fields.add(line, view, second(view))
    _model(line.group(message("Model")))
    _actions(line.group(message("This page")), view.page)
    return line.part()


def is_presented(view: View) -> bool:
    """Tell whether the page is being presented, without controls."""
    return PRESENT in view.page.own and view[PRESENT]


def _pages(line: Line, here: Page) -> None:
    for group in GROUPS:
        pages = [page for page in PAGES if page.group == group]
        items = [
            # Each page asks its own question, so an answer stays on its page.
            {
                "label": page.title,
                "page": page.address,
                "current": page is here,
                "without": [ANSWER.name],
                "card": card(page),
            }
            for page in pages
        ]
        line.menu(group, GROUP_TITLES[group], items, is_here=here in pages)
    line.leads(_go)


def _go(address: str) -> None:
    if page := BY_ADDRESS.get(address):
        state.go_to(page)


def _model(line: Line) -> None:
    models = {info.model_id: info.label for info in list_models()}
    more = (MODELS.address, message("All models …"))
    line.list(MODEL, message("Model"), list(models), list(models.values()), page=more)
    # The chosen model may have been removed meanwhile.
    line.hear(MODEL, lambda model_id: state.choose(MODEL, model_id[:MAX_ID]))


def _actions(line: Line, page: Page) -> None:
    if PRESENT in page.own:
        line.switch(
            PRESENT,
            message("Present"),
            help=message("For a projector: large, without controls (key P)"),
            is_button=True,
        )
    items: list[Mapping[str, Any]] = [{"label": message("Copy link"), "act": "copy"}]
    answers = [each.name for each in (ANSWER, FIRST_ANSWER) if each in page.own]
    if answers:
        items.append({"label": message("Copy link, question open"), "act": "copy", "without": answers})
    room = {
        "label": message("Open a room for a class"),
        "inTab": message("Open a room for a class, in a new tab"),
        "inRoom": message("Show the code to the class"),
        "module": address_of("class"),
    }
    if page is CLASSROOM:
        line.act("room", room)
    else:
        items.append(room)
    items.append({"label": message("Download this page"), "file": generated_files.of_page(page)})
    items += [{"label": label, "file": address} for label, address in generated_files.notebooks_of(page).items()]
    if sheet := generated_files.worksheet_of(page):
        items.append({"label": message("Worksheet to print"), "file": sheet, "opens": True})
    line.menu("share", message("Share"), items)


def notices() -> Blocks:
    """Return notices about the link or the text; if a model is missing, a link to fetch it."""
    said = tuple(map(Notice, state.notices()))
    wanted = state.wanted_model()
    if not wanted:
        return said
    label = message("Find {wanted} among the models ▸", wanted=wanted)
    return *said, Way(
        "way_in_models", label, MODELS, state.current().for_page(MODELS).with_value(GET, wanted).to_query()
    )
