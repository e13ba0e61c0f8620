"""One model's place on a page: its run, and everything computed from it."""

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
from attention.experiments.syntax import SyntaxResult
from attention.figures.heads import HeadThumb
from attention.lesson.head_context import HeadContext, needs_all_layers
from attention.lesson.heads import head_thumbs
from attention.lesson.proof import Proof, tell_proof
from attention.lesson.quiz import Guess
from attention.lesson.steps.base import Step
from attention.lesson.survey import Look, Survey
from attention.models import ModelInfo, ModelUnavailableError
from attention.models.downloads import State
from attention.page import settings
from attention.page.address import Address, RunKey
from attention.page.blocks import Blocks, Code, Notice, ProofLine, Proven, Setting
from attention.page.labs.base import Runs
from attention.page.parameters import Values
from attention.page.view import View

_TITLES = (message("recomputed"), message("computed as"), message("largest difference"), message("relative"))


class Found(Runs, Protocol):
    """Slow results of a run, each computed once and cached by the caller."""

    def survey(self, look: Look) -> Survey:
        """Return the survey of all heads with this look."""

    def five_ways(self) -> list[Result]:
        """Return the results of the five ways to write the layer."""

    def thumbs(self) -> tuple[HeadThumb, ...]:
        """Return a thumbnail of each head of the layer."""

    def changes(self, run: RunKey, trace: Trace) -> Float[Array, "L H"]:
        """Return each head's largest change of a weight between this run and another of the same model."""


class Server(Protocol):
    """The services of the server that shows a page."""

    def seen_with(self, model_id: str) -> View:
        """Return the view with another model and a text that it can read; a chosen word stays in focus."""

    def in_memory(self) -> Collection[str]:
        """Return the IDs of the models in memory."""

    def fetches(self) -> Mapping[str, State]:
        """Return the downloads in progress, and the finished ones that the user has seen, by model ID."""

    def told(self) -> tuple[Notice, ...]:
        """Return the result of the user's last click."""

    def study(self, texts: Sequence[str], *, is_held: bool) -> Measured[StudyResult | None] | None:
        """Return the heads' means over texts so far; None if the model was removed."""

    def sentences(self, key: str) -> Sentences | None:
        """Return the sentences of an uploaded file; None if it is not kept."""

    def syntax(self, *, is_held: bool) -> Measured[SyntaxResult] | None:
        """Return the heads' results on the annotated sentences so far; None if the model was removed."""

    def reading(self, text: str) -> Trace | None:
        """Return the model's run on a text without a mask; None if that fails, or the model is gone."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One model's place on the page: its scene and proof, or the reason why there are none."""

    info: ModelInfo
    is_other: bool
    scene: HeadContext | None = None
    proof: Proof | None = None
    reason: ModelUnavailableError | None = None
    pair: str = ""  # the second sentence, as the model read it
    whole: Trace | None = None  # the run that the scene is part of
    address: Address | None = None  # the scene's key, for caches
    found: Found | None = None
    head_of_many: tuple[int, int] | None = None  # the chosen layer and head where no text is read
    server: Server | None = None
    notices: tuple[str, ...] = ()  # shown if the link and the run disagree
    _guesses: dict[str, Guess | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def place(self) -> tuple[int, int] | None:
        """The layer and head in view."""
        return self.head_of_many if self.scene is None else (self.scene.layer, self.scene.head)

    @property
    def name(self) -> str:
        """The part of keys that distinguishes the panes."""
        return "other" if self.is_other else "main"

    def thumbs(self) -> tuple[HeadThumb, ...]:
        """Return a thumbnail of each head of the layer; empty if nothing ran."""
        if self.scene is None:
            return ()
        return tuple(head_thumbs(self.scene)) if self.found is None else self.found.thumbs()

    def guess(self, step: Step) -> Guess | None:
        """Return a step's question about the scene, cached; None if there is none, or nothing ran."""
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
    """Return why a model is missing, and the command that fixes it, if there is one."""
    if reason is None:
        return ()
    told, remedy = message("{reason} Everything else works without it.", reason=str(reason)), reason.remedy
    if not remedy:
        return (Notice(told),)
    return Notice(message("{told} Run this and start the app again:", told=told)), Code(remedy, "bash")


def not_for(info: ModelInfo) -> str:
    """Return the message that a page does not work with a model."""
    if told := needs_all_layers(info):
        return told
    return message(
        "{name} reads {what}, but this page needs English sentences. Choose another model above.",
        name=info.name,
        what=info.reading.what,
    )


def proven(view: Values, panes: Sequence[Pane]) -> Blocks:
    """Return the proof, with one line for each model that ran."""
    return proof_of(view, [(pane.info.name, pane.proof) for pane in panes if pane.proof is not None])


def proof_of(view: Values, proofs: Sequence[tuple[str, Proof]]) -> Blocks:
    """Return the proofs of models by their names; nothing if nothing ran."""
    lines = tuple(_line(name, proof) for name, proof in proofs)
    return (Proven(lines, settings.PROOF, view[settings.PROOF]),) if lines else ()


def _line(name: str, proof: Proof) -> ProofLine:
    rows = (_TITLES, *(tuple(row) for row in proof.table()))
    return ProofLine(proof.sentence(name), proof.holds, rows, tell_proof(name, proof))


def word_choices(pane: Pane) -> tuple[Setting, ...]:
    """Return the choice of the word in focus; none without a run."""
    if pane.scene is None:
        return ()
    labels = {position: f"{position} {label}" for position, label in enumerate(pane.scene.labels)}
    return (Setting(settings.WORD, pane.info.reading.label, pane.scene.word, labels, is_list=True),)


def mask_choices(view: View, info: ModelInfo) -> tuple[Setting, ...]:
    """Return the choice of the mask and, for a model with a chat template, whether to use that."""
    masks = {mask: info.build.mask_names[mask] for mask in settings.masks_of(info)}
    mask = Setting(settings.MASK, message("Mask"), view.mask, masks, is_list=True, help=info.build.mask_help)
    if not info.has_chat:
        return (mask,)
    told = message("Puts the text into the model's chat template.")
    return (mask, Setting(settings.CHAT, message("As a chat"), view[settings.CHAT], help=told))
