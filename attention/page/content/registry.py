"""The pages made of blocks, and the functions that make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Protocol

from attention.core.messages import message
from attention.page import pages
from attention.page.blocks import Blocks
from attention.page.content import (
    all_heads,
    classroom,
    code_lab,
    compare,
    find_it,
    front,
    labs,
    many_sentences,
    models,
    neuron_view,
    overview,
    step_by_step,
    syntax_check,
)
from attention.page.content.outcome import outcome
from attention.page.content.pane import Pane
from attention.page.content.quiz import Asked
from attention.page.labs import Lab
from attention.page.page import Page
from attention.page.parameters import Parameter
from attention.page.settings import BESIDE, CELL, MASK, STEP
from attention.page.view import View


class Make(Protocol):
    """A function that makes a page's content from its view and panes."""

    def __call__(self, view: View, panes: Sequence[Pane], /, *, whole: bool = False) -> Blocks:
        """Return the blocks; with ``whole``, everything that can be opened is open."""


def _nothing(_view: View, _panes: Sequence[Pane]) -> Blocks:
    return ()


def _nothing_asked(view: View, _panes: Sequence[Pane]) -> Asked:
    return Asked(view)


def _nothing_idle(_view: View, _panes: Sequence[Pane]) -> tuple[Parameter[Any], ...]:
    return ()


def _as_linked(view: View) -> View:
    return view


def _pair(view: View) -> str:
    return view.pair


def _alone(view: View) -> View:
    """Return the view with one model, and no cell opened."""
    return view.without(STEP, BESIDE, CELL)


def _step(view: View) -> str:
    return view.step


def _always(step: str) -> Callable[[View], str]:
    return lambda _: step


def _for_lab(lab: Lab, view: View) -> View:
    return _alone(view).without(*lab.leaves_out)


@dataclass(frozen=True, slots=True)
class Content:
    """How a page is made.

    Attributes:
        make: returns the content.
        run_as: returns the view to run the models for.
        above: returns the blocks above the content.
        waiting: the message while the user waits.
        asked: returns the question to guess.
        sheet: returns the key of the worksheet's step; None if no text is read: then there is no worksheet or notebook.
        idle: returns which of word, layer and head have no effect.
        opening: fills in what a link leaves open, for a page with a first view of its own.
        second: returns the text read beside the first.
        compares: whether the second text is read separately, in the same head, and neither has a word in focus.
        opens: whether the whole page has more than the app shows; if not, a class sees the whole.
        heads_itself: whether the content includes the page's title.
        source: the typed text, many texts that are not in the link, or nothing.
        without: the choices that are not offered: "beside", "word", "parts", "mask", "layer", "head", "guess".
    """

    make: Make
    run_as: Callable[[View], View] = _as_linked
    above: Callable[[View, Sequence[Pane]], Blocks] = outcome
    waiting: str = ""
    asked: Callable[[View, Sequence[Pane]], Asked] = _nothing_asked
    sheet: Callable[[View], str] | None = None
    idle: Callable[[View, Sequence[Pane]], tuple[Parameter[Any], ...]] = _nothing_idle
    opening: Callable[[View], View] = _as_linked
    second: Callable[[View], str] = _pair
    compares: bool = False
    opens: bool = True
    heads_itself: bool = False
    source: Literal["typed", "many", "nothing"] = "typed"
    without: frozenset[str] = frozenset()


_CHOICES = frozenset({"beside", "word", "parts", "mask", "layer", "head"})
_IN_NO_LAB = frozenset({"beside"})
_OF_MANY = _CHOICES - {"layer", "head"}

CONTENTS: Mapping[Page, Content] = MappingProxyType(
    {
        pages.FRONT: Content(
            front.content,
            run_as=front.run_as,
            above=_nothing,
            opening=front.opening,
            heads_itself=True,
            without=_CHOICES | {"guess"},
        ),
        pages.STEP_BY_STEP: Content(
            step_by_step.content, above=_nothing, asked=step_by_step.asked, sheet=_step, heads_itself=True
        ),
        pages.ALL_HEADS: Content(
            all_heads.content,
            run_as=lambda view: view.without(BESIDE),
            above=lambda view, panes: (*outcome(view, panes), *all_heads.looks(view, panes)),
            waiting=message("Measuring all heads …"),
            sheet=_always("softmax"),
            opening=all_heads.opening,
            opens=False,
            without=frozenset({"beside", "word", "mask"}),
        ),
        pages.NEURON_VIEW: Content(
            neuron_view.content, run_as=_alone, sheet=_always("scores"), without=frozenset({"beside"})
        ),
        pages.COMPARE: Content(
            compare.content,
            run_as=compare.run_as,
            above=_nothing,
            asked=compare.asked,
            sheet=_always("softmax"),
            opening=compare.opening,
            second=compare.second,
            compares=True,
            without=frozenset({"beside", "word", "parts"}),
        ),
        pages.CODE_LAB: Content(
            code_lab.content,
            run_as=_alone,
            above=_nothing,
            waiting=message("Running all five …"),
            sheet=_always("sum"),
            without=frozenset({"beside", "word"}),
        ),
        pages.MANY_SENTENCES: Content(many_sentences.content, above=_nothing, source="many", without=_OF_MANY),
        pages.SYNTAX_CHECK: Content(syntax_check.content, above=_nothing, source="many", without=_CHOICES),
        pages.FIND_IT: Content(
            find_it.content,
            run_as=find_it.run_as,
            above=_nothing,
            waiting=message("Checking this view …"),
            sheet=_always("softmax"),
            without=_CHOICES,
        ),
        **{
            found: Content(overview.content, above=_nothing, source="nothing", without=_CHOICES)
            for found in (pages.EXPLORE, pages.LABS_PAGE)
        },
        pages.MODELS: Content(models.content, above=_nothing, source="nothing", without=_CHOICES),
        pages.CLASSROOM: Content(classroom.content, run_as=_alone, above=_nothing, without=_CHOICES),
        **{
            found: Content(
                partial(labs.content, lab),
                run_as=partial(_for_lab, lab),
                above=_nothing,
                waiting=lab.waiting,
                asked=partial(labs.asked, lab),
                sheet=_always(lab.sheet),
                idle=partial(labs.idle, lab),
                without=_IN_NO_LAB | lab.without | ({"mask"} if MASK in lab.leaves_out else set()),
            )
            for lab, found in pages.OF_LABS.items()
        },
    }
)


def title_of(view: View, panes: Sequence[Pane]) -> tuple[str, str]:
    """Return the text read, and one line for the place in each run."""
    content = CONTENTS[view.page]
    second = content.second(view)
    places = dict.fromkeys(_place(pane, has_word=not content.compares) for pane in panes)
    return " / ".join([view.text, *([second] if second else [])]), "\n".join(places)


def _place(pane: Pane, *, has_word: bool) -> str:
    scene, address = pane.scene, pane.address
    if scene is None or address is None:
        return pane.info.name
    place = message("{name}: layer {layer}, head {head}", name=pane.info.name, **scene.numbers)
    if address.run.mask != "none":
        place = message("{place}, {mask} mask", place=place, mask=pane.info.build.mask_names[address.run.mask])
    if not has_word:
        return place
    return message("{place}, {unit} “{word}”", place=place, unit=scene.info.reading.unit, word=scene.names[scene.word])
