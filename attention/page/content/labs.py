"""A lab as a page: the question with a picture and, once it is answered, all that the lab shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention.lesson.quiz import Guess
from attention.page.blocks import Blocks
from attention.page.content.figure_downloads import behind
from attention.page.content.pane import Pane, missing
from attention.page.content.quiz import Asked
from attention.page.labs import Lab
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
    shown = lab.content(view, scene, found)
    # A file is made from the link, in which there is no text that was pasted; a page in a file leads to no other.
    files = () if whole or (lab.job is not None and lab.job.accepts is not None) else behind(shown)
    return (*first, *shown, *files, *(() if pane is None else missing(pane.reason)))


def _guess(lab: Lab, pane: Pane | None) -> Guess | None:
    """Return what is asked first, measured where it has to be."""
    scene = None if pane is None else pane.scene
    if lab.measured_guess is None or pane is None or scene is None or pane.found is None:
        return lab.guess(scene)
    return lab.measured_guess(scene, pane.found)
