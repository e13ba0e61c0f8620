"""French and English side by side: words, phrases, and sentences with their alignment.

In a phrase, each English word points to the French words it comes from, so the word order may differ and the alignment
is known:

    le chat noir dort    the(le) black(noir) cat(chat) sleeps(dort)

Changes where two French words meet (*la année*, l'année; *de le jardin*, du jardin) are applied last, to the whole
sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

VOWELS = frozenset("aàâeéèêiîoôuûyhœ")  # every h in the lexicon is mute

ELIDED = frozenset({"le", "la", "de", "je", "ne", "me", "te"})

CONTRACTED = {("à", "le"): "au", ("de", "le"): "du"}

BEFORE_VOWEL = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet"}

Combination = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A French sentence, its English translation, and their alignment.

    ``alignment`` holds pairs of an English and a French position, ``content`` the English positions of nouns, names,
    main verbs, adjectives and adverbs; positions count from 0.
    """

    french: tuple[str, ...]
    english: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    content: tuple[int, ...]
    combination: Combination

    def sources(self, english_position: int) -> frozenset[int]:
        """Return the positions of an English word's French sources."""
        return frozenset(french for english, french in self.alignment if english == english_position)


@dataclass(frozen=True, slots=True, eq=False)
class French:
    """A French word at one place of a sentence; compared by identity, because a spelling may recur."""

    text: str


@dataclass(frozen=True, slots=True)
class English:
    """An English word with its French sources."""

    text: str
    sources: tuple[French, ...] = ()
    is_content: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """French words and the English words that translate them."""

    french: tuple[French, ...] = ()
    english: tuple[English, ...] = ()

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.french + other.french, self.english + other.english)


def spell(tokens: Iterable[str]) -> str:
    """Join tokens in normal spelling: ``l' Afrique`` as *l'Afrique*, ``Marie 's`` as *Marie's*."""
    text = ""
    for token in tokens:
        is_attached = not text or text.endswith("'") or token in {".", ",", "'s"}
        text += token if is_attached else f" {token}"
    return text


def pair(french: str, english: str, *, is_content: bool = False) -> Phrase:
    """Return a phrase of one word in each language."""
    word = French(french)
    return Phrase((word,), (English(english, (word,), is_content),))


def set_phrase(text: str) -> Phrase:
    """Parse a phrase of the lexicon: ``la semaine dernière | last/2* week/1*``."""
    words, translations = _parsed(text)
    french = tuple(map(French, words))
    return Phrase(
        french,
        tuple(English(word, tuple(french[i] for i in sources), star) for word, sources, star in translations),
    )


@cache
def _parsed(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[int, ...], bool], ...]]:
    french, english = text.split(" | ")
    words = (word.partition("/") for word in english.split())
    return tuple(french.split()), tuple(
        (word, tuple(map(int, sources.rstrip("*").split(","))), sources.endswith("*")) for word, _, sources in words
    )


def written(parts: Sequence[Phrase], combination: Combination) -> Sentence:
    """Apply elisions and contractions, turn "a" into "an", and number all words."""
    french, positions = _joined([word for part in parts for word in part.french])
    words = [word for part in parts for word in part.english]
    english = [word.text for word in words]
    for i, following in enumerate(english[1:]):
        if english[i] == "a" and following[0].lower() in "aeiou":
            english[i] = "an"
    alignment = {(i, positions[source]) for i, word in enumerate(words) for source in word.sources}
    content = tuple(i for i, word in enumerate(words) if word.is_content)
    return Sentence(tuple(french), tuple(english), tuple(sorted(alignment)), content, combination)


def _joined(words: Sequence[French]) -> tuple[list[str], dict[French, int]]:
    """Elide and contract French words where they meet; return the texts and each word's new position."""
    texts: list[str] = []
    positions: dict[French, int] = {}
    following = [word.text for word in words[1:]]
    for word, after in zip(words, [*following, ""], strict=True):
        text, meets_vowel = word.text, after[:1].lower() in VOWELS and bool(after)
        if text in ELIDED and meets_vowel:
            text = f"{text[0]}'"
        elif texts and (texts[-1], text) in CONTRACTED:
            texts[-1] = CONTRACTED[texts[-1], text]
            positions[word] = len(texts) - 1
            continue
        elif meets_vowel:
            text = BEFORE_VOWEL.get(text, text)
        positions[word] = len(texts)
        texts.append(text)
    return texts, positions
