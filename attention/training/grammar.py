"""French sentences with English translation and word alignment: the translator's only training data.

Sentences are composed at random: an action with its place and time, a quality, "there is", or a mere noun phrase. The
same French always has the same English, so the translation is never ambiguous.

Training and held-out sentences differ in their *combination* of subject, verb, object and adjectives, for any
number, tense, time and place: one combination in ten is held out. A pronoun with only a verb is not a combination, and
is always used for training.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from functools import cache

from attention.training import lexicon
from attention.training.lexicon import Verb
from attention.training.noun_phrases import DETERMINERS, NounPhrase, animate, country, named, noun_phrase
from attention.training.sentence import Combination, English, French, Phrase, Sentence, pair, set_phrase, written
from attention.training.verb_phrases import (
    AGREEMENTS,
    TENSES,
    Tense,
    draw_adverbs,
    draw_negation,
    draw_object_pronoun,
    manner_english,
    place_phrase,
    time_phrase,
    verb_phrase,
)

# One in this many combinations is held out.
HELD_OUT_SHARE = 10


# Longer sentences, in either language, are rejected.
MAX_WORDS = 20


def draw(rng: random.Random, *, held_out: bool = False) -> Sentence:
    """Draw a sentence for training or, with ``held_out``, for testing."""
    while True:
        sentence = _draw(rng)
        is_short = max(len(sentence.french), len(sentence.english)) <= MAX_WORDS
        if is_short and is_held_out(sentence.combination) == held_out:
            return sentence


def is_held_out(combination: Combination) -> bool:
    """Return whether a combination is for testing; a checksum decides, the same on every machine."""
    return bool(combination) and zlib.crc32("|".join(combination).encode()) % HELD_OUT_SHARE == 0


@cache
def vocabulary() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all French tokens in lower case and all English tokens, each sorted."""
    french, english = _closed_words()
    for noun in (*lexicon.nouns(), *lexicon.NAMES, *lexicon.CITIES, *lexicon.COUNTRIES):
        french |= {noun.french, *filter(None, [noun.french_plural])}
        english |= {noun.english, *filter(None, [noun.english_plural])}
    for adjective in lexicon.adjectives():
        forms = {adjective.agreeing(gender, is_plural=plural) for gender in ("m", "f") for plural in (False, True)}
        french |= forms | ({adjective.before_vowel} if adjective.is_before else set())
        english.add(adjective.english)
    for verb in lexicon.verbs():
        agreements = AGREEMENTS.values() if verb.auxiliary == "être" else [""]
        french |= {*verb.present, *(verb.participle + ending for ending in agreements)}
        english |= {verb.base, verb.third, verb.past, *filter(None, [verb.particle])}
    return tuple(sorted({word.lower() for word in french})), tuple(sorted(english))


def _closed_words() -> tuple[set[str], set[str]]:
    """Return the words of both languages other than nouns, adjectives and verbs, and the words of set phrases."""
    phrases = [phrase for table in (lexicon.TIMES, lexicon.PLACES) for group in table.values() for phrase in group]
    french, english = set(_GRAMMAR_FRENCH.split()), set(_GRAMMAR_ENGLISH.split())
    for text in phrases:
        phrase = set_phrase(text)
        french |= {word.text for word in phrase.french}
        english |= {word.text for word in phrase.english}
    tables = (*lexicon.ADVERBS.values(), lexicon.NUMBERS, lexicon.OBJECT_PRONOUNS, [p[:2] for p in lexicon.PRONOUNS])
    for table in tables:
        french |= {word for word, _ in table}
        english |= {word for _, word in table}
    french |= {word for row in lexicon.POSSESSIVES for word in row[:3]}
    english |= {row[3] for row in lexicon.POSSESSIVES} | {"her"}
    for name, forms in lexicon.AUXILIARIES.items():
        (english if name in {"is", "was"} else french).update(forms)
    return french, english


_GRAMMAR_FRENCH = (
    "le la les l' un une des du de d' à au en ce cet cette ces et très y avait pas ne n' jamais j' m' t' . ,"
)

_GRAMMAR_ENGLISH = "the a an this these in to and very there not never do does did 's . ,"


def _draw(rng: random.Random) -> Sentence:
    kind = rng.random()
    if kind < 0.12:
        return _predicate(rng)
    if kind < 0.16:
        return _there_is(rng)
    if kind < 0.19:
        return _mention(rng)
    return _action(rng)


def _action(rng: random.Random) -> Sentence:
    """Draw an action: *Jane visite l'Afrique en septembre*."""
    subject, verb = _actor(rng)
    tense = rng.choice(TENSES)
    is_negated = rng.random() < 0.15
    object_pronoun = draw_object_pronoun(rng, subject, verb, tense)
    target = None if object_pronoun else _object(rng, subject, verb, tense, is_negated=is_negated)
    place = place_phrase(rng, verb, subject)
    time = time_phrase(rng, verb, tense, is_person=subject.is_person)
    # "est souvent parti" does not translate word for word: "often left".
    may_be_often = (
        time is None
        and not is_negated
        and "lasting" not in verb.tags
        and (tense == "present" or verb.auxiliary == "avoir")
    )
    adverbs = draw_adverbs(rng, verb, is_alone=target is None, may_be_often=may_be_often)
    negation = draw_negation(rng, may_be_never=time is None) if is_negated else None
    core = verb_phrase(subject, verb, tense, object_pronoun, adverbs, negation=negation)
    manner = manner_english(adverbs)
    phrases = (subject.phrase, core, target.phrase if target else None, manner, place)
    # If every sentence with "tu dors" were held out, the word "dors" would never be learnt.
    is_bare = "pronoun" in subject.classes and target is None
    combination = () if is_bare else (*subject.lemmas, verb.french, *(target.lemmas if target else ()))
    return _finish(rng, phrases, time, combination)


def _actor(rng: random.Random) -> tuple[NounPhrase, Verb]:
    verb = rng.choice(lexicon.verbs())
    is_animal = bool(verb.objects_of_animals) and rng.random() < 0.3
    if is_animal:
        return noun_phrase(rng, rng.choice([n for n in lexicon.nouns() if "animal" in n.classes])), verb
    return animate(rng), verb


def _object(
    rng: random.Random, subject: NounPhrase, verb: Verb, tense: Tense, *, is_negated: bool
) -> NounPhrase | None:
    classes = verb.objects_of_people if subject.is_person else verb.objects_of_animals
    wanted = rng.choice(sorted(classes))
    if wanted == "none":
        return None
    if wanted == "city":
        return named(rng.choice(lexicon.CITIES))
    if wanted == "country":
        return country(rng.choice(lexicon.COUNTRIES))
    if wanted == "person" and rng.random() < 0.4:
        return named(rng.choice([name for name in lexicon.NAMES if name.french not in subject.lemmas]))
    nouns = [noun for noun in lexicon.nouns() if wanted in noun.classes and noun.french not in subject.lemmas]
    determiners: Sequence[str] = DETERMINERS
    is_liking = verb.french == "aimer"
    if is_liking:
        article = "general" if tense == "present" else "definite"
        determiners = (article, article, "demonstrative", "possessive")
    elif is_negated:
        # "un chat" would become "pas de chat", and so would "des chats".
        determiners = ("definite", "demonstrative", "possessive")
    return noun_phrase(
        rng,
        rng.choice(nouns),
        determiners=determiners,
        owner=subject,
        may_be_mass=True,
        is_negated=is_negated and not is_liking,
    )


def _predicate(rng: random.Random) -> Sentence:
    """Draw a quality: *la petite maison est très vieille*."""
    subject = (
        animate(rng)
        if rng.random() < 0.5
        else noun_phrase(
            rng, rng.choice(lexicon.nouns()), determiners=("definite", "possessive", "demonstrative"), is_plain=True
        )
    )
    fitting = [a for a in lexicon.adjectives() if a.classes & subject.classes and a.masculine not in subject.lemmas]
    if not fitting:
        return _predicate(rng)
    adjective = rng.choice(fitting)
    was, is_negated = rng.random() < 0.4, rng.random() < 0.2
    french = French(lexicon.AUXILIARIES["était" if was else "être"][subject.person])
    english = English(lexicon.AUXILIARIES["was" if was else "is"][subject.person], (french,))
    core = Phrase((french,), (english,))
    if is_negated:
        before, after = French("ne"), French("pas")
        core = Phrase((before, french, after), (english, English("not", (after,))))
    elif adjective.kind not in {"origin", "colour"} and rng.random() < 0.3:
        core += pair("très", "very")
    core += pair(adjective.agreeing(subject.gender, is_plural=subject.is_plural), adjective.english, is_content=True)
    return _finish(rng, (subject.phrase, core), None, (*subject.lemmas, "être", adjective.masculine))


def _there_is(rng: random.Random) -> Sentence:
    """Draw something that is somewhere: *il y a un chat noir dans le jardin*."""
    noun = rng.choice([noun for noun in lexicon.nouns() if noun.classes & {"animal", "adult", "child"}])
    thing = noun_phrase(rng, noun, determiners=("indefinite", "number"))
    was = rng.random() < 0.3
    there, y, has = French("il"), French("y"), French("avait" if was else "a")
    be = lexicon.AUXILIARIES["was" if was else "is"][thing.person]
    core = Phrase((there, y, has), (English("there", (there, y)), English(be, (has,))))
    group = rng.choice([group for group in ("nature", "home", "under") if group in thing.place_groups])
    place = set_phrase(rng.choice(lexicon.PLACES[group]))
    return _finish(rng, (core, thing.phrase, place), None, ("il y a", *thing.lemmas))


def _mention(rng: random.Random) -> Sentence:
    """Draw a noun phrase: *la petite maison blanche*."""
    thing = noun_phrase(rng, rng.choice(lexicon.nouns()), may_be_mass=True)
    return _finish(rng, [thing.phrase], None, ("", *thing.lemmas))


def _finish(
    rng: random.Random, phrases: Sequence[Phrase | None], time: Phrase | None, combination: Combination
) -> Sentence:
    parts = [phrase for phrase in phrases if phrase is not None]
    if time is not None and rng.random() < 0.2:
        comma = [pair(",", ",")] if rng.random() < 0.5 else []
        parts = [time, *comma, *parts]
    elif time is not None:
        parts.append(time)
    if rng.random() < 0.25:
        parts.append(pair(".", "."))
    return written(parts, combination)
