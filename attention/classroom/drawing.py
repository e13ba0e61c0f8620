"""What a room shows: a page's blocks, drawn once for all screens, and its question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from attention.answer.files import address_of
from attention.answer.numbers import where
from attention.answer.running import load_silently, run_page
from attention.answer.slots import one_request
from attention.classroom.codes import digest
from attention.core.messages import message
from attention.figures.assets import AT_REST
from attention.figures.atlas import Atlas
from attention.figures.buttons import Buttons
from attention.figures.model_map import ModelMap
from attention.figures.order import OrderStrip
from attention.figures.question import Answer
from attention.lesson.head_context import HeadContext
from attention.lesson.plans import plans
from attention.lesson.questions import MOST, QUESTIONS, Ready
from attention.lesson.quiz import Guess
from attention.models import ModelInfo, by_id, get_info
from attention.page.blocks import Block, Blocks, Fold, Notice, Panels, Picture, Prose, Row, Section, walk
from attention.page.content.all_heads import BEHAVIOURS
from attention.page.content.compare import second
from attention.page.content.pane import Pane, missing
from attention.page.content.quiz import SECTION
from attention.page.content.registry import CONTENTS, title_of
from attention.page.content.step_by_step import presented
from attention.page.page import Page
from attention.page.page_file import drawn, plain
from attention.page.pages import PAGES, STEP_BY_STEP
from attention.page.parameters import Context
from attention.page.settings import ANSWER, GUESS, HEAD, LAYER, MODEL, PLAIN, PRESENT, VERSUS
from attention.page.view import View

Seen = Literal["as it is", "closed", "opened", "hidden"]
# The pages about one text, which a class can follow.
_PAGES = {page.address: page for page in PAGES if CONTENTS[page].sheet}


@dataclass(frozen=True, slots=True)
class Shown:
    """The link of a page, and how much of it a room shows.

    While a question about the view is open, the view is "closed", without any hint of the answer; then it is "opened".
    During another question, it is "hidden" if its pictures show the answer. On a wall, a step is presented: one
    picture, as large as the screen, and one sentence.
    """

    page: str
    link: str
    seen: Seen = "as it is"
    on_wall: bool = False

    @property
    def mark(self) -> str:
        """An identifier of this view, in all its forms."""
        return digest(f"{self.page}?{self.link}")[:16]


def is_shown(page: str) -> bool:
    """Tell whether a room can show this page: it must be about a text in a head."""
    return page in _PAGES


def tidy(page: str, link: str) -> str:
    """Return a link in the page's own form, without unknown parameters and Present, which concerns only the teacher."""
    view = _view(_PAGES[page], link)
    return urlencode((view.without(PRESENT) if PRESENT in view.page.own else view).to_query())


@one_request()
def guess_of(page: str, link: str) -> Guess | None:
    """Return a page's own question; None if it has none."""
    view = _closed(_view(_PAGES[page], link))
    return CONTENTS[view.page].asked(view, _panes(view)).guess


def sentences_of(page: str, link: str) -> Sequence[str]:
    """Return the sentence of a page, or the two that it compares; none if its model reads something else."""
    view = _view(_PAGES[page], link)
    texts = (view.text, second(view) if VERSUS in view.page.own else "")
    return [text for text in texts if text] if get_info(view.model).reading.takes_sentences else []


def is_guessed(page: str, link: str) -> bool:
    """Tell whether a link hides its view until a guess."""
    view = _view(_PAGES[page], link)
    return GUESS in view.page.own and view[GUESS]


@one_request()
def opened(page: str, link: str) -> str:
    """Return the link of the same view with the answer to its question, for the teacher's own screen."""
    view = _view(_PAGES[page], link)
    return urlencode(_opened(view, _panes(view)).to_query())


@one_request()
def questions_of(page: str, link: str) -> list[Ready]:
    """Return the ready questions that fit a page."""
    scene = _scene(page, link)
    return [] if scene is None else [each for each in (MOST, *QUESTIONS) if each.make(scene) is not None]


@one_request()
def ready_of(page: str, link: str, question: Ready) -> Guess | None:
    """Return a ready question about a page; None if it does not fit."""
    scene = _scene(page, link)
    return None if scene is None else question.make(scene)


@one_request()
def show(shown: Shown) -> dict[str, Any]:
    """Return the page for the screens, as a JSON object."""
    view = _view(_PAGES[shown.page], shown.link)
    panes = _panes(view)
    if PLAIN in view.page.own:
        view = view.with_value(PLAIN, True)
    if shown.seen in ("closed", "opened"):
        view = _opened(view, panes) if shown.seen == "opened" else _closed(view)
    title, caption = title_of(view, panes)
    is_open = CONTENTS[view.page].asked(view, panes).is_open
    # Large pictures are sent as shades, so that a first visit is light; pointing at them fetches the numbers.
    page = drawn(_blocks(view, panes, shown, is_open=is_open), partial(where, view), arranged=view.arranged)
    # From step to step, an unchanged picture may be the start of another's transition.
    pictures = page.pictures if view.page is STEP_BY_STEP else _at_rest(page.pictures)
    if panes and panes[0].scene is not None:
        pictures = [{**each, "data": _named(each["data"], panes[0].scene)} for each in pictures]
    modules = {each["component"] for each in pictures}
    # Only a view without a text is empty, as in a room opened before the teacher goes to one.
    nothing = message("The class begins soon.")
    # Nobody gets ahead of a question about the view, which the app itself would answer.
    is_held = is_open or shown.seen in ("closed", "hidden")
    return {
        "mark": shown.mark,
        "page": view.page.title,
        "title": title,
        "caption": caption,
        "html": page.html or f"<p>{nothing}</p>",
        "pictures": pictures,
        "modules": {name: address_of(name) for name in sorted(modules)},
        "link": None if is_held else f"./{shown.page}?{shown.link}",
    }


def _at_rest(pictures: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Use shorter scripts for pictures without transitions: a first visit should be light."""
    if any(each["data"].get("change") for each in pictures):
        return pictures
    return [{**each, "component": AT_REST.get(each["component"], each["component"])} for each in pictures]


def _named(data: Mapping[str, Any], scene: HeadContext) -> dict[str, Any]:
    """Return a picture's data with positions where a token repeats, as in answers."""
    names = {scene.labels: scene.names, scene.key_labels: scene.key_names}
    sides = {side: data[side] for side in ("rows", "columns") if isinstance(data.get(side), list)}
    return {**data, **{side: names.get(tuple(labels), labels) for side, labels in sides.items()}}


def model_of(page: str, link: str) -> str:
    """Return the link of a page's model (or, unless it reads sentences, the default one), and its head if chosen."""
    query = _view(_PAGES[page], link).to_query()
    kept = {name: query[name] for name in (MODEL.name, LAYER.name, HEAD.name) if name in query}
    return urlencode(kept) if _info(urlencode(kept)).reading.takes_sentences else ""


def examples_of(link: str) -> Sequence[str]:
    """Return example sentences, without those of the ready plans, whose answers a lesson may have shown."""
    return [each for each in _info(link).reading.examples if each not in _sentences_of_plans()]


@cache
def _sentences_of_plans() -> frozenset[str]:
    parts = (part for plan in plans() for part in plan.parts)
    return frozenset(sentence for part in parts for sentence in sentences_of(part.page, part.link))


def read(page: str, link: str) -> Pane:
    """Run the model on the text of a link, which must not be empty."""
    return _panes(_view(_PAGES[page], link))[0]


def place_of(pane: Pane) -> str:
    """Return the caption of a pane: its part of the run."""
    return title_of(View(STEP_BY_STEP), [pane])[1]


def _info(link: str) -> ModelInfo:
    return get_info(_view(STEP_BY_STEP, link).model)


def _blocks(view: View, panes: Sequence[Pane], shown: Shown, *, is_open: bool) -> Blocks:
    """Return a page's blocks without its question and the answers to tasks, which the teacher sets."""
    if shown.seen == "hidden":
        return (Notice(message("This reappears with the answer."), is_quiet=True),)
    waiting = _while_closed(view.page, shown.seen) if is_open else ()
    if shown.on_wall and panes and PRESENT in view.page.own:
        return (*waiting, *_without((SECTION,), presented(view, panes)))
    content = CONTENTS[view.page]
    # Buttons and downloads, which work only in the app, are left out if the whole page shows no more than the app.
    blocks = _without((SECTION,), (*content.above(view, panes), *content.make(view, panes, whole=not content.opens)))
    if not blocks:
        return tuple(block for pane in panes for block in missing(pane.reason))
    return (*waiting, *_without(BEHAVIOURS, _first_part(blocks) if shown.on_wall else blocks))


def _first_part(blocks: Blocks) -> Blocks:
    """Return a page's blocks up to its first picture of numbers: no one scrolls."""
    places = (place for place, block in enumerate(blocks) if any(map(_has_numbers, walk((block,)))))
    *before, last = blocks[: next(places, len(blocks)) + 1]
    return (*before, *(_first_part(last.contents[last.value]) if isinstance(last, Panels) else (last,)))


def _has_numbers(block: Block) -> bool:
    return isinstance(block, Picture) and not isinstance(block.figure, OrderStrip | Buttons)


def _while_closed(page: Page, seen: Seen) -> Blocks:
    """Return the placeholders for an unanswered question and for a lab's opening."""
    purpose = (Prose(f"<p>{plain(page.purpose)}</p>"),) if ANSWER in page.own and GUESS not in page.own else ()
    if seen != "as it is":
        return purpose
    return (*purpose, Notice(message("A question may follow."), is_quiet=True))


def _scene(page: str, link: str) -> HeadContext | None:
    view = _view(_PAGES[page], link)
    return next((pane.scene for pane in _panes(view) if pane.scene is not None), None)


def _view(page: Page, link: str) -> View:
    models = by_id()
    view, _ = View.from_query(dict(parse_qsl(link, keep_blank_values=True)), page, models)
    return CONTENTS[page].opening(view).valid_for(Context(models, view.model))


def _panes(view: View) -> Sequence[Pane]:
    return [] if get_info(view.model).reading.is_empty(view.text) else run_page(view, load_silently)


def _closed(view: View) -> View:
    own = view.page.own
    asked = view.with_value(GUESS, True) if GUESS in own else view
    return asked.without(ANSWER) if ANSWER in own else asked


def _opened(view: View, panes: Sequence[Pane]) -> View:
    """Return the view after the reveal."""
    if GUESS in view.page.own:
        return view.without(GUESS, ANSWER)
    guess = CONTENTS[view.page].asked(_closed(view), panes).guess
    return view if guess is None else view.with_value(ANSWER, Answer(guess.mark))


def _without(keys: Sequence[str], blocks: Blocks) -> Blocks:
    """Leave out the sections with these keys, maps, which lead to other pages of the app, and what is then empty."""
    kept = (_emptied(keys, block) for block in blocks if not (isinstance(block, Section) and block.key in keys))
    return tuple(block for block in kept if not _is_left_out(block))


def _is_left_out(block: Block) -> bool:
    match block:
        case Section():
            return not block.blocks
        case Picture():
            return isinstance(block.figure, ModelMap)
        case _:
            return False


def _emptied(keys: Sequence[str], block: Block) -> Block:
    match block:
        case Section() | Fold():
            return replace(block, blocks=_without(keys, block.blocks))
        case Picture(figure=Atlas() as atlas):
            # The name of a head, but not what it does, which a class may be looking for.
            return replace(block, figure=replace(atlas, descriptions={}))
        case Row():
            return replace(block, columns=tuple(_without(keys, column) for column in block.columns))
        case _:
            return block
