"""A lab as a page: the question first and, once it is answered, what the lab shows."""

from __future__ import annotations

from collections.abc import Sequence

from attention.blocks import Blocks
from attention.content.guess import Asked
from attention.content.pane import Pane, missing
from attention.labs import Lab
from attention.lesson.guess import Guess
from attention.view import View

__all__ = ["content"]


def content(lab: Lab, view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the lab's question, and its content once it is answered; a ``whole`` page waits for no answer."""
    pane = panes[0] if panes else None
    scene = None if pane is None else pane.scene
    asked = Asked(view, is_asked=True, guess=_guess(lab, pane))
    if asked.is_open and not whole:
        return asked.content()
    question = asked.content() if asked.guess is not None and not asked.is_open else ()
    if pane is None:
        return (*question, *lab.content(view, None, None))
    return (*question, *lab.content(view, scene, pane.found), *missing(pane.reason))


def _guess(lab: Lab, pane: Pane | None) -> Guess | None:
    """Return what is asked first, measured where it has to be."""
    scene = None if pane is None else pane.scene
    if lab.measured_guess is None or pane is None or scene is None or pane.found is None:
        return lab.guess(scene)
    return lab.measured_guess(scene, pane.found)
