"""What every model of the catalogue is to the rest of the project."""

from __future__ import annotations

from typing import Protocol

from numpy import ndarray as Array

from attention.masks import MaskName
from attention.trace import ModelInfo, Trace

__all__ = ["Model", "ModelInfo", "ModelUnavailableError"]


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


class ModelUnavailableError(Exception):
    """A model cannot be loaded; the message says why, and ``remedy`` what mends it."""

    def __init__(self, message: str, remedy: str) -> None:
        """Keep the sentence for the page and the command that mends it."""
        super().__init__(message)
        self.remedy = remedy
