"""Messages about words that a model with a closed vocabulary does not know."""

from __future__ import annotations

from pathlib import Path

from attention.core.messages import message
from attention.training.vocabulary import closest_words, unknown_words


def refusal(name: str, text: str, folder: Path) -> str:
    """Name the words of a cleaned text that a model does not know, with similar known ones; empty if it knows all."""
    unknown = unknown_words(text, folder)
    if not unknown:
        return ""
    told = message(
        "{name} knows only the French words it was trained on, not {words}.",
        name=name,
        words=_quoted(unknown),
    )
    alike = [(word, closest_words(word, folder)) for word in unknown]
    hints = [
        message("Spelt like “{word}”: {words}.", word=word, words=_quoted(found)) for word, found in alike if found
    ]
    return " ".join([told, *hints, message("The words it knows are listed under the field.")])


def _quoted(found: list[str]) -> str:
    return ", ".join(f"“{word}”" for word in found)
