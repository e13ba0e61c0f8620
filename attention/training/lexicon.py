"""The words of the translator's grammar.

Nouns, adjectives and verbs are in ``assets/grammar/``, shorter tables below. *Classes* determine which words go
together: a verb names the classes of its objects, an adjective those of its nouns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from attention.core.paths import ASSETS

Gender = Literal["m", "f"]

# English adjectives stand in this order: "a funny old black cat".
KINDS = ("opinion", "size", "quality", "age", "colour", "origin")

FOLDER = ASSETS / "grammar"
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun or name in both languages, with its plurals (None: no such form) and classes."""

    french: str
    french_plural: str | None
    gender: Gender
    english: str
    english_plural: str | None
    classes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective: its French forms, whether it precedes the noun in French, and its kind, one of ``KINDS``."""

    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    before_vowel: str
    is_before: bool
    english: str
    kind: str
    classes: frozenset[str]

    def agreeing(self, gender: Gender, *, is_plural: bool) -> str:
        """Return the French form for a gender and number."""
        forms = ((self.masculine, self.masculine_plural), (self.feminine, self.feminine_plural))
        return forms[gender == "f"][is_plural]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: six French present forms (je … ils), its compound past, and three English forms.

    ``objects_of_people`` and ``objects_of_animals`` are the classes of objects by kind of subject: "none" if the object
    is optional; empty if such a subject cannot do this.
    """

    french: str
    present: tuple[str, ...]
    auxiliary: str
    participle: str
    base: str
    third: str
    past: str
    particle: str | None
    objects_of_people: frozenset[str]
    objects_of_animals: frozenset[str]
    places: tuple[str, ...]
    tags: frozenset[str]


# French, English, the person (0 to 5: I, you, he or she, we, you, they), and the possible genders.
PRONOUNS: tuple[tuple[str, str, int, str], ...] = (
    ("je", "I", 0, "mf"),
    ("tu", "you", 1, "mf"),
    ("il", "he", 2, "m"),
    ("elle", "she", 2, "f"),
    ("nous", "we", 3, "mf"),
    ("vous", "you", 4, "mf"),
    ("ils", "they", 5, "m"),
    ("elles", "they", 5, "f"),
)
# Before the verb in French, after it in English.
OBJECT_PRONOUNS = (("me", "me"), ("te", "you"), ("nous", "us"), ("vous", "you"))

# By person: before a masculine noun, a feminine one, a plural; in English, where "son" is "his" or "her".
POSSESSIVES: tuple[tuple[str, str, str, str], ...] = (
    ("mon", "ma", "mes", "my"),
    ("ton", "ta", "tes", "your"),
    ("son", "sa", "ses", "his"),
    ("notre", "notre", "nos", "our"),
    ("votre", "votre", "vos", "your"),
    ("leur", "leur", "leurs", "their"),
)

# The present of avoir and être, the imperfect of être, and the present and past of be.
AUXILIARIES: dict[str, tuple[str, ...]] = {
    "avoir": ("ai", "as", "a", "avons", "avez", "ont"),
    "être": ("suis", "es", "est", "sommes", "êtes", "sont"),
    "était": ("étais", "étais", "était", "étions", "étiez", "étaient"),
    "is": ("am", "are", "is", "are", "are", "are"),
    "was": ("was", "were", "was", "were", "were", "were"),
}

NUMBERS = (
    ("deux", "two"), ("trois", "three"), ("quatre", "four"), ("cinq", "five"), ("six", "six"), ("sept", "seven"),
    ("huit", "eight"), ("neuf", "nine"), ("dix", "ten"), ("plusieurs", "several"),
)  # fmt: skip

# Adverbs of frequency, which precede the verb in English, and of manner, which are last in English.
ADVERBS: dict[str, tuple[tuple[str, str], ...]] = {
    "often": (("souvent", "often"), ("toujours", "always"), ("parfois", "sometimes"), ("rarement", "rarely")),
    "manner": (("bien", "well"), ("mal", "badly")),
    "fast": (("vite", "fast"),),
}

_MEN = "Paul Pierre Thomas Lucas Louis Nicolas Antoine"
_WOMEN = "Jane Marie Anna Julie Sophie Emma Alice"
NAMES = (
    *(Noun(name, None, "m", name, None, frozenset({"person", "name"})) for name in _MEN.split()),
    *(Noun(name, None, "f", name, None, frozenset({"person", "name"})) for name in _WOMEN.split()),
)

CITIES = tuple(
    Noun(french, None, "m", english, None, frozenset({"city"}))
    for french, english in (
        ("Paris", "Paris"), ("Londres", "London"), ("Rome", "Rome"), ("Berlin", "Berlin"), ("Madrid", "Madrid"),
        ("Lyon", "Lyon"), ("Venise", "Venice"), ("Genève", "Geneva"), ("Vienne", "Vienna"), ("Athènes", "Athens"),
    )
)  # fmt: skip

COUNTRIES = tuple(
    Noun(french, None, "m" if english in {"Japan", "Canada", "Portugal", "Brazil", "Mexico"} else "f",
         english, None, frozenset({"country"}))
    for french, english in (
        ("Afrique", "Africa"), ("Europe", "Europe"), ("Asie", "Asia"), ("France", "France"), ("Italie", "Italy"),
        ("Espagne", "Spain"), ("Allemagne", "Germany"), ("Angleterre", "England"), ("Chine", "China"),
        ("Suisse", "Switzerland"), ("Japon", "Japan"), ("Canada", "Canada"), ("Portugal", "Portugal"),
        ("Brésil", "Brazil"), ("Mexique", "Mexico"),
    )
)  # fmt: skip

# Set phrases. After the bar comes each English word with the index of its French source, counted from 0 (several are
# separated by commas), and a star if it is a content word. Contractions (à le, au) and elisions (la année) come later.
TIMES: dict[str, tuple[str, ...]] = {
    "past": (
        "hier | yesterday/0*",
        "hier matin | yesterday/0* morning/1*",
        "hier soir | yesterday/0* evening/1*",
        "ce matin | this/0 morning/1*",
        "la semaine dernière | last/2* week/1*",
        "le mois dernier | last/2* month/1*",
        "la année dernière | last/2* year/1*",
        "le été dernier | last/2* summer/1*",
        *(f"{day} dernier | last/1* {english}/0*" for day, english in (
            ("lundi", "Monday"), ("mardi", "Tuesday"), ("mercredi", "Wednesday"), ("jeudi", "Thursday"),
            ("vendredi", "Friday"), ("samedi", "Saturday"), ("dimanche", "Sunday"),
        )),
    ),
    "present": (
        "le matin | in/0 the/0 morning/1*",
        "le après-midi | in/0 the/0 afternoon/1*",
        "le soir | in/0 the/0 evening/1*",
        "la nuit | at/0 night/1*",
        "chaque jour | every/0* day/1*",
        "chaque année | every/0* year/1*",
        *(f"le {day} | on/0 {english}s/1*" for day, english in (
            ("lundi", "Monday"), ("mardi", "Tuesday"), ("mercredi", "Wednesday"), ("jeudi", "Thursday"),
            ("vendredi", "Friday"), ("samedi", "Saturday"), ("dimanche", "Sunday"),
        )),
    ),
    "plan": (
        "demain | tomorrow/0*",
        "aujourd'hui | today/0*",
        "ce soir | this/0 evening/1*",
        "la semaine prochaine | next/2* week/1*",
        "le mois prochain | next/2* month/1*",
        "la année prochaine | next/2* year/1*",
    ),
    "any": (
        *(f"en {month} | in/0 {english}/1*" for month, english in (
            ("janvier", "January"), ("février", "February"), ("mars", "March"), ("avril", "April"), ("mai", "May"),
            ("juin", "June"), ("juillet", "July"), ("août", "August"), ("septembre", "September"),
            ("octobre", "October"), ("novembre", "November"), ("décembre", "December"),
        )),
        "en été | in/0 summer/1*",
        "en automne | in/0 autumn/1*",
        "en hiver | in/0 winter/1*",
        "à le printemps | in/0,1 spring/2*",
    ),
}  # fmt: skip

# Set phrases of preposition, article and noun; each preposition goes with each noun of its entry.
_PREPOSITIONS = {
    "dans": "in/0 the/1 {}/2*",
    "sur": "on/0 the/1 {}/2*",
    "sous": "under/0 the/1 {}/2*",
    "devant": "in/0 front/0 of/0 the/1 {}/2*",
    "derrière": "behind/0 the/1 {}/2*",
    "près de": "near/0,1 the/2 {}/3*",
}


def _by(prepositions: str, nouns: str) -> tuple[str, ...]:
    """Return every phrase of these prepositions and nouns; each noun has its article and translation."""
    pairs = (noun.split("=") for noun in nouns.split(", "))
    return tuple(
        f"{preposition} {french} | {_PREPOSITIONS[preposition].format(english)}"
        for french, english in pairs
        for preposition in prepositions.split(", ")
    )


PLACES: dict[str, tuple[str, ...]] = {
    "nature": (
        *_by("dans, devant, près de", "le jardin=garden, le parc=park, la forêt=forest"),
        *_by("devant, derrière, près de", "la maison=house, le église=church, le château=castle, le arbre=tree"),
        *_by("près de", "le lac=lake, la rivière=river, la mer=sea, le pont=bridge"),
        "dans la rue | in/0 the/1 street/2*",
        "à la plage | at/0 the/1 beach/2*",
    ),
    "home": (
        "à la maison | at/0 home/2*",
        *_by("dans", "la maison=house, la cuisine=kitchen, la chambre=bedroom, le jardin=garden"),
        *_by("devant, près de", "la fenêtre=window, la porte=door, la maison=house"),
        *_by("près de", "le lit=bed, la table=table"),
        *_by("sur", "le lit=bed"),
    ),
    "town": (
        "à le école | at/0 school/2*",
        "à le hôtel | at/0 the/1 hotel/2*",
        "à le marché | at/0 the/1 market/2*",
        "à la gare | at/0 the/1 station/2*",
        *_by("dans", "le restaurant=restaurant, le magasin=shop, le bureau=office, la bibliothèque=library"),
        *_by("devant, près de", "le musée=museum, la gare=station, le école=school, le restaurant=restaurant"),
        *_by("devant, près de", "le magasin=shop, le théâtre=theatre"),
    ),
    "water": _by("dans", "le lac=lake, la rivière=river, la mer=sea"),
    "under": (
        *_by("sur, sous, derrière, près de", "la table=table, la chaise=chair, le lit=bed"),
        *_by("derrière, devant, près de", "la porte=door"),
        *_by("sous, derrière", "le arbre=tree"),
        *_by("sous, sur", "la voiture=car"),
    ),
    "goal": (
        "à le école | to/0 school/2*",
        "à la maison | home/2*",
        "à la plage | to/0 the/1 beach/2*",
        "à la gare | to/0 the/1 station/2*",
        "à le marché | to/0 the/0 market/2*",
        "à le musée | to/0 the/0 museum/2*",
        "à le hôtel | to/0 the/1 hotel/2*",
        "à le restaurant | to/0 the/0 restaurant/2*",
        "à le théâtre | to/0 the/0 theatre/2*",
    ),
}


@cache
def nouns() -> tuple[Noun, ...]:
    """Read the nouns."""
    return tuple(
        Noun(french, _known(plural), "f" if gender == "f" else "m", english, _known(english_plural), _set(classes))
        for french, plural, gender, english, english_plural, classes in _rows("nouns.tsv")
    )


@cache
def adjectives() -> tuple[Adjective, ...]:
    """Read the adjectives."""
    return tuple(
        Adjective(m, f, mp, fp, before_vowel, place == "before", english, kind, _set(classes))
        for m, f, mp, fp, before_vowel, place, english, kind, classes in _rows("adjectives.tsv")
    )


@cache
def verbs() -> tuple[Verb, ...]:
    """Read the verbs."""
    return tuple(map(_verb, _rows("verbs.tsv")))


def _verb(row: list[str]) -> Verb:
    french, present, auxiliary, participle, english, of_people, of_animals, places, tags = row
    # "look+for": the particle is the same in all forms.
    forms = [form.partition("+") for form in english.split()]
    base, third, past = (form for form, _, _ in forms)
    return Verb(
        french=french,
        present=tuple(present.split()),
        auxiliary=auxiliary,
        participle=participle,
        base=base,
        third=third,
        past=past,
        particle=forms[0][2] or None,
        objects_of_people=_set(of_people),
        objects_of_animals=_set(of_animals),
        places=tuple(sorted(_set(places))),
        tags=_set(tags),
    )


def _rows(file: str) -> list[list[str]]:
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


def _known(text: str) -> str | None:
    return None if text == NOTHING else text


def _set(text: str) -> frozenset[str]:
    return frozenset() if text == NOTHING else frozenset(text.split())
