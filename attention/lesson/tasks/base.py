"""The parts of a search task: its goal, and a judge that reads a submitted view from the record."""

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

_STARTS = ASSETS / "tasks.toml"
# In a shorter sentence, much is found by chance.
LEAST_WORDS = 5


class UnfitError(Exception):
    """A view that a task cannot judge; the message gives the reason and the remedy."""


class Runs(Protocol):
    """Further results of the model for a judge; each takes long, and is cached."""

    def reading(self, text: str) -> Trace | None:
        """Return the model's run on another text; None if the model refuses it or was removed."""

    def forecast(self) -> Forecast | None:
        """Return the prediction of the next token; None if the model does not make one."""

    def syntax(self) -> SyntaxCheck | None:
        """Return all heads' results on the annotated sentences; None if not counted yet."""


@dataclass(frozen=True, slots=True)
class ModelHead:
    """A head of a model; layer and head are counted from 0."""

    model: str
    name: str
    layer: int
    head: int

    def __str__(self) -> str:
        """Return the head as named in a sentence."""
        return message("layer {layer}, head {head} of {name}", layer=self.layer + 1, head=self.head + 1, name=self.name)


@dataclass(frozen=True)
class Handed:
    """A submitted view.

    Attributes:
        scene: the run on its sentence, with its layer and head.
        runs: further results of the model.
        versus: the sentence to compare; empty if there is none.
        is_open: whether no head was chosen, so that the page for two sentences shows the one that changes most.
        given: the head that came with the task, or None.
    """

    scene: HeadContext
    runs: Runs
    versus: str = ""
    is_open: bool = False
    given: ModelHead | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a view: whether it solves the task, a score from 0 to 1, and the finding as HTML."""

    is_solved: bool
    score: float
    told: str = field(repr=False)


def headline(score: float, *, is_solved: bool) -> str:
    """Return the verdict in two words, with the score."""
    facts = {"score": number(score)}
    return message("Found it. Score: {score}", **facts) if is_solved else message("Not yet. Score: {score}", **facts)


@dataclass(frozen=True, slots=True)
class Task:
    """A search task that the app judges.

    Attributes:
        name: its name in requests and links.
        title: its title in lists.
        judge: judges a view; raises UnfitError if it cannot.
        rule: returns as HTML the task and how it is judged, with or without a given head.
        is_given: whether it is about one head, chosen with it.
        is_quick: whether a view is judged without another run of the model.
    """

    name: str
    title: str
    judge: Callable[[Handed], Verdict]
    rule: Callable[[ModelHead | None], str]
    is_given: bool = False
    is_quick: bool = True

    @property
    def page(self) -> str:
        """The address of the page to begin on."""
        return _starts()[self.name]["page"]

    @property
    def is_of_two(self) -> bool:
        """Whether it compares two sentences."""
        return self.page == "compare"

    def start(self, given: ModelHead | None = None) -> dict[str, str]:
        """Return the parameters of the link to begin with."""
        query = dict(parse_qsl(_starts()[self.name]["link"]))
        if given is None:
            return query
        return {**query, "model": given.model, "layer": str(given.layer + 1), "head": str(given.head + 1)}


@cache
def _starts() -> dict[str, dict[str, str]]:
    return tomllib.loads(_STARTS.read_text("utf-8"))


def check_length(words: Sequence[Word]) -> None:
    """Check that a sentence is long enough.

    Raises:
        UnfitError: it has too few words; punctuation marks do not count.
    """
    if sum(not (word.is_special or word.is_padding or is_punctuation(word)) for word in words) < LEAST_WORDS:
        raise UnfitError(message("This sentence needs at least {n} words.", n=LEAST_WORDS))


def both_sentences(handed: Handed) -> tuple[HeadContext, HeadContext]:
    """Return the head's scenes on both sentences; if no head was chosen, those of the head that changes most.

    Raises:
        UnfitError: there is no second sentence, or the model refuses it.
    """
    if not handed.versus:
        raise UnfitError(message("This view has one sentence. Compare two on the page Compare."))
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
    """Return the words of two sentences, and the index of the one in which they differ.

    Raises:
        UnfitError: they are too short, or do not differ in exactly one word.
    """
    ours, theirs = words_of(first.tokens), words_of(second.tokens)
    check_length(ours)
    apart = [
        place for place, (one, other) in enumerate(zip(ours, theirs, strict=False)) if folded(one) != folded(other)
    ]
    if len(ours) != len(theirs) or len(apart) != 1:
        raise UnfitError(message("The sentences must have equally many words and differ in exactly one."))
    return ours, theirs, apart[0]
