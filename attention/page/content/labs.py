"""A lab as a page: the question with a picture and, once it is answered, all that the lab shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import Guess
from attention.page.blocks import Blocks, Section, Way
from attention.page.content.figure_downloads import behind
from attention.page.content.pane import Pane, missing
from attention.page.content.quiz import Asked
from attention.page.labs import Lab
from attention.page.labs.base import ONWARD
from attention.page.pages import PAGES
from attention.page.parameters import Parameter
from attention.page.view import View

__all__ = ["asked", "content", "idle"]


def asked(lab: Lab, view: View, panes: Sequence[Pane]) -> Asked:
    """Return what a lab asks first."""
    return Asked(view, is_asked=True, guess=_guess(lab, panes[0] if panes else None))


def idle(lab: Lab, view: View, panes: Sequence[Pane]) -> tuple[Parameter[Any], ...]:
    """Return what of the word, the layer and the head changes nothing of what a lab shows."""
    scene = panes[0].scene if panes else None
    return () if scene is None else lab.idle(view, scene)


def content(lab: Lab, view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the question with what is seen before it is answered, or the content; a ``whole`` page has that."""
    pane = panes[0] if panes else None
    scene, found = (None, None) if pane is None else (pane.scene, pane.found)
    question = asked(lab, view, panes)
    if scene is None and not lab.content(view, None, None):
        # What the answer would open has to be read first.
        return () if pane is None else missing(pane.reason)
    if question.is_open and not whole:
        return (*question.in_place(), *lab.before(view, scene, found))
    first = question.in_place() if question.guess is not None and not question.is_open else ()
    ways = () if whole or scene is None else _ways(lab, view, scene)
    shown = _with_ways(lab.content(view, scene, found), ways)
    # A file is made from the link, in which there is no text that was pasted; a page in a file leads to no other.
    files = () if whole or (lab.job is not None and lab.job.accepts is not None) else behind(shown)
    return (*first, *shown, *files, *(() if pane is None else missing(pane.reason)))


def _ways(lab: Lab, view: View, scene: HeadContext) -> Blocks:
    """Return a lab's links to other pages."""
    pages = {page.address: page for page in PAGES}
    found: list[Way] = []
    for number, onward in enumerate(lab.onward(view, scene), 1):
        there = view.for_page(pages[onward.address])
        for parameter, value in onward.values:
            there = there.with_value(parameter, value)
        found.append(Way(f"way_onward_{number}", onward.label, there.page, there.to_query()))
    return tuple(found)


def _with_ways(blocks: Blocks, ways: Blocks) -> Blocks:
    """Return blocks with links in the place that is left for them; without links, there is no such place."""
    filled = (Section(ONWARD, ways, is_line=True),) if ways else ()
    is_place = [isinstance(block, Section) and block.key == ONWARD for block in blocks]
    return tuple(each for block, here in zip(blocks, is_place, strict=True) for each in (filled if here else (block,)))


def _guess(lab: Lab, pane: Pane | None) -> Guess | None:
    """Return what is asked first, measured where it has to be."""
    scene = None if pane is None else pane.scene
    if lab.measured_guess is None or pane is None or scene is None or pane.found is None:
        return lab.guess(scene)
    return lab.measured_guess(scene, pane.found)
