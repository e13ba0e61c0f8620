"""What a lab is: one idea, one to three knobs, one thing to guess before looking."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.ablation import Change, Effect
from attention.core.trace import ModelInfo, Trace
from attention.experiments.pca import Plane
from attention.lesson.head_context import HeadContext
from attention.lesson.next_token import Forecast
from attention.lesson.quiz import Guess
from attention.models.base import Answer, Unmasked
from attention.models.one_page import Passed
from attention.page.blocks import Block, Blocks, Heading, Picture, Row, Section, Setting, Work, cover
from attention.page.parameters import Parameter, Values
from attention.training.jobs import Job, Status

__all__ = ["ONWARD", "Lab", "Onward", "Runs", "always", "covered"]

# The empty section in which a lab's links to other pages stand.
ONWARD = "onward"


class Runs(Protocol):
    """What a lab may ask of the model that has run, beside the run itself: each takes long, and is kept."""

    def unmasked(self) -> Unmasked | None:
        """Return what a decoder predicts with its causal mask and without it; None if it does not predict."""

    def effects(self, changes: tuple[Change, ...]) -> tuple[Effect, ...] | None:
        """Return how far each change moves what comes out, after a run without any; None if the model is gone."""

    def forecast(self) -> Forecast | None:
        """Return the prediction of the next token; None if the model does not make one."""

    def answer(self) -> Answer | None:
        """Return what a picture was taken for; None if the model does not classify."""

    def passed(self) -> Passed | None:
        """Return what the model's page of NumPy gives; None if there is none, or the model is gone."""

    def reading(self, text: str) -> Trace | None:
        """Return what the model does on another text; None if it does not accept that, or is gone."""

    def added(self) -> Float[Array, "Q M"] | None:
        """Return what the model itself has its layer's heads add to each token's vector; None if that is not known."""

    def prefix_matching(self) -> Float[Array, "L H"]:
        """Return the prefix-matching score of every head, where a text looks at itself."""

    def plane(self, tokens: tuple[int, ...]) -> Plane:
        """Return the plane closest to the vectors of some tokens, before and after every layer."""

    def job(self, job: Job) -> Status:
        """Return what is known of something long that this server does when it is asked to."""


@dataclass(frozen=True, slots=True)
class Onward:
    """A link from a lab to another page: its label, the address of that page, and what is set there."""

    label: str
    address: str
    values: tuple[tuple[Parameter[Any], Any], ...] = ()


def _nowhere(_values: Values, _scene: HeadContext) -> tuple[Onward, ...]:
    return ()


def _every(_: ModelInfo) -> bool:
    return True


def always(*parameters: Parameter[Any]) -> Callable[[Values, HeadContext], tuple[Parameter[Any], ...]]:
    """Return what ``idle`` is for a lab in which the same choices change nothing, whatever its values are."""
    return lambda _values, _scene: parameters


def _nothing(_values: Values, _scene: HeadContext | None, _runs: Runs | None) -> Blocks:
    return ()


def covered(blocks: Blocks, *, but: Collection[str] = ()) -> Blocks:
    """Return blocks that would answer the question as they stand before that: pictures covered, all numbers left out.

    Headings and controls stay, and so does the place of every picture; ``but`` has the keys of pictures that answer
    nothing, and are seen.
    """
    return tuple(each for block in blocks for each in _covered(block, but))


def _covered(block: Block, but: Collection[str]) -> Blocks:
    match block:
        case Heading() | Setting() | Work():
            return (block,)
        case Picture():
            return (block,) if block.key in but else (cover(block.key),)
        case Row():
            columns = tuple(covered(column, but=but) for column in block.columns)
            return (replace(block, columns=columns),) if any(columns) else ()
        case Section():
            inside = covered(block.blocks, but=but)
            return (replace(block, blocks=inside),) if inside else ()
        case _:
            return ()


# Compared by identity: there is one of each.
@dataclass(frozen=True, slots=True, eq=False)
class Lab:
    """A page with one idea, in one object; ``attention.page.pages`` makes the page of it.

    ``knobs`` are what can be set on it. ``guess`` returns what is asked first, about the head that is looked at where
    there is one; ``before`` returns what is shown with the question, which must not hold the answer, and ``content``
    what is shown once it is answered. They get no scene if no model has run. The models run without what is in
    ``leaves_out``, which is no choice there. Nor is what ``idle`` returns: the word, the layer or the head,
    where it changes nothing of what is shown with these values. ``is_for`` tells for which models it makes sense. Where
    what is asked has to be measured first, ``measured_guess`` returns it for a model that has run. What is said while
    the user waits for that, or for the content, is ``waiting``. ``job`` is something long that can be started there.
    ``onward`` are links to other pages, which stand in the empty section ``ONWARD`` of the content.
    ``sheet`` is the key of the step that a worksheet of the lab has the matrix of. ``without`` names more that is no
    choice: "mask", "parts". A visitor stays for about so many ``minutes``.
    """

    address: str
    title: str
    purpose: str
    knobs: tuple[Parameter[Any], ...] = field(repr=False)
    guess: Callable[[HeadContext | None], Guess | None] = field(repr=False)
    content: Callable[[Values, HeadContext | None, Runs | None], Blocks] = field(repr=False)
    before: Callable[[Values, HeadContext | None, Runs | None], Blocks] = field(default=_nothing, repr=False)
    leaves_out: tuple[Parameter[Any], ...] = field(default=(), repr=False)
    idle: Callable[[Values, HeadContext], tuple[Parameter[Any], ...]] = field(default=always(), repr=False)
    is_for: Callable[[ModelInfo], bool] = field(default=_every, repr=False)
    measured_guess: Callable[[HeadContext, Runs], Guess | None] | None = field(default=None, repr=False)
    waiting: str = ""
    job: Job | None = None
    onward: Callable[[Values, HeadContext], tuple[Onward, ...]] = field(default=_nowhere, repr=False)
    sheet: str = "softmax"
    without: frozenset[str] = frozenset()
    minutes: int = 5
