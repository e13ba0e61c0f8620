"""Subjects and objects: nouns with determiners, adjectives and possessors; names; pronouns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from attention.training import lexicon
from attention.training.lexicon import Adjective, Gender, Noun
from attention.training.sentence import VOWELS, English, French, Phrase, pair

_OWNED = frozenset({"own", "family", "thing", "clothes", "gift", "text", "home", "picture"})

DETERMINERS = ("definite", "definite", "definite", "indefinite", "indefinite", "possessive", "demonstrative", "number")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A subject or object with its features for agreement; persons are 0 (I) to 5 (they)."""

    phrase: Phrase
    gender: Gender
    person: int
    classes: frozenset[str]
    lemmas: tuple[str, ...]

    @property
    def is_plural(self) -> bool:
        """Whether it is we, you or they."""
        return self.person >= 3

    @property
    def is_person(self) -> bool:
        """Whether it is a person."""
        return "person" in self.classes

    @property
    def place_groups(self) -> frozenset[str]:
        """The groups of places where it can be: not under a table for a person, nor in a kitchen for a cow."""
        if self.is_person:
            return frozenset({*lexicon.PLACES, "travel"}) - {"under"}
        return frozenset({"nature", "home", "under"} if "indoors" in self.classes else {"nature"})


def animate(rng: random.Random) -> NounPhrase:
    """Draw a person: a pronoun, one or two names, or a noun."""
    kind = rng.random()
    if kind < 0.4:
        french, english, person, genders = rng.choice(lexicon.PRONOUNS)
        gender: Gender = "f" if rng.choice(genders) == "f" else "m"
        return NounPhrase(pair(french, english), gender, person, frozenset({"person", "pronoun"}), (french,))
    if kind < 0.6:
        return named(rng.choice(lexicon.NAMES))
    if kind < 0.66:
        one, other = (named(name) for name in rng.sample(lexicon.NAMES, 2))
        both: Gender = "f" if one.gender == other.gender == "f" else "m"
        phrase = one.phrase + pair("et", "and") + other.phrase
        return NounPhrase(phrase, both, 5, one.classes, one.lemmas + other.lemmas)
    return noun_phrase(rng, rng.choice([noun for noun in lexicon.nouns() if "person" in noun.classes]))


def named(name: Noun) -> NounPhrase:
    """Return a phrase for the name of a person or city."""
    return NounPhrase(pair(name.french, name.english, is_content=True), name.gender, 2, name.classes, (name.french,))


def country(country: Noun) -> NounPhrase:
    """Return a phrase for a country, with an article only in French."""
    article, noun = French("le" if country.gender == "m" else "la"), French(country.french)
    phrase = Phrase((article, noun), (English(country.english, (noun,), is_content=True),))
    return NounPhrase(phrase, country.gender, 2, country.classes, (country.french,))


def noun_phrase(
    rng: random.Random,
    noun: Noun,
    *,
    determiners: Sequence[str] = DETERMINERS,
    owner: NounPhrase | None = None,
    may_be_mass: bool = False,
    is_negated: bool = False,
    is_plain: bool = False,
) -> NounPhrase:
    """Draw a determiner, adjectives and a possessor for a noun: *la petite maison blanche de Marie*."""
    determiner = _determiner(rng, noun, determiners, may_be_mass=may_be_mass, is_negated=is_negated)
    is_plural = noun.french_plural is not None and (determiner == "number" or rng.random() < 0.3)
    described = described_noun(rng, noun, is_plural=is_plural, is_plain=is_plain)
    possessor = None
    if determiner in {"definite", "general"} and noun.classes & _OWNED and rng.random() < 0.25:
        possessor = _possessor(rng)
    if possessor is None:
        phrase = with_determiner(
            rng,
            determiner,
            described,
            noun.gender,
            is_plural=is_plural,
            is_mass="mass" in noun.classes,
            owner=owner,
            is_negated=is_negated,
        )
    else:
        phrase = possessed(described, noun.gender, possessor, is_plural=is_plural)
    lemmas = (noun.french, *sorted(described.lemmas))
    return NounPhrase(phrase, noun.gender, 5 if is_plural else 2, noun.classes, lemmas)


def _determiner(
    rng: random.Random, noun: Noun, determiners: Sequence[str], *, may_be_mass: bool, is_negated: bool
) -> str:
    determiner = rng.choice(determiners)
    if "family" in noun.classes:
        return "possessive"
    if determiner == "possessive" and not noun.classes & _OWNED:
        determiner = "general" if "general" in determiners else "definite"
    if "mass" not in noun.classes:
        return determiner
    if determiner in {"indefinite", "number"} or (determiner == "definite" and is_negated):
        return "partitive" if may_be_mass else "definite"
    return determiner


@dataclass(frozen=True, slots=True)
class _Described:
    """A noun with its adjectives, but without a determiner."""

    phrase: Phrase
    lemmas: tuple[str, ...]
    starts_with_adjective: bool


def described_noun(rng: random.Random, noun: Noun, *, is_plural: bool, is_plain: bool) -> _Described:
    """Add up to two adjectives: some precede the French noun, most follow it; all precede the English noun."""
    first, last = (None, None) if is_plain else _two_adjectives(rng, noun)
    plural, english_plural = noun.french_plural, noun.english_plural
    head = pair(
        plural if is_plural and plural else noun.french,
        english_plural if is_plural and english_plural else noun.english,
        is_content=True,
    )
    before = after = Phrase()
    if first is not None:
        meets_vowel = noun.gender == "m" and not is_plural and noun.french[0] in VOWELS
        form = first.before_vowel if meets_vowel else first.agreeing(noun.gender, is_plural=is_plural)
        before = pair(form, first.english, is_content=True)
    if last is not None:
        after = pair(last.agreeing(noun.gender, is_plural=is_plural), last.english, is_content=True)
    is_turned = first and last and lexicon.KINDS.index(last.kind) < lexicon.KINDS.index(first.kind)
    adjectives = (after, before) if is_turned else (before, after)
    english = (word for part in (*adjectives, head) for word in part.english)
    lemmas = tuple(adjective.masculine for adjective in (first, last) if adjective)
    phrase = Phrase((*before.french, *head.french, *after.french), tuple(english))
    return _Described(phrase, lemmas, starts_with_adjective=first is not None)


def _two_adjectives(rng: random.Random, noun: Noun) -> tuple[Adjective | None, Adjective | None]:
    """Draw an adjective that precedes the noun in French and one that follows it, or None for either."""
    before, after = (_fitting(noun, is_before=is_before) for is_before in (True, False))
    kind = rng.random()
    first = rng.choice(before) if before and kind < 0.25 else None
    last = rng.choice(after) if after and (kind < 0.06 or 0.25 <= kind < 0.5) else None
    return first, last


@cache
def _fitting(noun: Noun, *, is_before: bool) -> tuple[Adjective, ...]:
    return tuple(a for a in lexicon.adjectives() if a.is_before == is_before and a.classes & noun.classes)


def with_determiner(
    rng: random.Random,
    determiner: str,
    described: _Described,
    gender: Gender,
    *,
    is_plural: bool,
    is_mass: bool,
    owner: NounPhrase | None,
    is_negated: bool,
) -> Phrase:
    """Put a determiner before a noun and its adjectives."""
    form = 2 if is_plural else int(gender == "f")
    match determiner:
        case "definite":
            head = pair(("le", "la", "les")[form], "the")
        case "general":
            # "j'aime le café, j'aime les chats" means coffee and cats in general; "la robe" is a particular dress.
            article = French(("le", "la", "les")[form])
            head = Phrase((article,), () if is_plural or is_mass else (English("the", (article,)),))
        case "demonstrative":
            head = pair(("ce", "cette", "ces")[form], "these" if is_plural else "this")
        case "number":
            head = pair(*rng.choice(lexicon.NUMBERS))
        case "possessive":
            head = _possessive(rng, form, owner)
        case "partitive":
            # No English counterpart; it becomes "de" after "ne … pas".
            words = ("de",) if is_negated else (("de", "le"), ("de", "la"))[form]
            head = Phrase(tuple(map(French, words)))
        case _ if is_plural:
            # "de petits chats" before an adjective, but "des chats noirs".
            head = Phrase((French("de" if described.starts_with_adjective else "des"),))
        case _:
            head = pair("une" if form else "un", "a")
    return head + described.phrase


def _possessive(rng: random.Random, form: int, owner: NounPhrase | None) -> Phrase:
    """Draw an owner: the subject, me, you or us; "son" only if the subject decides between "his" and "her"."""
    persons = [0, 1, 3, 4]
    if owner is not None and owner.is_person:
        persons += [owner.person] * 3
    person = rng.choice(persons)
    row = lexicon.POSSESSIVES[person]
    is_hers = person == 2 and owner is not None and owner.gender == "f"
    return pair(row[form], "her" if is_hers else row[3])


def _possessor(rng: random.Random) -> NounPhrase:
    """Draw a possessor: *Marie*, *le roi*, *mon père*."""
    if rng.random() < 0.5:
        return named(rng.choice(lexicon.NAMES))
    noun = rng.choice([noun for noun in lexicon.nouns() if noun.classes & {"adult", "child", "family"}])
    french = French(noun.french)
    body = Phrase((french,), (English(noun.english, (french,), is_content=True),))
    form = int(noun.gender == "f")
    head = _possessive(rng, form, None) if "family" in noun.classes else pair(("le", "la")[form], "the")
    return NounPhrase(head + body, noun.gender, 2, noun.classes, (noun.french,))


def possessed(described: _Described, gender: Gender, possessor: NounPhrase, *, is_plural: bool) -> Phrase:
    """Turn *le chat noir de Marie* into *Marie's black cat*, without the article and in reverse order."""
    article = French("les" if is_plural else "la" if gender == "f" else "le")
    of = French("de")
    french = (article, *described.phrase.french, of, *possessor.phrase.french)
    return Phrase(french, (*possessor.phrase.english, English("'s", (of,)), *described.phrase.english))
