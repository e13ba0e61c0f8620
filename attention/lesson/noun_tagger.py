"""Word classes from the toy's lexicon: nouns, pronouns and function words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import dropwhile

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.core.words import APOSTROPHES, Word, end_of, follows_apostrophe, is_punctuation, words_of
from attention.models.toy import ENDINGS, WORD_FEATURES, describe, is_guessed, read_lexicon

_PRONOUNS = frozenset({"it", "he", "she", "they", "him", "them"})
_NOUN = WORD_FEATURES.index("noun")
_GRAMMAR = tuple(map(WORD_FEATURES.index, ("determiner", "preposition", "conjunction")))
# A noun can follow these, and a verb of full strength; auxiliaries have half of it.
_BEFORE_NOUNS = list(map(WORD_FEATURES.index, ("determiner", "adjective", "preposition")))
_VERB = WORD_FEATURES.index("verb")
# A verb can follow these: *to break*, *the vase that broke*.
_BEFORE_VERBS = frozenset({"to", "that", "which"})
_NOUN_ENDINGS = tuple(ending for ending, features in ENDINGS if features.startswith("noun"))


def nouns_of(tokens: Sequence[Token]) -> list[int]:
    """Return the indices of the nouns among a text's words (``attention.core.words.words_of``).

    A word missing from the lexicon is judged by its form and its place (see ``_is_noun_by_place``).
    """
    words = words_of(tokens)
    starts = {token.position: token.start for token in tokens}
    return [
        place
        for place, each in enumerate(words)
        if _is_noun(each)
        and (not is_guessed(each.typed.strip(), _lexicon()) or _is_noun_by_place(place, words, starts))
    ]


def noun_tokens(tokens: Sequence[Token]) -> list[tuple[int, ...]]:
    """Return the token positions of each noun of a text."""
    words = words_of(tokens)
    return [words[place].positions for place in nouns_of(tokens)]


def pronouns_of(tokens: Sequence[Token]) -> list[int]:
    """Return the positions of a text's pronouns: *it*, *she*, *them*."""
    return [each.position for each in words_of(tokens) if each.typed.strip().lower() in _PRONOUNS]


def has_pronoun(text: str) -> bool:
    """Return whether a text has a pronoun after a noun."""
    words = re.findall(r"\w+(?:['’]\w+)?", text.lower())
    after_noun = dropwhile(lambda each: not _is_most_likely_noun(each), words)
    return any(re.split("['’]", each)[0] in _PRONOUNS for each in after_noun)


def grammar_tokens(tokens: Sequence[Token]) -> set[int]:
    """Return the positions of all tokens of determiners, prepositions and conjunctions."""
    return {position for each in words_of(tokens) if _is_grammar(each) for position in each.positions}


def _is_grammar(word: Word) -> bool:
    if word.is_special or word.is_padding or is_guessed(word.typed.strip(), _lexicon()):
        return False
    return int(describe(word.typed.strip(), _lexicon()).argmax()) in _GRAMMAR


def _is_noun_by_place(place: int, words: Sequence[Word], starts: Mapping[int, int | None]) -> bool:
    """Return whether an unknown word has a noun's ending or a capital, or follows a word that asks for a noun.

    One at an apostrophe never counts: *didn* and *t*, where a model cuts *didn't*.
    """
    word, before = words[place], words[place - 1].typed.strip() if place else ""
    is_before_one = place + 1 < len(words) and words[place + 1].typed.startswith(APOSTROPHES)
    is_next_to_it = is_before_one and end_of(word, starts) == starts[words[place + 1].position]
    if is_next_to_it or follows_apostrophe(place, words, starts):
        return False
    if word.typed.strip()[:1].isupper() or word.typed.strip().endswith(_NOUN_ENDINGS):
        return True
    features = describe(before, _lexicon())
    return before.lower() not in _BEFORE_VERBS and bool(features[_BEFORE_NOUNS].any() or features[_VERB] == 1)


def _is_noun(word: Word) -> bool:
    if word.is_special or word.is_padding or is_punctuation(word):
        return False
    return _is_most_likely_noun(word.typed.strip())


def _is_most_likely_noun(typed: str) -> bool:
    features = describe(typed, _lexicon())
    return bool(features[_NOUN] > 0 and features[_NOUN] == features.max())


@cache
def _lexicon() -> dict[str, Float[Array, " 10"]]:
    return read_lexicon()
