"""What every model of the catalogue is to the rest of the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jaxtyping import Float
from numpy import ndarray as Array

from attention.masks import MaskName
from attention.trace import Cut, LayerTrace, ModelInfo, Token, Trace

__all__ = ["Answer", "Batch", "Encoded", "Model", "ModelInfo", "ModelUnavailableError", "NextToken", "check_batch"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as a model reads it: cleaned, in tokens, and where it was cut if the model takes no more."""

    text: str
    tokens: tuple[Token, ...]
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of a model on B texts of T tokens each, with no mask but the model's own.

    To the equation of attention, more texts are more heads: each layer has ``B·H`` of them, those of the first
    text first, so that its weights are of shape (B·H, T, T).
    """

    texts: tuple[Encoded, ...]
    layers: tuple[LayerTrace, ...]
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class NextToken:
    """What a decoder holds each token of its vocabulary for, as the one that comes next after a text.

    ``logits[0]`` is read off the last token's vector before the first layer, ``logits[l]`` after layer l: the final
    norm and the unembedding are applied to it as they stand (the logit lens, nostalgebraist 2020). The last row is
    the model's own answer. ``labels`` says how each token is shown, ``texts`` what it would add to the text: None if
    that is no text, as of a special token or a part of a character.
    """

    logits: Float[Array, "L+1 V"]
    labels: tuple[str, ...]
    texts: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model that sorts things into classes holds each class for: ``p = softmax(logits)``."""

    labels: tuple[str, ...]
    logits: Float[Array, " C"]


class Model(Protocol):
    """A model that turns text into a trace."""

    @property
    def info(self) -> ModelInfo:
        """What the model is."""

    def trace(self, text: str, pair: str | None = None, *, mask: MaskName | Array | None = None) -> Trace:
        """Run the model once on the text (and a second one, where it takes pairs) and record its attention.

        Args:
            text: any text; it is cleaned, and cut at ``info.max_tokens`` tokens.
            pair: a second text, for models that take two.
            mask: "none", "causal", "padding", or an additive array over all tokens; the model is
                really run with it, in every layer. A decoder hides later tokens whatever the mask.

        Raises:
            ValueError: no text is left after cleaning, a pair for a model that takes none, or a bad mask.
        """

    def encode(self, text: str) -> Encoded:
        """Clean a text and cut it into tokens, at most ``info.max_tokens``, without running the model.

        Raises:
            ValueError: no text is left after cleaning.
        """

    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """Run the model once on several texts of equal length and record its attention, with no mask but its own.

        Raises:
            ValueError: there is no text, or they differ in their number of tokens.
        """

    def next_token(self, trace: Trace) -> NextToken | None:
        """Say what comes next after the text of a trace of this model; None if it is no decoder."""

    def answer(self, trace: Trace) -> Answer | None:
        """Say what a trace of this model was taken for; None if it does not sort what it reads into classes."""


def check_batch(texts: Sequence[Encoded]) -> None:
    """Refuse texts that cannot be run together.

    Raises:
        ValueError: there is none, or they differ in their number of tokens.
    """
    lengths = sorted({len(text.tokens) for text in texts})
    if len(lengths) != 1:
        raise ValueError(f"a batch must have texts of one number of tokens, got {lengths}")


class ModelUnavailableError(Exception):
    """A model cannot be loaded; the message says why, and ``remedy`` what mends it."""

    def __init__(self, message: str, remedy: str) -> None:
        """Keep the sentence for the page and the command that mends it."""
        super().__init__(message)
        self.remedy = remedy
