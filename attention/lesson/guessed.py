"""Words missing from a model's lexicon, and the consequences for its heads."""

from __future__ import annotations

from attention.core.messages import message, messages
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, listed, word

# Further words are only counted.
MAX_NAMED = 5


def tell_guessed(scene: HeadContext) -> str:
    """Return as HTML which words the model guessed from their endings; empty if it knew them all."""
    words = _guessed(scene)
    if not words:
        return ""
    named = [f"“{word(each)}”" for each in words]
    facts = {"model": word(scene.info.name), "words": listed(named, MAX_NAMED)}
    return lesson("tokens/guessed", **facts) + tell_mostly_guessed(scene)


def tell_mostly_guessed(scene: HeadContext) -> str:
    """Return as HTML a warning about heads that rely on word classes if most words were guessed."""
    words = [token for token in scene.tokens if any(map(str.isalpha, token.typed)) and not token.is_special]
    guessed = [token for token in words if token.is_guessed]
    if 2 * len(guessed) <= len(words) or "noun" not in scene.info.feature_names:
        return ""
    return lesson("tokens/guessed-most", guessed=_part(len(guessed), len(words)))


def _part(some: int, count: int) -> str:
    """Say which share of the words was guessed, as part of a sentence."""
    if count == 1:
        return message("the only word")
    if some == count:
        return messages("all {n} word", "all {n} words", count)
    return messages("{some} of the {n} word", "{some} of the {n} words", count, some=some)


def _guessed(scene: HeadContext) -> list[str]:
    found: dict[str, str] = {}
    for token in scene.tokens:
        if token.is_guessed:
            found.setdefault(token.text, token.typed)
    return list(found.values())
