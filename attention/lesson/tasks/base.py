"""What a task is made of: what is to be found, and a judge that reads a handed-in view from the record alone."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol
from urllib.parse import parse_qsl

import numpy as np

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.core.trace import Trace
from attention.core.words import Word, folded, is_punctuation, words_of
from attention.experiments.syntax import SyntaxCheck
from attention.figures.format import number
from attention.lesson.compare import changes
from attention.lesson.head_context import HeadContext
from attention.lesson.next_token import Forecast

__all__ = [
    "LEAST_WORDS",
    "Handed",
    "ModelHead",
    "Runs",
    "Task",
    "UnfitError",
    "Verdict",
    "both_sentences",
    "check_length",
    "differ_in_one_word",
    "headline",
]

_STARTS = ASSETS / "tasks.toml"
# A sentence of fewer words has so few places to attend to that much is found by chance.
LEAST_WORDS = 5


class UnfitError(Exception):
    """A view about which a task can say nothing; the message says why, and what would do."""


class Runs(Protocol):
    """What a judge may ask of the model that has run: each takes long, and is kept."""

    def reading(self, text: str) -> Trace | None:
        """Return what the model does on another text; None if it does not accept that, or is gone."""

    def forecast(self) -> Forecast | None:
        """Return the prediction of the next token; None if the model does not make one."""

    def syntax(self) -> SyntaxCheck | None:
        """Return what all heads do on the annotated sentences; None if that is not counted yet."""


@dataclass(frozen=True, slots=True)
class ModelHead:
    """A head of a model; layer and head are counted from 0."""

    model: str
    name: str
    layer: int
    head: int

    def __str__(self) -> str:
        """Return the head as a sentence says it."""
        return message("layer {layer}, head {head} of {name}", layer=self.layer + 1, head=self.head + 1, name=self.name)


@dataclass(frozen=True)
class Handed:
    """A view that was handed in.

    Attributes:
        scene: what was run on its sentence, with its layer and its head.
        runs: what else can be known of the model.
        versus: the sentence to compare; empty if there is none.
        is_open: whether the head was left open, so that the page for two sentences shows the one that changes most.
        given: the head that was given with the task; None if none was.
    """

    scene: HeadContext
    runs: Runs
    versus: str = ""
    is_open: bool = False
    given: ModelHead | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a view is worth: whether it solves the task, a score from 0 to 1, and as HTML what was found there."""

    is_solved: bool
    score: float
    told: str = field(repr=False)


def headline(score: float, *, is_solved: bool) -> str:
    """Return the verdict in two words, with the score."""
    facts = {"score": number(score)}
    return message("Found it. Score: {score}", **facts) if is_solved else message("Not yet. Score: {score}", **facts)


@dataclass(frozen=True, slots=True)
class Task:
    """Something to find, which the app judges itself.

    Attributes:
        name: what it is called in a request and in a link.
        title: what it is chosen by.
        judge: judges a view; raises UnfitError if it can say nothing about it.
        rule: returns as HTML what is to be found, and how it is judged, where a head is given or none is.
        is_given: whether it is about one head, which is chosen with it.
        is_quick: whether a view is judged at once, without running the model any further.
    """

    name: str
    title: str
    judge: Callable[[Handed], Verdict]
    rule: Callable[[ModelHead | None], str]
    is_given: bool = False
    is_quick: bool = True

    @property
    def page(self) -> str:
        """The address of the page on which one begins."""
        return _starts()[self.name]["page"]

    @property
    def is_of_two(self) -> bool:
        """Tell whether it is about two sentences beside one another."""
        return self.page == "compare"

    def start(self, given: ModelHead | None = None) -> dict[str, str]:
        """Return the parameters of the link with which one begins."""
        query = dict(parse_qsl(_starts()[self.name]["link"]))
        if given is None:
            return query
        return {**query, "model": given.model, "layer": str(given.layer + 1), "head": str(given.head + 1)}


@cache
def _starts() -> dict[str, dict[str, str]]:
    """Return the page and the link with which one begins, by the name of the task."""
    return tomllib.loads(_STARTS.read_text("utf-8"))


def check_length(words: Sequence[Word]) -> None:
    """Refuse a sentence that is too short.

    Raises:
        UnfitError: it has too few words; punctuation marks are none.
    """
    if sum(not (word.is_special or word.is_padding or is_punctuation(word)) for word in words) < LEAST_WORDS:
        raise UnfitError(message("This sentence is too short: it needs {n} words at least.", n=LEAST_WORDS))


def both_sentences(handed: Handed) -> tuple[HeadContext, HeadContext]:
    """Return what a head does on both sentences; where none was chosen, the head that changes most.

    Raises:
        UnfitError: there is no second sentence, or the model does not accept it.
    """
    if not handed.versus:
        raise UnfitError(message("This view has one sentence. Put two beside each other on the page Compare."))
    second = handed.runs.reading(handed.versus)
    if second is None:
        raise UnfitError(message("The model does not read the second sentence."))
    scene = handed.scene
    if handed.is_open:
        changed = changes(scene.trace, second)
        layer, head = map(int, np.unravel_index(int(changed.argmax()), changed.shape))
        scene = replace(scene, layer=layer, head=head)
    return scene, HeadContext(second, scene.layer, scene.head, 0)


def differ_in_one_word(first: HeadContext, second: HeadContext) -> tuple[list[Word], list[Word], int]:
    """Return the words of two sentences, and the place of the one in which they differ.

    Raises:
        UnfitError: they are too short, or do not differ in exactly one word.
    """
    ours, theirs = words_of(first.tokens), words_of(second.tokens)
    check_length(ours)
    apart = [
        place for place, (one, other) in enumerate(zip(ours, theirs, strict=False)) if folded(one) != folded(other)
    ]
    if len(ours) != len(theirs) or len(apart) != 1:
        raise UnfitError(
            message("The two sentences must have as many words as each other, and differ in exactly one of them.")
        )
    return ours, theirs, apart[0]
