"""A lab: one idea, one to three controls, one question before the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.ablation import Change, Effect
from attention.core.trace import ModelInfo
from attention.experiments.pca import Plane
from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import Guess
from attention.lesson.tasks.base import Runs as Judged
from attention.models.base import Answer, Unmasked
from attention.models.one_page import Passed
from attention.page.blocks import Block, Blocks, Heading, Picture, Row, Section, Setting, Work, cover
from attention.page.parameters import Parameter, Values, every_model
from attention.training.jobs import Job, Status

ONWARD = "onward"  # the key of the section for a lab's links


class Runs(Judged, Protocol):
    """Further results of the model for a lab; each takes long, and is cached."""

    def unmasked(self) -> Unmasked | None:
        """Return a decoder's predictions with and without its causal mask; None if it does not predict."""

    def effects(self, changes: tuple[Change, ...]) -> tuple[Effect, ...] | None:
        """Return the effect of no change and of each change on the output; None if the model was removed."""

    def answer(self) -> Answer | None:
        """Return a picture's classification; None if the model does not classify."""

    def passed(self) -> Passed | None:
        """Return the result of the model's one-page NumPy code; None if it has none, or the model is gone."""

    def added(self) -> Float[Array, "Q M"] | None:
        """Return the model's own ΔE of the layer; None if unknown."""

    def prefix_matching(self) -> Float[Array, "L H"]:
        """Return the prefix-matching score of every self-attention head."""

    def plane(self, tokens: tuple[int, ...]) -> Plane:
        """Return the plane closest to the vectors of some tokens, before and after every layer."""

    def job(self, job: Job) -> Status:
        """Return the status of a long job on this server."""


@dataclass(frozen=True, slots=True)
class Onward:
    """A link from a lab to another page: its label, the page's address, and the values set there."""

    label: str
    address: str
    values: tuple[tuple[Parameter[Any], Any], ...] = ()


def _nowhere(_values: Values, _scene: HeadContext) -> tuple[Onward, ...]:
    return ()


def always(*parameters: Parameter[Any]) -> Callable[[Values, HeadContext], tuple[Parameter[Any], ...]]:
    """Return an ``idle`` function for a lab in which the same choices never have an effect."""
    return lambda _values, _scene: parameters


def _nothing(_values: Values, _scene: HeadContext | None, _runs: Runs | None) -> Blocks:
    return ()


def covered(blocks: Blocks, *, but: Collection[str] = ()) -> Blocks:
    """Return blocks with everything hidden that would answer the question: pictures covered, numbers left out.

    Headings, controls and the places of pictures stay, and so do the pictures with the keys ``but``.
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


# Each lab is a singleton, compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Lab:
    """A lab; ``attention.page.pages`` makes its page. Without a run, functions of a scene get None.

    Attributes:
        knobs: its parameters.
        guess: returns the first question, about the head in view if there is one.
        content: returns the blocks after the answer.
        before: returns the blocks beside the question, which must not contain the answer.
        leaves_out: parameters that the models run without, and that are not offered.
        idle: returns which of word, layer and head have no effect with these values; they are not offered.
        is_for: returns whether the lab makes sense for a model.
        measured_guess: returns a first question that depends on the knobs and needs further runs.
        waiting: the message while the user waits.
        job: a long job that can be started there.
        onward: returns links to other pages, for the section ``ONWARD`` of the content.
        sheet: the key of the worksheet's step.
        without: further choices not offered: "mask", "parts".
        minutes: a visit's usual length.
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
    is_for: Callable[[ModelInfo], bool] = field(default=every_model, repr=False)
    measured_guess: Callable[[Values, HeadContext, Runs], Guess | None] | None = field(default=None, repr=False)
    waiting: str = ""
    job: Job | None = None
    onward: Callable[[Values, HeadContext], tuple[Onward, ...]] = field(default=_nowhere, repr=False)
    sheet: str = "softmax"
    without: frozenset[str] = frozenset()
    minutes: int = 5
