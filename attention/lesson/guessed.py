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
    name = "tokens/guessed" if len(words) == 1 else "tokens/guessed-more"
    return lesson(name, model=word(scene.info.name), words=listed(named, MAX_NAMED)) + tell_mostly_guessed(scene)


def tell_mostly_guessed(scene: HeadContext) -> str:
    """Return as HTML a warning about heads that rely on word classes if most words were guessed."""
    words = [token for token in scene.tokens if any(map(str.isalpha, token.typed)) and not token.is_special]
    guessed = [token for token in words if token.is_guessed]
    parts, features = scene.trace.embeddings, scene.info.feature_names
    if 2 * len(guessed) <= len(words) or parts is None or "noun" not in features:
        return ""
    nouns = sum(bool(parts.words[token.position, features.index("noun")]) for token in guessed)
    return lesson(
        "tokens/guessed-most",
        model=word(scene.info.name),
        guessed=_part(len(guessed), len(words)),
        nouns=_as_nouns(nouns, len(guessed)),
    )


def _as_nouns(nouns: int, guessed: int) -> str:
    """Say how many of the guessed words were taken for nouns, as part of a sentence."""
    if guessed == 1:
        return message("it for a noun") if nouns else message("it for no noun")
    if nouns == guessed:
        return message("all of them for nouns")
    return (
        messages("{n} of them for nouns", "{n} of them for nouns", nouns)
        if nouns
        else message("none of them for nouns")
    )


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
