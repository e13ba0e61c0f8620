"""Detection of text in a language foreign to the model, by its tokens and by English function words."""

from __future__ import annotations

import re

from attention.core.messages import message
from attention.core.trace import Trace
from attention.core.words import Word, folded, is_punctuation, words_of

# In a shorter text, names may be in the majority.
_FEWEST = 4
# The least share of unknown words.
_SHARE = 0.5
# Words of nearly every English sentence that are not common in other languages.
_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "the of and to is it that for with he she they we you i not are were this be have has had at by from but "
        "because my his her their your our what who when where how which if as do does did will would",
    )
)


def tell_unfamiliar(trace: Trace) -> str:
    """Return a warning that the model hardly knows the text's language; empty if it does, or does not read English.

    A model with a lexicon has its own warnings (``attention.lesson.guessed``).
    """
    if not trace.info.reading.takes_sentences or trace.info.feature_names:
        return ""
    words = [each for each in words_of(trace.tokens) if not (each.is_special or each.is_padding)]
    words = [each for each in words if not is_punctuation(each)]
    if len(words) < _FEWEST or any(folded(each) in _ENGLISH for each in words):
        return ""
    unknown = sum(_is_unknown(each) for each in words)
    if unknown < _SHARE * len(words):
        return ""
    return message(
        "{n} of {total} words are unknown or cut into pieces. {name} knows mostly English, so its weights say "
        "little here.",
        name=trace.info.name,
        n=unknown,
        total=len(words),
    )


def _is_unknown(word: Word) -> bool:
    """Return whether a word is cut into pieces, is the unknown token, or is not in Latin script."""
    is_latin = all(character < "\u0250" for character in word.typed if character.isalpha())
    return len(word.positions) > 1 or word.text == "[UNK]" or not is_latin
