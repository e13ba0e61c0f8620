"""A page as a function of its link: everything below the app's header, as plain data for the browser.

A browser sends its page's link with all presses since the page was drawn, and receives the next page. So the server is
stateless, and any copy of it can answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from attention.answer import controls, fields, jobs, running, state
from attention.answer.cache import model_or_reason, shelf, waiting
from attention.answer.masthead import is_presented, masthead, no_field, notices
from attention.answer.page_component import Data, Sheet
from attention.core.messages import message
from attention.lesson.unfamiliar import tell_unfamiliar
from attention.models import Model, ModelInfo, ModelUnavailableError, get_info
from attention.models.store import Progress as Loaded
from attention.page.blocks import Blocks, Notice, Progress, Waiting, Way, Work, walk
from attention.page.content.pane import Pane, proven
from attention.page.content.registry import CONTENTS
from attention.page.content.sought import sought
from attention.page.content.step_by_step import presented
from attention.page.page import Page
from attention.page.pages import STEP_BY_STEP
from attention.page.settings import BESIDE, TEXT
from attention.page.view import View

# More than anyone presses before an answer arrives.
MAX_PRESSES = 64
# How soon a browser asks again while a model is being loaded.
WHILE_LOADING_SECONDS = 0.25
# How long a page continues a measurement on many texts before it shows the progress.
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Press:
    """A press on a page: the key of the handler, and the value sent."""

    key: str
    value: object


@dataclass(frozen=True, slots=True)
class Asked:
    """A browser's request: a page, its link, and the presses on it in order.

    ``memory`` is the browser's memory for the visitor, ``visitor`` a random name that it has chosen.
    """

    page: Page
    link: Mapping[str, str]
    presses: tuple[Press, ...] = ()
    memory: state.Memory = field(default_factory=dict)
    visitor: str = ""


class _LoadingError(Exception):
    def __init__(self, info: ModelInfo, progress: Loaded | None) -> None:
        super().__init__(info.model_id)
        self.info = info
        self.progress = progress


def answer(asked: Asked) -> dict[str, Any]:
    """Return the next page: its address, title, link and blocks, and the browser's new memory.

    ``waiting`` is the text shown if the page after it is slow; ``follow`` is the number of seconds after which the
    browser should ask again, 0 for never.
    """
    visit = state.opened(asked.page, asked.link, CONTENTS[asked.page].opening, asked.memory, asked.visitor)
    with state.visiting(visit):
        if asked.presses:
            _take(asked.presses)
        if visit.way is None:
            return _answered(visit, asked.link)
        page, link = visit.way
        if link is None:
            link = state.along(page).to_query()
        there = state.opened(page, link, CONTENTS[page].opening, state.remembered(), asked.visitor)
    with state.visiting(there):
        return _answered(there, link)


def _answered(visit: state.Visit, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return a visit's page; its link stays unchanged until the user chooses something."""
    page = visit.view.page
    blocks, follow = _drawn(visit.view)
    link = visit.view.to_query() if visit.is_changed else asked
    return {
        "page": page.address,
        "title": message("{title} · attention step by step", title=page.tab or page.title),
        "link": urlencode(link),
        "blocks": blocks,
        "memory": state.remembered(),
        "waiting": CONTENTS[page].waiting,
        "follow": follow,
    }


def _take(presses: Sequence[Press]) -> None:
    """Handle presses; those on the header need no model."""
    view = state.current()
    sheet = Sheet(view)
    _head(sheet, view)
    _way(sheet, view)
    if not all(press.key in sheet.acts for press in presses):
        _rest(sheet, view, running.load_silently)
    for press in presses:
        act = sheet.acts.get(press.key)
        if act is not None:
            act(press.value)
            _drop_unfit()


def _drop_unfit() -> None:
    """Drop choices that do not fit the current model."""
    visit = state.visit()
    fitting = visit.view.valid_for(state.context())
    if fitting != visit.view:
        state.change(lambda _: fitting, visit.notices)


def _drawn(view: View) -> tuple[list[Data], float]:
    """Return a page's blocks, and the number of seconds after which to ask again (0 for never)."""
    sheet = Sheet(view)
    head, way = _head(sheet, view), _way(sheet, view)
    try:
        above, line, rest, goes_on = _rest(sheet, view, _load_or_tell)
    except _LoadingError as found:
        return [*head, *_sticky_line(sheet, way), *sheet.write(_loading_blocks(found))], WHILE_LOADING_SECONDS
    blocks = [*head, *_sticky_line(sheet, [*way, *line]), *above, *rest]
    return blocks, jobs.REFRESH_SECONDS if goes_on or jobs.follows(view.page) else 0


def _sticky_line(sheet: Sheet, line: list[Data]) -> list[Data]:
    """Return the stepper and the controls as one line, which stays visible."""
    return [sheet.box("way", line)] if line else []


def _load_or_tell(info: ModelInfo) -> Model | ModelUnavailableError:
    """Return a model that is in memory or soon will be; otherwise raise _LoadingError."""
    if info.model_id in shelf().in_memory():
        return model_or_reason(info.model_id)

    def tell(progress: Loaded | None) -> None:
        if info.model_id not in shelf().in_memory():
            raise _LoadingError(info, progress)

    return model_or_reason(info.model_id, tell)


def _loading_blocks(found: _LoadingError) -> Blocks:
    told = waiting(found.info) if found.progress is None else _how_far(found.info, found.progress)
    return (Waiting(told, None if found.progress is None else found.progress.share),)


def _how_far(info: ModelInfo, progress: Loaded) -> str:
    """Return the progress of fetching or converting a model."""
    if progress.unit == "bytes":
        done, total = (f"{count / 1e6:.0f}" for count in (progress.n_done, progress.n_total))
        return message("Fetching {name}: {done} of {total} MB", name=info.name, done=done, total=total)
    told = f"{progress.n_done:,} of {progress.n_total:,} {progress.unit}"
    return message("Converting {name}: {told}", name=info.name, told=told)


# ------------------------------------------------------------------------------------- the head of a page


def _head(sheet: Sheet, view: View) -> list[Data]:
    """Return the header and the notices, without running a model."""
    content = CONTENTS[view.page]
    second = controls.second if content.compares else no_field
    head: list[Data] = []
    if not is_presented(view):
        line = sheet.place(masthead(view, second, source=content.source))
        beside = fields.beside(sheet, view) if content.source == "typed" else []
        head.append(sheet.box("masthead", [line, *beside]))
    return [*head, *sheet.write(notices())]


def _way(sheet: Sheet, view: View) -> list[Data]:
    """Return the stepper, if the page has one; it does not wait for a model."""
    if view.page is not STEP_BY_STEP:
        return []
    return [sheet.place(controls.stepper(view))]


# ------------------------------------------------------------------------------------- below the header


def _rest(sheet: Sheet, view: View, load: running.Load) -> tuple[list[Data], list[Data], list[Data], bool]:
    """Return the notices, the line of controls, the content with its proof, and whether work goes on."""
    panes, told = _panes(view, load)
    above, line, content = _above(sheet, view, panes, told), _looked_at(sheet, view, panes), _content(view, panes)
    goes_on = any(isinstance(block, Progress | Work) and block.share is not None for block in walk(content))
    return above, line, sheet.write((*content, *proven(view, panes))), goes_on


def _panes(view: View, load: running.Load) -> tuple[list[Pane], Blocks]:
    if running.is_unread(view):
        reading = get_info(view.model).reading
        example = view.replaced(TEXT, reading.first).to_query()
        return [], (Notice(reading.invitation), Way("example", message("Show an example ▸"), view.page, example))
    # A presentation shows one model.
    panes = running.run_page(view.without(BESIDE) if is_presented(view) else view, load, LOOK_SECONDS)
    return panes, tuple(Notice(sentence) for pane in panes for sentence in pane.notices)


def _looked_at(sheet: Sheet, view: View, panes: list[Pane]) -> list[Data]:
    if is_presented(view):
        return []
    line = controls.controls(view, panes, CONTENTS[view.page])
    return [sheet.place(line)] if line.data["title"] or line.data["groups"] else []


def _above(sheet: Sheet, view: View, panes: list[Pane], told: Blocks) -> list[Data]:
    """Return the notices and the blocks above the content; for a presentation, only the notices."""
    if is_presented(view):
        return sheet.write(told)
    shown = (*sought(view, panes), *_unfamiliar(view, panes), *told, *CONTENTS[view.page].above(view, panes))
    return [sheet.box("above", sheet.write(shown))]


def _unfamiliar(view: View, panes: Sequence[Pane]) -> Blocks:
    """Warn once if a model hardly knows the language of the text."""
    if CONTENTS[view.page].source != "typed":
        return ()
    told = filter(None, (tell_unfamiliar(pane.scene.trace) for pane in panes if pane.scene is not None))
    return tuple(Notice(each, is_quiet=True) for each in list(told)[:1])


def _content(view: View, panes: list[Pane]) -> Blocks:
    return presented(view, panes) if is_presented(view) else CONTENTS[view.page].make(view, panes)
