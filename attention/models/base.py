"""The interface of every model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.ablation import Change, Output
from attention.core.interventions import Intervention, Run
from attention.core.masks import MaskName
from attention.core.steps import softmax
from attention.core.trace import Cut, LayerTrace, ModelInfo, Token, Trace
from attention.models.one_page import Insides


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as a model reads it: tokenised, and possibly cut to fit."""

    text: str
    tokens: tuple[Token, ...]
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of a model on B texts of T tokens each, with only the model's own mask.

    Arrays have an axis of texts before that of heads: weights have the shape (B, H, T, T).
    """

    texts: tuple[Encoded, ...]
    layers: tuple[LayerTrace, ...]
    info: ModelInfo


@dataclass(frozen=True, slots=True, repr=False)
class NextToken:
    """A decoder's prediction of the token that follows a text.

    ``logits[0]`` is computed from the last token's vector before the first layer, ``logits[l]`` from that after layer
    l, by the final norm and the unembedding (the logit lens, nostalgebraist 2020). The last row is the model's own
    prediction. ``labels`` display the tokens; ``texts`` are their parts of the text, None for special tokens and
    incomplete characters.
    """

    logits: Float[Array, "L+1 V"]
    labels: tuple[str, ...]
    texts: tuple[str | None, ...]

    def __repr__(self) -> str:
        """Return the most probable tokens and the logits' shape: labels and numbers would be pages."""
        probabilities = softmax(self.logits[-1])
        best = ", ".join(f"{self.labels[at]!r} {probabilities[at]:.1%}" for at in probabilities.argsort()[:-4:-1])
        return f"<NextToken: {best}; logits {self.logits.shape}>"


@dataclass(frozen=True, slots=True)
class Unmasked:
    """A decoder's predictions with its causal mask (first) and without (second).

    ``losses`` are ``−ln p`` of each token after the first, in nats; ``logits`` are those of the next token, and
    ``labels`` display the vocabulary.
    """

    losses: Float[Array, "2 T-1"]
    logits: Float[Array, "2 V"]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A classifier's prediction: a logit for each class, where ``p = softmax(logits)``."""

    labels: tuple[str, ...]
    logits: Float[Array, " C"]


class Model(Protocol):
    """A model that turns a text into a trace."""

    @property
    def info(self) -> ModelInfo:
        """The model's description."""

    def trace(self, text: str, pair: str | None = None, *, mask: MaskName | Array | None = None) -> Trace:
        """Run the model once on the text (and a second one, if it takes pairs) and record its attention.

        Args:
            text: any text, read as it is, with all its white space, and cut at ``info.max_tokens`` tokens.
            pair: a second text, for models that take two.
            mask: "none", "causal", "padding", or an additive array over all tokens, applied in every layer. A decoder
                also hides later tokens, with any mask.

        Raises:
            ValueError: the tokenizer leaves no word, the model does not take a pair, or the mask is invalid.
        """

    def encode(self, text: str) -> Encoded:
        """Tokenise and possibly cut a text without running the model; raise ValueError if no word is left."""

    def as_chat(self, text: str) -> str:
        """Return a text as a user's message in the model's own chat template, up to where the answer begins.

        Raises:
            ValueError: it has no template, or the template fails.
        """

    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """Run the model once on several texts of equal length and record its attention, with only its own mask.

        Raises:
            ValueError: there are no texts, or they differ in their number of tokens.
        """

    def run(self, text: str, interventions: Iterable[Intervention] | Intervention, pair: str | None = None) -> Run:
        """Run the model once with interventions and only its own mask, and record it.

        Weights and outputs of the trace are those of the changed run. Outputs that do not follow from the weights, as
        with ``Ablate(place, "zero")``, are in the layer's ``model_output``.

        Args:
            text: any text, as for ``trace``.
            interventions: ``Ablate``, ``CutEdge`` or ``Patch``; in an encoder–decoder, they change the encoder.
            pair: a second text, as for ``trace``.

        Raises:
            TypeError: something is not an intervention.
            ValueError: a layer, head or token does not exist; the message states the range.
        """

    def next_token(self, trace: Trace) -> NextToken | None:
        """Predict the token that follows the text of a trace; None unless the model is a decoder."""

    def unmasked(self, text: str) -> Unmasked | None:
        """Run the model with and without its causal mask; None unless it predicts the next token.

        Raises:
            ValueError: the tokenizer leaves no word.
        """

    def outputs(self, text: str, pair: str | None, changes: Sequence[Change]) -> Iterator[Output]:
        """Run the model with each change, with only its own mask, and yield the outputs.

        Only the encoder of an encoder–decoder is run.

        Raises:
            ValueError: the tokenizer leaves no word, the model does not take a pair, a layer, head or token does not
                exist, or a token cannot be occluded.
        """

    def insides(self) -> Insides | None:
        """Return the model's own arrays and configuration; None if it has no configuration, or two stacks."""

    def answer(self, trace: Trace) -> Answer | None:
        """Return the classes predicted for a trace of this model; None unless it is a classifier."""


def repr_of(info: ModelInfo) -> str:
    """Return what a model shows of itself: its id and sizes."""
    return f"<Model {info.model_id}: {info.sizes}>"


def check_batch(texts: Sequence[Encoded]) -> None:
    """Raise ValueError unless the texts form a batch: at least one, of equal length."""
    lengths = sorted({len(text.tokens) for text in texts})
    if len(lengths) != 1:
        raise ValueError(f"a batch must have texts of one number of tokens, got {lengths}")


class ModelUnavailableError(Exception):
    """A model cannot be loaded; the message says why, and ``remedy`` is a command that helps."""

    def __init__(self, message: str, remedy: str) -> None:
        """Take the message for the page and the command."""
        super().__init__(message)
        self.remedy = remedy
