"""French sentences with their English translation, and which word comes from which: the translator's only teacher.

A sentence is made of phrases. A phrase has its French words and its English words side by side, and each English
word points to the French words that it comes from, so that the order may differ between the languages and the
alignment is known, not guessed:

    le chat noir dort    the(le) black(noir) cat(chat) sleeps(dort)

What French changes where two words meet (*la année*, l'année; *de le jardin*, du jardin) is done at the end, to the
whole sentence. Same French, same English, always: nothing has to be guessed.

Whether a sentence may be trained on is decided by its *combination*: subject, verb, object and adjectives,
whatever their number, tense, time and place. One combination in ten is held out in all its sentences; a pronoun with
a verb alone is not one, and always trained on.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from attention.training import lexicon
from attention.training.lexicon import Adjective, Gender, Noun, Verb

__all__ = ["HELD_OUT_SHARE", "MAX_WORDS", "Sentence", "draw", "is_held_out", "spell", "vocabulary"]

# One combination in so many is never trained on.
HELD_OUT_SHARE = 10
# Longer sentences, in either language, are not drawn.
MAX_WORDS = 20

VOWELS = frozenset("aàâeéèêiîoôuûyhœ")  # every h in the lexicon is mute
ELIDED = frozenset({"le", "la", "de", "je", "ne", "me", "te"})
CONTRACTED = {("à", "le"): "au", ("de", "le"): "du"}
BEFORE_VOWEL = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet"}

Tense = str
Combination = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A French sentence, its English translation, and how they belong together.

    ``alignment`` has pairs of an English and a French position; ``content`` the English positions of nouns, names,
    main verbs, adjectives and adverbs.
    """

    french: tuple[str, ...]
    english: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    content: tuple[int, ...]
    combination: Combination

    def sources(self, english_position: int) -> frozenset[int]:
        """Return the French positions that an English word comes from."""
        return frozenset(french for english, french in self.alignment if english == english_position)


@dataclass(frozen=True, slots=True, eq=False)
class _French:
    """A French word at its place: two of the same spelling are not the same."""

    text: str


@dataclass(frozen=True, slots=True)
class _English:
    text: str
    sources: tuple[_French, ...] = ()
    is_content: bool = False


@dataclass(frozen=True, slots=True)
class _Phrase:
    french: tuple[_French, ...] = ()
    english: tuple[_English, ...] = ()

    def __add__(self, other: _Phrase) -> _Phrase:
        return _Phrase(self.french + other.french, self.english + other.english)


@dataclass(frozen=True, slots=True)
class _NounPhrase:
    """A phrase that can be a subject or an object, and what others agree with; persons count from 0 (I) to 5 (they)."""

    phrase: _Phrase
    gender: Gender
    person: int
    classes: frozenset[str]
    lemmas: tuple[str, ...]

    @property
    def is_plural(self) -> bool:
        return self.person >= 3

    @property
    def is_person(self) -> bool:
        return "person" in self.classes

    @property
    def may_be_indoors(self) -> bool:
        return self.is_person or "indoors" in self.classes


def draw(rng: random.Random, *, held_out: bool = False) -> Sentence:
    """Draw a sentence whose combination may be trained on, or one that may not."""
    while True:
        sentence = _draw(rng)
        is_short = max(len(sentence.french), len(sentence.english)) <= MAX_WORDS
        if is_short and is_held_out(sentence.combination) == held_out:
            return sentence


def is_held_out(combination: Combination) -> bool:
    """Tell whether a combination is kept for testing: a checksum decides, the same on every machine."""
    return bool(combination) and zlib.crc32("|".join(combination).encode()) % HELD_OUT_SHARE == 0


def spell(tokens: Iterable[str]) -> str:
    """Write tokens of either language as one writes them: ``l' Afrique`` as *l'Afrique*, ``Marie 's`` as *Marie's*."""
    text = ""
    for token in tokens:
        is_attached = not text or text.endswith("'") or token in {".", ",", "'s"}
        text += token if is_attached else f" {token}"
    return text


@cache
def vocabulary() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return every French token, in lower case, and every English one, each sorted."""
    french, english = _closed_words()
    for noun in (*lexicon.nouns(), *lexicon.NAMES, *lexicon.CITIES, *lexicon.COUNTRIES):
        french |= {noun.french, *filter(None, [noun.french_plural])}
        english |= {noun.english, *filter(None, [noun.english_plural])}
    for adjective in lexicon.adjectives():
        forms = {adjective.agreeing(gender, is_plural=plural) for gender in ("m", "f") for plural in (False, True)}
        french |= forms | ({adjective.before_vowel} if adjective.is_before else set())
        english.add(adjective.english)
    for verb in lexicon.verbs():
        agreements = _AGREEMENTS.values() if verb.auxiliary == "être" else [""]
        french |= {*verb.present, *(verb.participle + ending for ending in agreements)}
        english |= {verb.base, verb.third, verb.past, *filter(None, [verb.particle])}
    return tuple(sorted({word.lower() for word in french})), tuple(sorted(english))


def _closed_words() -> tuple[set[str], set[str]]:
    """Return the words of both languages that are neither nouns nor adjectives nor verbs, and set phrases' words."""
    phrases = [phrase for table in (lexicon.TIMES, lexicon.PLACES) for group in table.values() for phrase in group]
    french, english = set(_GRAMMAR_FRENCH.split()), set(_GRAMMAR_ENGLISH.split())
    for text in phrases:
        phrase = _set_phrase(text)
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


# ------------------------------------------------------------------------------------------- sentences


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
    """Draw somebody who does something: *Jane visite l'Afrique en septembre*."""
    subject, verb = _actor(rng)
    tense = rng.choice(("present", "past"))
    is_negated = rng.random() < 0.15
    object_pronoun = _object_pronoun(rng, subject, verb, tense)
    target = None if object_pronoun else _object(rng, subject, verb, is_negated=is_negated)
    place = _place(rng, verb, subject)
    time = _time(rng, verb, tense, is_person=subject.is_person)
    # "est souvent parti" is no English "often left".
    may_be_often = (
        time is None
        and not is_negated
        and "lasting" not in verb.tags
        and (tense == "present" or verb.auxiliary == "avoir")
    )
    adverbs = _adverbs(rng, verb, is_alone=target is None, may_be_often=may_be_often)
    negation = _negation(rng, may_be_never=time is None) if is_negated else None
    core = _verb_phrase(subject, verb, tense, object_pronoun, adverbs, negation=negation)
    manner = _manner_english(adverbs)
    phrases = (subject.phrase, core, target.phrase if target else None, manner, place)
    # Were "tu dors" held out, in all its sentences, then the word "dors" would never be learned.
    is_bare = "pronoun" in subject.classes and target is None
    combination = () if is_bare else (*subject.lemmas, verb.french, *(target.lemmas if target else ()))
    return _finish(rng, phrases, time, combination)


def _predicate(rng: random.Random) -> Sentence:
    """Draw something that is somehow: *la petite maison est très vieille*."""
    subject = (
        _animate(rng)
        if rng.random() < 0.5
        else _noun_phrase(
            rng, rng.choice(lexicon.nouns()), determiners=("definite", "possessive", "demonstrative"), is_plain=True
        )
    )
    fitting = [a for a in lexicon.adjectives() if a.classes & subject.classes and a.masculine not in subject.lemmas]
    if not fitting:
        return _predicate(rng)
    adjective = rng.choice(fitting)
    was, is_negated = rng.random() < 0.4, rng.random() < 0.2
    french = _French(lexicon.AUXILIARIES["était" if was else "être"][subject.person])
    english = _English(lexicon.AUXILIARIES["was" if was else "is"][subject.person], (french,))
    core = _Phrase((french,), (english,))
    if is_negated:
        before, after = _French("ne"), _French("pas")
        core = _Phrase((before, french, after), (english, _English("not", (after,))))
    elif adjective.kind not in {"origin", "colour"} and rng.random() < 0.3:
        core += _pair("très", "very")
    core += _pair(adjective.agreeing(subject.gender, is_plural=subject.is_plural), adjective.english, is_content=True)
    return _finish(rng, (subject.phrase, core), None, (*subject.lemmas, "être", adjective.masculine))


def _there_is(rng: random.Random) -> Sentence:
    """Draw what there is somewhere: *il y a un chat noir dans le jardin*."""
    noun = rng.choice([noun for noun in lexicon.nouns() if noun.classes & {"animal", "adult", "child"}])
    thing = _noun_phrase(rng, noun, determiners=("indefinite", "number"))
    was = rng.random() < 0.3
    there, y, has = _French("il"), _French("y"), _French("avait" if was else "a")
    be = lexicon.AUXILIARIES["was" if was else "is"][thing.person]
    core = _Phrase((there, y, has), (_English("there", (there, y)), _English(be, (has,))))
    group = rng.choice(("nature", "home") if thing.may_be_indoors else ("nature",))
    place = _set_phrase(rng.choice(lexicon.PLACES[group]))
    return _finish(rng, (core, thing.phrase, place), None, ("il y a", *thing.lemmas))


def _mention(rng: random.Random) -> Sentence:
    """Draw what is no sentence yet: *la petite maison blanche*."""
    thing = _noun_phrase(rng, rng.choice(lexicon.nouns()), may_be_mass=True)
    return _finish(rng, [thing.phrase], None, ("", *thing.lemmas))


def _finish(
    rng: random.Random, phrases: Sequence[_Phrase | None], time: _Phrase | None, combination: Combination
) -> Sentence:
    """Put the phrases one after the other, the time first or last, and write the sentence down."""
    parts = [phrase for phrase in phrases if phrase is not None]
    if time is not None and rng.random() < 0.2:
        comma = [_pair(",", ",")] if rng.random() < 0.5 else []
        parts = [time, *comma, *parts]
    elif time is not None:
        parts.append(time)
    if rng.random() < 0.25:
        parts.append(_pair(".", "."))
    return _written(parts, combination)


def _written(parts: Sequence[_Phrase], combination: Combination) -> Sentence:
    """Let neighbouring French words change each other, turn "a" into "an", and number everything."""
    french, positions = _joined([word for part in parts for word in part.french])
    words = [word for part in parts for word in part.english]
    english = [word.text for word in words]
    for i, following in enumerate(english[1:]):
        if english[i] == "a" and following[0].lower() in "aeiou":
            english[i] = "an"
    alignment = {(i, positions[source]) for i, word in enumerate(words) for source in word.sources}
    content = tuple(i for i, word in enumerate(words) if word.is_content)
    return Sentence(tuple(french), tuple(english), tuple(sorted(alignment)), content, combination)


def _joined(words: Sequence[_French]) -> tuple[list[str], dict[_French, int]]:
    """Elide and contract French words where they meet; return them, and where each word went."""
    texts: list[str] = []
    positions: dict[_French, int] = {}
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


# --------------------------------------------------------------------------------------- noun phrases


def _actor(rng: random.Random) -> tuple[_NounPhrase, Verb]:
    """Draw a subject and something that it does."""
    verb = rng.choice(lexicon.verbs())
    is_animal = bool(verb.objects_of_animals) and rng.random() < 0.3
    if is_animal:
        return _noun_phrase(rng, rng.choice([n for n in lexicon.nouns() if "animal" in n.classes])), verb
    return _animate(rng), verb


def _animate(rng: random.Random) -> _NounPhrase:
    """Draw a person: a pronoun, one name or two, or a noun."""
    kind = rng.random()
    if kind < 0.4:
        french, english, person, genders = rng.choice(lexicon.PRONOUNS)
        gender: Gender = "f" if rng.choice(genders) == "f" else "m"
        return _NounPhrase(_pair(french, english), gender, person, frozenset({"person", "pronoun"}), (french,))
    if kind < 0.6:
        return _named(rng.choice(lexicon.NAMES))
    if kind < 0.66:
        one, other = (_named(name) for name in rng.sample(lexicon.NAMES, 2))
        both: Gender = "f" if one.gender == other.gender == "f" else "m"
        phrase = one.phrase + _pair("et", "and") + other.phrase
        return _NounPhrase(phrase, both, 5, one.classes, one.lemmas + other.lemmas)
    return _noun_phrase(rng, rng.choice([noun for noun in lexicon.nouns() if "person" in noun.classes]))


def _named(name: Noun) -> _NounPhrase:
    return _NounPhrase(_pair(name.french, name.english, is_content=True), name.gender, 2, name.classes, (name.french,))


def _object(rng: random.Random, subject: _NounPhrase, verb: Verb, *, is_negated: bool) -> _NounPhrase | None:
    """Draw what the verb is done to, if it is done to anything."""
    classes = verb.objects_of_people if subject.is_person else verb.objects_of_animals
    wanted = rng.choice(sorted(classes))
    if wanted == "none":
        return None
    if wanted == "city":
        return _named(rng.choice(lexicon.CITIES))
    if wanted == "country":
        return _country(rng.choice(lexicon.COUNTRIES))
    if wanted == "person" and rng.random() < 0.4:
        return _named(rng.choice([name for name in lexicon.NAMES if name.french not in subject.lemmas]))
    nouns = [noun for noun in lexicon.nouns() if wanted in noun.classes and noun.french not in subject.lemmas]
    # "n'a pas de chat" and "aime les chats" in general are left out: the English has no article there.
    is_definite = is_negated or "lasting" in verb.tags
    determiners = ("definite", "demonstrative", "possessive") if is_definite else _DETERMINERS
    return _noun_phrase(
        rng, rng.choice(nouns), determiners=determiners, owner=subject, may_be_mass=True, is_negated=is_negated
    )


def _country(country: Noun) -> _NounPhrase:
    """Return a country with the article that only French gives it."""
    article, noun = _French("le" if country.gender == "m" else "la"), _French(country.french)
    phrase = _Phrase((article, noun), (_English(country.english, (noun,), is_content=True),))
    return _NounPhrase(phrase, country.gender, 2, country.classes, (country.french,))


_DETERMINERS = ("definite", "definite", "definite", "indefinite", "indefinite", "possessive", "demonstrative", "number")
_OWNED = frozenset({"own", "family", "thing", "clothes", "gift", "text", "home", "picture"})


def _noun_phrase(
    rng: random.Random,
    noun: Noun,
    *,
    determiners: Sequence[str] = _DETERMINERS,
    owner: _NounPhrase | None = None,
    may_be_mass: bool = False,
    is_negated: bool = False,
    is_plain: bool = False,
) -> _NounPhrase:
    """Draw a determiner, adjectives and a possessor for a noun: *la petite maison blanche de Marie*."""
    determiner = rng.choice(determiners)
    if "family" in noun.classes:
        determiner = "possessive"
    elif determiner == "possessive" and not noun.classes & _OWNED:
        determiner = "definite"
    if noun.french_plural is None and determiner in {"indefinite", "number"}:
        determiner = "partitive"
    if determiner == "partitive" and not may_be_mass:
        determiner = "definite"
    if determiner == "definite" and is_negated and "mass" in noun.classes:
        determiner = "partitive"
    is_plural = noun.french_plural is not None and (determiner == "number" or rng.random() < 0.3)
    described = _described(rng, noun, is_plural=is_plural, is_plain=is_plain)
    possessor = None
    if determiner == "definite" and noun.classes & _OWNED and rng.random() < 0.25:
        possessor = _possessor(rng)
    if possessor is None:
        phrase = _with_determiner(
            rng, determiner, described, noun.gender, is_plural=is_plural, owner=owner, is_negated=is_negated
        )
    else:
        phrase = _of(described, noun.gender, possessor, is_plural=is_plural)
    lemmas = (noun.french, *sorted(described.lemmas))
    return _NounPhrase(phrase, noun.gender, 5 if is_plural else 2, noun.classes, lemmas)


@dataclass(frozen=True, slots=True)
class _Described:
    """A noun with its adjectives, still without a determiner."""

    phrase: _Phrase
    lemmas: tuple[str, ...]
    starts_with_adjective: bool


def _described(rng: random.Random, noun: Noun, *, is_plural: bool, is_plain: bool) -> _Described:
    """Put none, one or two adjectives to a noun: some before it, most after it, in English all before it."""
    first, last = (None, None) if is_plain else _two_adjectives(rng, noun)
    plural, english_plural = noun.french_plural, noun.english_plural
    head = _pair(
        plural if is_plural and plural else noun.french,
        english_plural if is_plural and english_plural else noun.english,
        is_content=True,
    )
    before = after = _Phrase()
    if first is not None:
        meets_vowel = noun.gender == "m" and not is_plural and noun.french[0] in VOWELS
        form = first.before_vowel if meets_vowel else first.agreeing(noun.gender, is_plural=is_plural)
        before = _pair(form, first.english, is_content=True)
    if last is not None:
        after = _pair(last.agreeing(noun.gender, is_plural=is_plural), last.english, is_content=True)
    is_turned = first and last and lexicon.KINDS.index(last.kind) < lexicon.KINDS.index(first.kind)
    adjectives = (after, before) if is_turned else (before, after)
    english = (word for part in (*adjectives, head) for word in part.english)
    lemmas = tuple(adjective.masculine for adjective in (first, last) if adjective)
    phrase = _Phrase((*before.french, *head.french, *after.french), tuple(english))
    return _Described(phrase, lemmas, starts_with_adjective=first is not None)


def _two_adjectives(rng: random.Random, noun: Noun) -> tuple[Adjective | None, Adjective | None]:
    """Draw an adjective that stands before the noun and one that stands after it, or none."""
    before, after = (_fitting(noun, is_before=is_before) for is_before in (True, False))
    kind = rng.random()
    first = rng.choice(before) if before and kind < 0.25 else None
    last = rng.choice(after) if after and (kind < 0.06 or 0.25 <= kind < 0.5) else None
    return first, last


@cache
def _fitting(noun: Noun, *, is_before: bool) -> tuple[Adjective, ...]:
    """Return the adjectives that a noun can have."""
    return tuple(a for a in lexicon.adjectives() if a.is_before == is_before and a.classes & noun.classes)


def _with_determiner(
    rng: random.Random,
    determiner: str,
    described: _Described,
    gender: Gender,
    *,
    is_plural: bool,
    owner: _NounPhrase | None,
    is_negated: bool,
) -> _Phrase:
    """Put a determiner before a noun and its adjectives."""
    form = 2 if is_plural else int(gender == "f")
    match determiner:
        case "definite":
            head = _pair(("le", "la", "les")[form], "the")
        case "demonstrative":
            head = _pair(("ce", "cette", "ces")[form], "these" if is_plural else "this")
        case "number":
            head = _pair(*rng.choice(lexicon.NUMBERS))
        case "possessive":
            head = _possessive(rng, form, owner)
        case "partitive":
            # English has no word for it; and after "ne … pas", only "de" is left of it.
            words = ("de",) if is_negated else (("de", "le"), ("de", "la"))[form]
            head = _Phrase(tuple(map(_French, words)))
        case _ if is_plural:
            # "de" before an adjective: "de petits chats", and "des chats noirs".
            head = _Phrase((_French("de" if described.starts_with_adjective else "des"),))
        case _:
            head = _pair("une" if form else "un", "a")
    return head + described.phrase


def _possessive(rng: random.Random, form: int, owner: _NounPhrase | None) -> _Phrase:
    """Draw whose it is: the subject's, or mine, yours, ours; "son" only where the subject says whether his or her."""
    persons = [0, 1, 3, 4]
    if owner is not None and owner.is_person:
        persons += [owner.person] * 3
    person = rng.choice(persons)
    row = lexicon.POSSESSIVES[person]
    is_hers = person == 2 and owner is not None and owner.gender == "f"
    return _pair(row[form], "her" if is_hers else row[3])


def _possessor(rng: random.Random) -> _NounPhrase:
    """Draw somebody to whom a thing belongs: *Marie*, *le roi*, *mon père*."""
    if rng.random() < 0.5:
        return _named(rng.choice(lexicon.NAMES))
    noun = rng.choice([noun for noun in lexicon.nouns() if noun.classes & {"adult", "child", "family"}])
    french = _French(noun.french)
    body = _Phrase((french,), (_English(noun.english, (french,), is_content=True),))
    form = int(noun.gender == "f")
    head = _possessive(rng, form, None) if "family" in noun.classes else _pair(("le", "la")[form], "the")
    return _NounPhrase(head + body, noun.gender, 2, noun.classes, (noun.french,))


def _of(described: _Described, gender: Gender, possessor: _NounPhrase, *, is_plural: bool) -> _Phrase:
    """Turn *le chat noir de Marie* into *Marie's black cat*: the article goes, the order is turned round."""
    article = _French("les" if is_plural else "la" if gender == "f" else "le")
    of = _French("de")
    french = (article, *described.phrase.french, of, *possessor.phrase.french)
    return _Phrase(french, (*possessor.phrase.english, _English("'s", (of,)), *described.phrase.english))


# --------------------------------------------------------------------------------------- verb phrases

_AGREEMENTS = {("m", False): "", ("f", False): "e", ("m", True): "s", ("f", True): "es"}


def _verb_phrase(
    subject: _NounPhrase,
    verb: Verb,
    tense: Tense,
    object_pronoun: _Phrase | None,
    adverbs: tuple[tuple[str, _Phrase], ...],
    *,
    negation: str | None,
) -> _Phrase:
    """Conjugate a verb, with what stands around it: *ne dort pas*, *a bien dormi*, *nous aide*."""
    finite, participle = _conjugated(subject, verb, tense)
    parts = (finite,) if participle is None else (finite, participle)
    before, after = (_French("ne"), _French(negation)) if negation else (None, None)
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
        *([_English(verb.particle, parts)] if verb.particle else []),
        *(object_pronoun.english if object_pronoun else ()),
    )
    return _Phrase(french, english)


def _conjugated(subject: _NounPhrase, verb: Verb, tense: Tense) -> tuple[_French, _French | None]:
    """Return the French verb, in the past as an auxiliary and a participle, which agrees after *être*."""
    if tense == "present":
        return _French(verb.present[subject.person]), None
    ending = _AGREEMENTS[subject.gender, subject.is_plural] if verb.auxiliary == "être" else ""
    return _French(lexicon.AUXILIARIES[verb.auxiliary][subject.person]), _French(verb.participle + ending)


def _english_verb(
    subject: _NounPhrase,
    verb: Verb,
    tense: Tense,
    sources: tuple[_French, ...],
    often: tuple[_English, ...],
    negation: _French | None,
) -> tuple[_English, ...]:
    """Conjugate the English verb: *sleeps*, *did not sleep*, *often sleeps*, *never sleeps*."""
    is_third = subject.person == 2
    if negation is not None and negation.text == "pas":
        do = "did" if tense == "past" else "does" if is_third else "do"
        finite = sources[0]
        return (
            _English(do, (finite,)),
            _English("not", (negation,)),
            _English(verb.base, sources[-1:], is_content=True),
        )
    form = verb.past if tense == "past" else verb.third if is_third else verb.base
    never = () if negation is None else (_English("never", (negation,), is_content=True),)
    return (*never, *often, _English(form, sources, is_content=True))


def _object_pronoun(rng: random.Random, subject: _NounPhrase, verb: Verb, tense: Tense) -> _Phrase | None:
    """Draw *me*, *te*, *nous*, *vous*: in the present only, where no participle has to agree with them."""
    may = "people" in verb.tags and tense == "present" and subject.is_person and subject.person in {2, 5}
    if not may or rng.random() < 0.6:
        return None
    return _pair(*rng.choice(lexicon.OBJECT_PRONOUNS))


def _negation(rng: random.Random, *, may_be_never: bool) -> str:
    return "jamais" if may_be_never and rng.random() < 0.2 else "pas"


def _adverbs(rng: random.Random, verb: Verb, *, is_alone: bool, may_be_often: bool) -> tuple[tuple[str, _Phrase], ...]:
    """Draw an adverb with its kind: how often, where no time is given, or how, where there is no object."""
    kinds: list[str] = [kind for kind in ("manner", "fast") if kind in verb.tags and is_alone]
    if kinds and rng.random() < 0.3:
        kind = rng.choice(kinds)
    elif may_be_often and rng.random() < 0.25:
        kind = "often"
    else:
        return ()
    french, english = rng.choice(lexicon.ADVERBS[kind])
    return ((kind, _pair(french, english, is_content=True)),)


def _manner_english(adverbs: tuple[tuple[str, _Phrase], ...]) -> _Phrase | None:
    """Return the English adverbs that wait for the end, without their French, which does not."""
    words = tuple(word for kind, adverb in adverbs if kind != "often" for word in adverb.english)
    return _Phrase(english=words) if words else None


# ------------------------------------------------------------------------------------- time and place


def _time(rng: random.Random, verb: Verb, tense: Tense, *, is_person: bool) -> _Phrase | None:
    if "lasting" in verb.tags or rng.random() < 0.55:
        return None
    groups = ["any"]
    if tense == "past":
        groups.append("past")
    elif "rare" not in verb.tags:
        groups.append("present")
    if tense == "present" and "plan" in verb.tags and is_person:
        groups.append("plan")
    return _set_phrase(rng.choice(lexicon.TIMES[rng.choice(groups)]))


def _place(rng: random.Random, verb: Verb, subject: _NounPhrase) -> _Phrase | None:
    if not verb.places or ("must" not in verb.tags and rng.random() < 0.6):
        return None
    group = rng.choice(verb.places if subject.may_be_indoors else ("nature",))
    if group == "travel":
        return _abroad(rng, is_goal="goal" in verb.tags)
    return _set_phrase(rng.choice(lexicon.PLACES[group]))


def _abroad(rng: random.Random, *, is_goal: bool) -> _Phrase:
    """Draw a city or a country to be in, or to go to: *à Paris*, *en Afrique*, *au Japon*."""
    place = rng.choice(lexicon.CITIES if rng.random() < 0.5 else lexicon.COUNTRIES)
    if "city" in place.classes:
        french: tuple[_French, ...] = (_French("à"),)
    elif place.gender == "f":
        french = (_French("en"),)
    else:
        french = (_French("à"), _French("le"))
    return _Phrase(french, (_English("to" if is_goal else "in", french),)) + _pair(
        place.french, place.english, is_content=True
    )


@cache
def _parsed(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[int, ...], bool], ...]]:
    french, english = text.split(" | ")
    words = (word.partition("/") for word in english.split())
    return tuple(french.split()), tuple(
        (word, tuple(map(int, sources.rstrip("*").split(","))), sources.endswith("*")) for word, _, sources in words
    )


def _set_phrase(text: str) -> _Phrase:
    """Read a phrase of the lexicon: ``la semaine dernière | last/2* week/1*``."""
    words, translations = _parsed(text)
    french = tuple(map(_French, words))
    return _Phrase(
        french,
        tuple(_English(word, tuple(french[i] for i in sources), star) for word, sources, star in translations),
    )


def _pair(french: str, english: str, *, is_content: bool = False) -> _Phrase:
    """Return a phrase of one word in either language."""
    word = _French(french)
    return _Phrase((word,), (_English(english, (word,), is_content),))
