"""Models that read only words on which they were trained: which these are, and what is said of any other."""

from __future__ import annotations

from pathlib import Path

from attention.messages import message
from attention.models import bundled, weights
from attention.text import clean
from attention.training.vocabulary import closest_words, known_words, unknown_words

__all__ = ["refusal", "refused", "words"]


def words(model_id: str) -> tuple[str, ...]:
    """Return the only words that a model reads, in the order of the alphabet; none if it reads any text."""
    folder = _folder(model_id)
    return () if folder is None else known_words(folder)


def refused(model_id: str, text: str) -> str:
    """Say which words of a text a model does not know, if it knows only some; empty if it can read the text."""
    entry, folder = bundled.find(model_id), _folder(model_id)
    return "" if entry is None or folder is None else refusal(entry.info.name, clean(text), folder)


def refusal(name: str, text: str, folder: Path) -> str:
    """Say which words of a cleaned text the model in a folder does not know, and which are spelt alike; or nothing."""
    unknown = unknown_words(text, folder)
    if not unknown:
        return ""
    told = message(
        "{name} knows only the French words that it was trained on, and not {words}.",
        name=name,
        words=_quoted(unknown),
    )
    alike = [(word, closest_words(word, folder)) for word in unknown]
    hints = [
        message("Spelt like “{word}”: {words}.", word=word, words=_quoted(found)) for word, found in alike if found
    ]
    return " ".join([told, *hints, message("Under the field are all words that it knows.")])


def _quoted(found: list[str]) -> str:
    return ", ".join(f"“{word}”" for word in found)


def _folder(model_id: str) -> Path | None:
    """Return the folder of a bundled model that reads only words on which it was trained."""
    entry = bundled.find(model_id)
    if entry is None or entry.weights is None or not entry.info.reading.is_closed:
        return None
    return weights.locate(entry.weights)
