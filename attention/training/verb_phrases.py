"""Verb phrases: verbs in two tenses, negation, adverbs, phrases of time and place."""

from __future__ import annotations

import random
from typing import Literal, get_args

from attention.training import lexicon
from attention.training.lexicon import Verb
from attention.training.noun_phrases import NounPhrase
from attention.training.sentence import English, French, Phrase, pair, set_phrase

Tense = Literal["present", "past"]
TENSES: tuple[Tense, ...] = get_args(Tense)

AGREEMENTS = {("m", False): "", ("f", False): "e", ("m", True): "s", ("f", True): "es"}


def verb_phrase(
    subject: NounPhrase,
    verb: Verb,
    tense: Tense,
    object_pronoun: Phrase | None,
    adverbs: tuple[tuple[str, Phrase], ...],
    *,
    negation: str | None,
) -> Phrase:
    """Conjugate a verb and place the words around it: *ne dort pas*, *a bien dormi*, *nous aide*."""
    finite, participle = _conjugated(subject, verb, tense)
    parts = (finite,) if participle is None else (finite, participle)
    before, after = (French("ne"), French(negation)) if negation else (None, None)
    pronouns = object_pronoun.french if object_pronoun else ()
    inner = tuple(word for kind, adverb in adverbs if kind != "fast" for word in adverb.french)
    outer = tuple(word for kind, adverb in adverbs if kind == "fast" for word in adverb.french)
    french = (
        *([before] if before else []), *pronouns, finite, *([after] if after else []), *inner,
        *([participle] if participle else []), *outer,
    )  # fmt: skip
    often = tuple(word for kind, adverb in adverbs if kind == "often" for word in adverb.english)
    english = (
        *_english_verb(subject, verb, tense, parts, often, after),
        *([English(verb.particle, parts)] if verb.particle else []),
        *(object_pronoun.english if object_pronoun else ()),
    )
    return Phrase(french, english)


def _conjugated(subject: NounPhrase, verb: Verb, tense: Tense) -> tuple[French, French | None]:
    """Return the finite verb and, in the past, the participle, which agrees after *être*."""
    if tense == "present":
        return French(verb.present[subject.person]), None
    ending = AGREEMENTS[subject.gender, subject.is_plural] if verb.auxiliary == "être" else ""
    return French(lexicon.AUXILIARIES[verb.auxiliary][subject.person]), French(verb.participle + ending)


def _english_verb(
    subject: NounPhrase,
    verb: Verb,
    tense: Tense,
    sources: tuple[French, ...],
    often: tuple[English, ...],
    negation: French | None,
) -> tuple[English, ...]:
    """Conjugate the English verb: *sleeps*, *did not sleep*, *often sleeps*, *never sleeps*."""
    is_third = subject.person == 2
    if negation is not None and negation.text == "pas":
        do = "did" if tense == "past" else "does" if is_third else "do"
        finite = sources[0]
        return (
            English(do, (finite,)),
            English("not", (negation,)),
            English(verb.base, sources[-1:], is_content=True),
        )
    form = verb.past if tense == "past" else verb.third if is_third else verb.base
    never = () if negation is None else (English("never", (negation,), is_content=True),)
    return (*never, *often, English(form, sources, is_content=True))


def draw_object_pronoun(rng: random.Random, subject: NounPhrase, verb: Verb, tense: Tense) -> Phrase | None:
    """Draw *me*, *te*, *nous*, *vous* or None; only in the present, where no participle must agree with it."""
    may = "people" in verb.tags and tense == "present" and subject.is_person
    if not may or rng.random() < 0.6:
        return None
    # Not reflexive: "I help me", "we help us" or "you help you".
    own = {"je": ("me", "nous"), "nous": ("me", "nous"), "tu": ("te", "vous"), "vous": ("te", "vous")}
    options = [pair for pair in lexicon.OBJECT_PRONOUNS if pair[0] not in own.get(subject.lemmas[0], ())]
    return pair(*rng.choice(options))


def draw_negation(rng: random.Random, *, may_be_never: bool) -> str:
    """Draw the second part of a negation, which follows the verb."""
    return "jamais" if may_be_never and rng.random() < 0.2 else "pas"


def draw_adverbs(
    rng: random.Random, verb: Verb, *, is_alone: bool, may_be_often: bool
) -> tuple[tuple[str, Phrase], ...]:
    """Draw an adverb with its kind: of manner if there is no object, or of frequency if no time is given."""
    kinds: list[str] = [kind for kind in ("manner", "fast") if kind in verb.tags and is_alone]
    if kinds and rng.random() < 0.3:
        kind = rng.choice(kinds)
    elif may_be_often and rng.random() < 0.25:
        kind = "often"
    else:
        return ()
    french, english = rng.choice(lexicon.ADVERBS[kind])
    return ((kind, pair(french, english, is_content=True)),)


def manner_english(adverbs: tuple[tuple[str, Phrase], ...]) -> Phrase | None:
    """Return the English adverbs of manner alone: they come last, unlike the French ones."""
    words = tuple(word for kind, adverb in adverbs if kind != "often" for word in adverb.english)
    return Phrase(english=words) if words else None


def time_phrase(rng: random.Random, verb: Verb, tense: Tense, *, is_person: bool) -> Phrase | None:
    """Draw a phrase of time, or None."""
    if "lasting" in verb.tags or rng.random() < 0.55:
        return None
    groups = ["any"]
    if tense == "past":
        groups.append("past")
    elif "rare" not in verb.tags:
        groups.append("present")
    if tense == "present" and "plan" in verb.tags and is_person:
        groups.append("plan")
    return set_phrase(rng.choice(lexicon.TIMES[rng.choice(groups)]))


def place_phrase(rng: random.Random, verb: Verb, subject: NounPhrase) -> Phrase | None:
    """Draw a phrase of place, or None unless the verb needs one."""
    if not verb.places or ("must" not in verb.tags and rng.random() < 0.6):
        return None
    group = rng.choice([group for group in verb.places if group in subject.place_groups])
    if group == "travel":
        return _abroad(rng, is_goal="goal" in verb.places)
    return set_phrase(rng.choice(lexicon.PLACES[group]))


def _abroad(rng: random.Random, *, is_goal: bool) -> Phrase:
    """Draw a city or country as a place or destination: *à Paris*, *en Afrique*, *au Japon*."""
    place = rng.choice(lexicon.CITIES if rng.random() < 0.5 else lexicon.COUNTRIES)
    if "city" in place.classes:
        french: tuple[French, ...] = (French("à"),)
    elif place.gender == "f":
        french = (French("en"),)
    else:
        french = (French("à"), French("le"))
    return Phrase(french, (English("to" if is_goal else "in", french),)) + pair(
        place.french, place.english, is_content=True
    )
