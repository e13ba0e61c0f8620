"""The interface of every model to the rest of the project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.ablation import Change, Output
from attention.core.masks import MaskName
from attention.core.trace import Cut, LayerTrace, ModelInfo, Token, Trace
from attention.models.one_page import Insides

__all__ = ["Answer", "Batch", "Encoded", "Model", "ModelInfo", "ModelUnavailableError", "NextToken", "check_batch"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as a model reads it: cleaned, in tokens, and where it was cut if it was too long for the model."""

    text: str
    tokens: tuple[Token, ...]
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of a model on B texts of T tokens each, with only the model's own mask.

    The arrays of each layer have an axis for the texts before that of the heads: its weights have the shape
    (B, H, T, T).
    """

    texts: tuple[Encoded, ...]
    layers: tuple[LayerTrace, ...]
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class NextToken:
    """A decoder's prediction of the token that follows a text: a logit for each token of its vocabulary.

    ``logits[0]`` is computed from the last token's vector before the first layer, ``logits[l]`` from that after layer
    l, by applying the final norm and the unembedding (the logit lens, nostalgebraist 2020). The last row is the model's
    own prediction. ``labels`` are the tokens as they are shown, ``texts`` what each would add to the text; None for
    special tokens and parts of a character.
    """

    logits: Float[Array, "L+1 V"]
    labels: tuple[str, ...]
    texts: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Unmasked:
    """What a decoder predicts with its causal mask (first) and with nothing hidden (second).

    ``losses`` are ``−ln p`` of each token of the text after the first, in nats; ``logits`` are those of the token that
    follows the text, and ``labels`` the vocabulary as it is shown.
    """

    losses: Float[Array, "2 T-1"]
    logits: Float[Array, "2 V"]
    labels: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Return how many bytes the numbers take; the labels are the model's own."""
        return self.losses.nbytes + self.logits.nbytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A classifier's prediction: a logit for each class, where ``p = softmax(logits)``."""

    labels: tuple[str, ...]
    logits: Float[Array, " C"]


class Model(Protocol):
    """A model that turns a text into a trace."""

    @property
    def info(self) -> ModelInfo:
        """What the model is."""

    def trace(self, text: str, pair: str | None = None, *, mask: MaskName | Array | None = None) -> Trace:
        """Run the model once on the text (and on a second one, if it takes pairs) and record its attention.

        Args:
            text: any text; it is cleaned, and cut at ``info.max_tokens`` tokens.
            pair: a second text, for models that take two.
            mask: "none", "causal", "padding", or an additive array over all tokens; the model is
                really run with it, in every layer. A decoder also hides later tokens, whatever the mask.

        Raises:
            ValueError: no text is left after cleaning, the model does not take a pair, or the mask is invalid.
        """

    def encode(self, text: str) -> Encoded:
        """Clean a text and cut it into tokens, at most ``info.max_tokens``, without running the model.

        Raises:
            ValueError: no text is left after cleaning.
        """

    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """Run the model once on several texts of equal length and record its attention, with only its own mask.

        Raises:
            ValueError: there are no texts, or they differ in their number of tokens.
        """

    def next_token(self, trace: Trace) -> NextToken | None:
        """Predict the token that follows the text of a trace; None if the model is not a decoder."""

    def unmasked(self, text: str) -> Unmasked | None:
        """Run the model with its causal mask and without it; None if it does not predict the next token.

        Raises:
            ValueError: no text is left after cleaning.
        """

    def outputs(self, text: str, pair: str | None, changes: Sequence[Change]) -> Iterator[Output]:
        """Run the model once with each change, with only its own mask, and yield what comes out.

        For an encoder–decoder, only the encoder is run.

        Raises:
            ValueError: no text is left after cleaning, there is a pair too many, a change is of a layer, head or
                token that is not there, or a token cannot be blotted out.
        """

    def insides(self) -> Insides | None:
        """Return the model's own arrays and its configuration; None if it has no configuration, or two stacks."""

    def answer(self, trace: Trace) -> Answer | None:
        """Return the classes predicted for what a trace of this model read; None if the model is not a classifier."""


def check_batch(texts: Sequence[Encoded]) -> None:
    """Refuse texts that cannot be run as one batch.

    Raises:
        ValueError: there are no texts, or they differ in their number of tokens.
    """
    lengths = sorted({len(text.tokens) for text in texts})
    if len(lengths) != 1:
        raise ValueError(f"a batch must have texts of one number of tokens, got {lengths}")


class ModelUnavailableError(Exception):
    """A model cannot be loaded; the message says why, and ``remedy`` how to put it right."""

    def __init__(self, message: str, remedy: str) -> None:
        """Keep the sentence for the page and the command that puts it right."""
        super().__init__(message)
        self.remedy = remedy
