"""What every model of the catalogue is to the rest of the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from numpy import ndarray as Array

from attention.masks import MaskName
from attention.trace import Cut, LayerTrace, ModelInfo, Token, Trace

__all__ = ["Batch", "Encoded", "Model", "ModelInfo", "ModelUnavailableError", "check_batch"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as a model reads it: cleaned, in tokens, and where it was cut if the model takes no more."""

    text: str
    tokens: tuple[Token, ...]
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of a model on B texts of T tokens each, unmasked.

    To the equation of attention, more texts are more heads: each layer has ``B·H`` of them, those of the first
    text first, so that its weights are of shape (B·H, T, T).
    """

    texts: tuple[Encoded, ...]
    layers: tuple[LayerTrace, ...]
    info: ModelInfo


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
                really run with it, in every layer.

        Raises:
            ValueError: no text is left after cleaning, a pair for a model that takes none, or a bad mask.
        """

    def encode(self, text: str) -> Encoded:
        """Clean a text and cut it into tokens, at most ``info.max_tokens``, without running the model.

        Raises:
            ValueError: no text is left after cleaning.
        """

    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """Run the model once on several texts of equal length and record its attention, unmasked.

        Raises:
            ValueError: there is no text, or they differ in their number of tokens.
        """


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
