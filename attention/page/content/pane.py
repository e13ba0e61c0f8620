"""One model's place on a page: its run, and what is computed from that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Trace
from attention.experiments.corpus import Sentences
from attention.experiments.five_ways import Result
from attention.experiments.measuring import Measured
from attention.experiments.study import StudyResult
from attention.experiments.syntax import SyntaxCheck, SyntaxResult
from attention.figures.heads import HeadThumb
from attention.lesson.head_context import HeadContext
from attention.lesson.heads import head_thumbs
from attention.lesson.proof import Proof, tell_proof
from attention.lesson.quiz import Guess
from attention.lesson.steps.base import Step
from attention.lesson.survey import Look, Survey
from attention.models import ModelInfo, ModelUnavailableError
from attention.models.downloads import State
from attention.page import settings
from attention.page.address import Address, RunKey
from attention.page.blocks import Blocks, Code, Notice, ProofLine, Proven
from attention.page.labs.base import Runs
from attention.page.parameters import Values
from attention.page.view import View

__all__ = ["Found", "Pane", "Server", "missing", "not_for", "proof_line", "proven"]

_TITLES = (message("recomputed"), message("as"), message("differs by up to"), message("as a part of the largest"))


class Found(Runs, Protocol):
    """What takes time to compute from a run: it is computed once and kept by whoever shows it; for labs, and beside."""

    def survey(self, look: Look) -> Survey:
        """Return the survey of all heads with this look."""

    def five_ways(self) -> list[Result]:
        """Return the results of the five ways to write the layer."""

    def thumbs(self) -> tuple[HeadThumb, ...]:
        """Return a small picture of each head of the layer."""

    def syntax(self) -> SyntaxCheck | None:
        """Return what all heads do on the annotated sentences; None if that is not counted yet."""

    def changes(self, run: RunKey, trace: Trace) -> Float[Array, "L H"]:
        """Return the largest change of a weight in each head, from this run to another one of the same model."""


class Server(Protocol):
    """What a page may ask of the server that shows it, beside what was run."""

    def seen_with(self, model_id: str) -> View:
        """Return the view with another model, and with something that it can read; a chosen word stays in focus."""

    def in_memory(self) -> Collection[str]:
        """Return the ids of the models that are in memory."""

    def fetches(self) -> Mapping[str, State]:
        """Return the downloads that go on, and how those have ended that the visitor has seen, by the models' ids."""

    def told(self) -> tuple[Notice, ...]:
        """Return what the visitor's last press came to."""

    def study(self, texts: Sequence[str], *, is_held: bool) -> Measured[StudyResult | None] | None:
        """Return what the heads do on average over texts, so far; None if the model is gone."""

    def sentences(self, key: str) -> Sentences | None:
        """Return the sentences of a file that a visitor has given; None if it is not kept, or not any more."""

    def syntax(self, *, is_held: bool) -> Measured[SyntaxResult] | None:
        """Return how often the heads find what the annotated sentences say, so far; None if the model is gone."""

    def reading(self, text: str) -> Trace | None:
        """Return what the model does on a text, without a mask; None if that fails, or it is gone."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One model's place on the page: its scene and proof, or the reason why there are none."""

    info: ModelInfo
    is_other: bool
    scene: HeadContext | None = None
    proof: Proof | None = None
    reason: ModelUnavailableError | None = None
    # The second sentence that the model really read with the first.
    pair: str = ""
    # The whole run, of which the scene may be a part.
    whole: Trace | None = None
    # The key by which the scene is found again, for what outlives the run of the page.
    address: Address | None = None
    found: Found | None = None
    # The layer and the head that are looked at where no text is read.
    head_of_many: tuple[int, int] | None = None
    # Who shows it; None where a page is made by nobody.
    server: Server | None = None
    # The notices to show if a link and the run disagree.
    notices: tuple[str, ...] = ()
    _guesses: dict[str, Guess | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def place(self) -> tuple[int, int] | None:
        """The layer and the head that are looked at."""
        return self.head_of_many if self.scene is None else (self.scene.layer, self.scene.head)

    @property
    def name(self) -> str:
        """The part of keys that distinguishes the panes."""
        return "other" if self.is_other else "main"

    def thumbs(self) -> tuple[HeadThumb, ...]:
        """Return a small picture of each head of the layer; none if nothing was run."""
        if self.scene is None:
            return ()
        return tuple(head_thumbs(self.scene)) if self.found is None else self.found.thumbs()

    def guess(self, step: Step) -> Guess | None:
        """Return what a step asks about the scene, worked out once; None if it asks nothing, or nothing was run."""
        if self.scene is None:
            return None
        if step.key not in self._guesses:
            self._guesses[step.key] = step.guess(self.scene)
        return self._guesses[step.key]

    @property
    def settings(self) -> settings.OfPane:
        """The parameters of this pane."""
        return settings.OTHER if self.is_other else settings.MAIN


def missing(reason: ModelUnavailableError | None) -> Blocks:
    """Say, in a model's place, why it is not there, and show the command that puts it right, if there is one."""
    if reason is None:
        return ()
    told, remedy = message("{reason} Everything else works without it.", reason=str(reason)), reason.remedy
    if not remedy:
        return (Notice(told),)
    return Notice(message("{told} To mend it, run this and start the app again:", told=told)), Code(remedy, "bash")


def not_for(info: ModelInfo, purpose: str) -> str:
    """Say that a page does not make sense for a model that reads something else."""
    return message(
        "{name} reads {what}, and this page {purpose}: choose another model above.",
        name=info.name,
        what=info.reading.what,
        purpose=purpose,
    )


def proven(view: Values, panes: Sequence[Pane]) -> Blocks:
    """Return the proof, with one line for each model that ran."""
    lines = tuple(
        proof_line(view, pane.info.name, pane.proof, pane.settings) for pane in panes if pane.proof is not None
    )
    return (Proven(lines),) if lines else ()


def proof_line(view: Values, name: str, proof: Proof, place: settings.OfPane = settings.MAIN) -> ProofLine:
    """Return the proof line of one model's run."""
    rows = (_TITLES, *(tuple(row) for row in proof.table()))
    told = tell_proof(name, proof)
    return ProofLine(proof.sentence(name), proof.holds, rows, told, place.proof, view[place.proof])
