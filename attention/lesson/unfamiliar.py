"""Whether a text is in a language that a model hardly knows, judged by its tokens and by English function words."""

from __future__ import annotations

import re

from attention.core.messages import message
from attention.core.trace import Trace
from attention.core.words import Word, folded, is_punctuation, words_of

__all__ = ["tell_unfamiliar"]

# Of fewer words, a name or two may be most of the text.
_FEWEST = 4
# At least this share of the words must be unknown, where none is an English function word.
_SHARE = 0.5
# What stands in nearly every English sentence, and is no common word of another language.
_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "the of and to is it that for with he she they we you i not are were this be have has had at by from but "
        "because my his her their your our what who when where how which if as do does did will would",
    )
)


def tell_unfamiliar(trace: Trace) -> str:
    """Say in one sentence that the model hardly knows the language of a text; empty if it does, or reads no English.

    Of a model that looks words up and guesses all others, the steps say so themselves (``attention.lesson.guessed``).
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
        "This does not look like English, which is nearly all that {name} knows: {n} of {total} words are unknown to "
        "it or cut into pieces, so its weights here say little.",
        name=trace.info.name,
        n=unknown,
        total=len(words),
    )


def _is_unknown(word: Word) -> bool:
    """Tell whether a word is cut into pieces, stands for any unknown one, or is of another script."""
    is_latin = all(character < "\u0250" for character in word.typed if character.isalpha())
    return len(word.positions) > 1 or word.text == "[UNK]" or not is_latin
