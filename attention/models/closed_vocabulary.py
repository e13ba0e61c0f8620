"""Models with a closed vocabulary: their words, and messages about any others."""

from __future__ import annotations

from pathlib import Path

from attention.core.text import clean
from attention.models import bundled, weights
from attention.training.vocabulary import known_words, refusal


def words(model_id: str) -> tuple[str, ...]:
    """Return the words a model knows, alphabetically; empty if it reads any text."""
    folder = _folder(model_id)
    return () if folder is None else known_words(folder)


def refused(model_id: str, text: str) -> str:
    """Name the words of a text that a model does not know; empty if it can read the text."""
    entry, folder = bundled.find(model_id), _folder(model_id)
    return "" if entry is None or folder is None else refusal(entry.info.name, clean(text), folder)


def _folder(model_id: str) -> Path | None:
    entry = bundled.find(model_id)
    if entry is None or entry.weights is None or not entry.info.reading.is_closed:
        return None
    return weights.locate(entry.weights)
