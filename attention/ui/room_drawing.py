"""What a room shows: a page's blocks, drawn once for all screens, and the question that goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attention.blocks import Block, Blocks, Fold, Row, Section
from attention.content.guess import SECTION
from attention.content.pane import Pane, missing
from attention.content.registry import CONTENTS, title_of
from attention.figures.question import Answer
from attention.lesson.guess import Guess
from attention.messages import message
from attention.models import list_models
from attention.page_file import drawn
from attention.pages import CLASSROOM, PAGES, Page
from attention.parameters import Context
from attention.settings import ANSWER, GUESS
from attention.ui.files import address_of
from attention.ui.gate import in_turn
from attention.ui.running import load_silently, run
from attention.view import View

__all__ = ["Shown", "guess_of", "is_shown", "show", "tidy"]

_PAGES = {page.address: page for page in PAGES if page in CONTENTS and page is not CLASSROOM}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a room shows: the link of a page and, while a question about it is open, that it gives nothing away."""

    page: str
    link: str
    is_asked: bool = False
    is_revealed: bool = False


def is_shown(page: str) -> bool:
    """Tell whether a room can show this page: one that is made of blocks."""
    return page in _PAGES


def tidy(page: str, link: str) -> str:
    """Return a link as the page itself would write it: whatever is no parameter of the page is left out."""
    return urlencode(_view(_PAGES[page], link).to_query())


def guess_of(page: str, link: str) -> Guess | None:
    """Return what there is to guess about a page; None if there is nothing."""
    view = _closed(_view(_PAGES[page], link))
    with in_turn():
        return CONTENTS[view.page].asked(view, _panes(view)).guess


def show(shown: Shown) -> dict[str, Any]:
    """Return the page as screens draw it, as JSON."""
    view = _view(_PAGES[shown.page], shown.link)
    content = CONTENTS[view.page]
    with in_turn():
        panes = _panes(view)
        if shown.is_asked:
            view = _opened(view, panes) if shown.is_revealed else _closed(view)
        title, caption = title_of(view, panes)
        blocks = (*content.above(view, panes), *content.make(view, panes))
        if not blocks:
            blocks = tuple(block for pane in panes for block in missing(pane.reason))
        page = drawn(_without_question(blocks) if shown.is_asked else blocks)
    modules = {each["component"] for each in page.pictures}
    nothing = message("There is nothing to be seen here yet.")
    return {
        "page": view.page.title,
        "title": title,
        "caption": caption,
        "html": page.html or f"<p>{nothing}</p>",
        "pictures": page.pictures,
        "modules": {name: address_of(name) for name in sorted(modules)},
        "link": f"./{shown.page}?{shown.link}",
    }


def _view(page: Page, link: str) -> View:
    models = {info.model_id: info for info in list_models()}
    view, _ = View.from_query(dict(parse_qsl(link, keep_blank_values=True)), page, models)
    return view.fitting(Context(models, view.model))


def _panes(view: View) -> Sequence[Pane]:
    if next(info for info in list_models() if info.model_id == view.model).reading.is_empty(view.text):
        return []
    return run(CONTENTS[view.page].run_as(view), load_silently)


def _closed(view: View) -> View:
    """Return the view before anybody has answered."""
    own = view.page.own
    asked = view.having(GUESS, True) if GUESS in own else view
    return asked.without(ANSWER) if ANSWER in own else asked


def _opened(view: View, panes: Sequence[Pane]) -> View:
    """Return the view when the answer has been shown."""
    if GUESS in view.page.own:
        return view.without(GUESS, ANSWER)
    guess = CONTENTS[view.page].asked(_closed(view), panes).guess
    return view if guess is None else view.having(ANSWER, Answer(guess.mark))


def _without_question(blocks: Blocks) -> Blocks:
    """Leave out the question itself: a screen in a room has it in a place of its own."""
    return tuple(_emptied(block) for block in blocks if not (isinstance(block, Section) and block.key == SECTION))


def _emptied(block: Block) -> Block:
    match block:
        case Section() | Fold():
            return replace(block, blocks=_without_question(block.blocks))
        case Row():
            return replace(block, columns=tuple(map(_without_question, block.columns)))
        case _:
            return block
