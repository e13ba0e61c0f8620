"""The words of the translator's grammar.

They are in ``assets/grammar/``. *Classes* determine which words go together: a verb names the classes of its objects,
an adjective those of its nouns.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

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


_CLOSED = tomllib.loads((FOLDER / "closed.toml").read_text("utf-8"))


def _table(name: str) -> tuple[Any, ...]:
    return tuple(map(tuple, _CLOSED[name]))


def _groups(name: str) -> dict[str, tuple[Any, ...]]:
    rows = {
        group: [tuple(row) if isinstance(row, list) else row for row in rows] for group, rows in _CLOSED[name].items()
    }
    return {group: tuple(each) for group, each in rows.items()}


def _names(rows: Iterable[tuple[str, Gender, str]], *classes: str) -> tuple[Noun, ...]:
    return tuple(Noun(french, None, gender, english, None, frozenset(classes)) for french, gender, english in rows)


# What the rows and groups are is said in the file.
PRONOUNS: tuple[tuple[str, str, int, str], ...] = _table("pronouns")
OBJECT_PRONOUNS: tuple[tuple[str, str], ...] = _table("object_pronouns")
POSSESSIVES: tuple[tuple[str, str, str, str], ...] = _table("possessives")
NUMBERS: tuple[tuple[str, str], ...] = _table("numbers")
AUXILIARIES: dict[str, tuple[str, ...]] = _groups("auxiliaries")
ADVERBS: dict[str, tuple[tuple[str, str], ...]] = _groups("adverbs")
TIMES: dict[str, tuple[str, ...]] = _groups("times")
PLACES: dict[str, tuple[str, ...]] = _groups("places")
NAMES = (
    *_names(((name, "m", name) for name in _CLOSED["men"].split()), "person", "name"),
    *_names(((name, "f", name) for name in _CLOSED["women"].split()), "person", "name"),
)
CITIES = _names(_table("cities"), "city")
COUNTRIES = _names(_table("countries"), "country")


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
