"""A head's behaviour in plain words; each phrase follows from the head's weights by a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.reading import TEXT, Reading
from attention.core.trace import Token
from attention.core.words import SPACE, Word
from attention.figures.format import number
from attention.lesson.noun_tagger import noun_tokens, pronouns_of
from attention.lesson.prose import listed
from attention.measures.behaviours import BROAD, NEIGHBOUR, POSITIONAL, SINK
from attention.measures.cross import CrossSummary
from attention.measures.marks import SEPARATORS, Marks, column_shares
from attention.measures.rows import Rows
from attention.measures.summaries import HeadSummary

# A query, a key, and the weight between them.
Pair = tuple[str, str, float]
# What a head does, each time the name of all heads that do so and a phrase with its measure.
_Phrases = list[tuple[str, str]]

# The least weight between two words that is worth a phrase.
_PAIR = 0.3
# The least share on the first and on the last token, for a head that looks at both.
_BOTH = 0.2
# The largest mean distance, in tokens, that is called near.
_NEAR = 3


@dataclass(frozen=True, slots=True)
class Gaze:
    """The tokens that a head attends to most.

    ``column`` gets the largest ``share`` of all weight. ``pair`` is the largest weight between two words.
    ``pronoun_pair`` is the text's first pronoun with its largest weight, if that falls on a noun.
    """

    column: str
    share: float
    is_special: bool = False
    pair: Pair | None = None
    pronoun_pair: Pair | None = None


def gazes(weights: Float[Array, "H T T"], units: Sequence[Token | Word], tokens: Sequence[Token]) -> tuple[Gaze, ...]:
    """Return the gaze of each head of a layer; the weights are between ``units``, which are tokens or whole words."""
    marks = Marks.of([units])
    columns = column_shares(Rows.of(weights[None], None, ~marks.padding[:, None]))[0]
    row_of = {unit.position: row for row, unit in enumerate(units)}
    pronouns = [row_of[position] for position in pronouns_of(tokens)]
    pieces = (position for positions in noun_tokens(tokens) for position in positions) if pronouns else ()
    nouns = {row_of[position] for position in pieces if position in row_of}
    is_word = ~(marks.special | marks.punctuation)[0]
    meet = np.outer(is_word, is_word) & ~np.eye(len(units), dtype=bool)
    names = [unit.text.removeprefix(SPACE) for unit in units]
    found = []
    for of_head, shares in zip(weights, columns, strict=True):
        column = int(shares.argmax())
        pair = _largest(np.where(meet, of_head, 0), names)
        of_pronoun = _pronoun_pair(of_head, pronouns, nouns, names)
        found.append(Gaze(names[column], float(shares[column]), units[column].is_special, pair, of_pronoun))
    return tuple(found)


def _largest(weights: Float[Array, "T T"], names: Sequence[str]) -> Pair | None:
    row, key = divmod(int(weights.argmax()), weights.shape[1])
    return (names[row], names[key], float(weights[row, key])) if weights[row, key] >= _PAIR else None


def _pronoun_pair(
    weights: Float[Array, "T T"], pronouns: Sequence[int], nouns: set[int], names: Sequence[str]
) -> Pair | None:
    if not pronouns:
        return None
    row = pronouns[0]
    key = int(weights[row].argmax())
    return (names[row], names[key], float(weights[row, key])) if key in nouns and weights[row, key] >= _PAIR else None


def in_words(
    summary: HeadSummary | CrossSummary,
    gaze: Gaze | None = None,
    reading: Reading = TEXT,
    special: Sequence[str] = (),
) -> str:
    """Return a head's behaviour in a few plain words, with its numbers.

    Args:
        summary: the head's measures.
        gaze: None if the summary is a mean over several texts.
        reading: what the model reads.
        special: the special tokens that occur.
    """
    if isinstance(summary, CrossSummary):
        return _cross_in_words(summary, special)
    shown = [phrase for _, phrase in _phrases(summary, gaze, reading, special)]
    if pronoun := _pronoun_phrase(gaze):
        over_all = message("over the whole {noun}: {told}", noun=reading.noun, told="; ".join(shown)) if shown else ""
        return "; ".join(filter(None, (pronoun, over_all)))
    if shown:
        return "; ".join(shown)
    if gaze is None:
        return message("no single pattern on average")
    told = message("no single pattern on this {noun}", noun=reading.noun)
    if gaze.pair is None:
        return told
    query, key, weight = gaze.pair
    largest = message("largest weight from “{query}” to “{key}”", query=query, key=key)
    return f"{told}; {_with_number(largest, weight)}"


def tell_groups(
    summaries: Sequence[HeadSummary], gazes: Sequence[Gaze], reading: Reading, special: Sequence[str]
) -> str:
    """Count the heads by the first phrase about each, and those that find the noun of the pronoun."""
    phrases = [_phrases(*head, reading, special) for head in zip(summaries, gazes, strict=True)]
    groups = Counter(found[0][0] for found in phrases if found).most_common()
    others = (message("no single pattern"), sum(not found for found in phrases))
    counts = ", ".join(f"{group} ({count})" for group, count in (*groups, others) if count)
    told = message(
        "What {n} heads do over the whole {noun}: {counts}.", n=len(phrases), noun=reading.noun, counts=counts
    )
    pairs = Counter(gaze.pronoun_pair[:2] for gaze in gazes if gaze.pronoun_pair).most_common()
    if not pairs:
        return told
    names = {"pronoun": pairs[0][0][0], "nouns": listed([f"“{noun}” ({_heads(count)})" for (_, noun), count in pairs])}
    most = message("“{pronoun}” gives a noun the most weight, at least {least}: {nouns}.", least=number(_PAIR), **names)
    return f"{told} {most}"


def _pronoun_phrase(gaze: Gaze | None) -> str:
    if gaze is None or gaze.pronoun_pair is None:
        return ""
    pronoun, noun, weight = gaze.pronoun_pair
    told = message("“{pronoun}” gives the most weight to the noun “{noun}”", pronoun=pronoun, noun=noun)
    return _with_number(told, weight)


def _heads(count: int) -> str:
    return messages("{n} head", "{n} heads", count)


def _phrases(summary: HeadSummary, gaze: Gaze | None, reading: Reading, special: Sequence[str]) -> _Phrases:
    """Return a phrase for each behaviour of the head or, if it has none, for the shape of its heatmap."""
    unit = reading.unit
    ends = next((name for name in special if name in SEPARATORS), message("the end"))
    same_word = summary.same_word * (summary.first <= SINK)
    beside, other = message("look one {unit} back or ahead", unit=unit), message("another pattern")
    rules = (
        (beside, message("looks one {unit} back", unit=unit), summary.previous, NEIGHBOUR),
        (beside, message("looks one {unit} ahead", unit=unit), summary.next, NEIGHBOUR),
        (other, message("looks at the {unit} itself", unit=unit), summary.itself, NEIGHBOUR),
        # If the first word repeats, weight on it is a sink rather than attention to the same word.
        (other, message("looks at the same {unit} elsewhere, if any", unit=unit), same_word, NEIGHBOUR),
        (*_first_token_phrase(gaze, special), summary.first, SINK),
        (_at_special(special), message("looks at {name}, the end of the text", name=ends), summary.separator, SINK),
    )
    found = [(group, _with_share(phrase, value)) for group, phrase, value, threshold in rules if value > threshold]
    if not found and summary.normalised_entropy > BROAD:
        spread = message("spread over many {units}", units=reading.units)
        return [(spread, _spread_phrase(reading, summary.normalised_entropy))]
    return found or _pattern_phrases(summary, gaze, reading, special)


def _at_special(special: Sequence[str]) -> str:
    return message("look at {names}", names=" / ".join(special))


def _first_token_phrase(gaze: Gaze | None, special: Sequence[str]) -> tuple[str, str]:
    if special and special[0] not in SEPARATORS:
        return _at_special(special), message("looks at {name}, the first token", name=special[0])
    # More than half of all weight is on the first token, so it is the gaze's column.
    group = message("look at the first token")
    if gaze is None:
        return group, message("looks at the first token")
    return group, message("looks at {name}, the first token", name=f"“{gaze.column}”")


def _pattern_phrases(summary: HeadSummary, gaze: Gaze | None, reading: Reading, special: Sequence[str]) -> _Phrases:
    """Return the phrase for the shape of the head's heatmap; empty if it has no named shape."""
    unit, label, other = reading.unit, summary.pattern.label, message("another pattern")
    found: _Phrases = []
    if label.startswith("vertical"):
        group = _at_special(special) if gaze and gaze.is_special else other
        found.append((group, _column_phrase(summary, gaze, reading, special)))
    if label.endswith("diagonal"):
        near = message("looks at the {unit} itself and its neighbours", unit=unit)
        found.append((other, _with_share(near, summary.near)))
    if label == "block":
        score = number(summary.pattern.block)
        found.append((other, message("stays within its sentence (score {score} of 1)", score=score)))
    if not found and summary.positional > POSITIONAL and summary.mean_distance <= _NEAR:
        distance = number(summary.mean_distance)
        near_by = message("looks nearby ({distance} {units} away on average)", distance=distance, units=reading.units)
        found.append((other, near_by))
    return found


def _column_phrase(summary: HeadSummary, gaze: Gaze | None, reading: Reading, special: Sequence[str]) -> str:
    """Return the phrase for a head whose heatmap has one strong column, or one at each special token."""
    if gaze is None:
        score = number(summary.pattern.vertical)
        return message("most {units} look at the same one (score {score} of 1)", units=reading.units, score=score)
    if not gaze.is_special:
        phrase, share = message("most {units} look at “{name}”", units=reading.units, name=gaze.column), gaze.share
    elif min(summary.first, summary.separator) >= _BOTH and len(special) > 1:
        phrase, share = message("looks at {names}", names=listed(special)), summary.first + summary.separator
    elif gaze.column == special[0] and special[0] not in SEPARATORS:
        phrase, share = _first_token_phrase(gaze, special)[1], gaze.share
    else:
        phrase, share = message("looks at {names}", names=gaze.column), gaze.share
    return _with_share(phrase, share)


def _cross_in_words(summary: CrossSummary, special: Sequence[str]) -> str:
    if summary.special > SINK:
        names = listed(special) if special else message("special tokens")
        return _with_share(message("looks at {names}", names=names), summary.special)
    if summary.largest > NEIGHBOUR:
        return _with_share(message("each token looks mostly at one other"), summary.largest)
    if summary.normalised_entropy > BROAD:
        return _spread_phrase(TEXT, summary.normalised_entropy)
    return message("no single pattern on this {noun}", noun=TEXT.noun)


def _spread_phrase(reading: Reading, evenness: float) -> str:
    score = number(evenness)
    return message("spreads its weight over many {units} (evenness {score} of 1)", units=reading.units, score=score)


def _with_number(phrase: str, value: float) -> str:
    return f"{phrase} ({number(value)})"


def _with_share(phrase: str, share: float) -> str:
    return message("{phrase} ({share} of its weight)", phrase=phrase, share=number(share))
