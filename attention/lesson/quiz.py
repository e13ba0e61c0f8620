"""A question about a step's result, asked before it is shown; every guess is judged by the record."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Token
from attention.core.words import is_punctuation
from attention.core.words import words_of as whole_words
from attention.figures.question import Answer, Shape, Verdict
from attention.lesson.head_context import HeadContext
from attention.lesson.noun_tagger import noun_tokens
from attention.lesson.prose import fact, lesson, listed, word

_VERDICTS: Mapping[Verdict, str] = {
    "right": "guess/right",
    "close": "guess/close",
    "other": "guess/other",
    "shown": "guess/shown",
}

# The largest difference of numbers that count as equal.
TIE = 0.02
# A value is near the largest if the gap is no more than this part of it.
NEAR = 0.1
MAX_ANSWERS = 7
# The least overlap with the true shares of a right and of a close answer.
RIGHT_OVERLAP, CLOSE_OVERLAP = 0.85, 0.7


@dataclass(frozen=True, slots=True)
class Guess:
    """A question, its possible answers, and the record's answer.

    Attributes:
        question: the question (HTML).
        answers: the possible answers, in plain text.
        reason: the numbers of this sentence that decide it (HTML).
        right: the indices of the right answers; several, where numbers tie.
        close: the indices of nearly right answers.
        shares: for a question about shares, the true share of each answer; they add up to 1.
        is_of_tokens: whether a list of the tokens reveals the answer.
        whys: a likely reason for each wrong answer (HTML); may be empty.
        is_typed: whether the answer is typed; ``answers`` are then the accepted ones.
    """

    question: str
    answers: tuple[str, ...]
    reason: str
    right: frozenset[int] = frozenset()
    close: frozenset[int] = frozenset()
    shares: tuple[float, ...] = ()
    is_of_tokens: bool = False
    whys: tuple[str, ...] = ()
    is_typed: bool = False

    @property
    def shape(self) -> Shape:
        """How it is answered."""
        return "words" if self.is_typed else "shares" if self.shares else "one"

    @property
    def label(self) -> str:
        """The answers' label for screen readers."""
        return message("Shares of 100%") if self.shares else message("Possible answers")

    @property
    def mark(self) -> str:
        """A checksum of the question: an answer with another mark belongs to another question."""
        told = "\n".join((self.question, *self.answers, self.reason))
        return f"{zlib.crc32(told.encode('utf-8', 'replace')):08x}"

    def judge(self, answer: Answer | None) -> Verdict | None:
        """Return the verdict on an answer; None if it does not belong to this question."""
        if answer is None or answer.mark != self.mark:
            return None
        if not answer.given:
            return "shown"
        if self.shares:
            return self._judge_shares(answer.given)
        (*_, index) = answer.given
        if len(answer.given) > 1 or index >= len(self.answers):
            return None
        return "right" if index in self.right else "close" if index in self.close else "other"

    def _judge_shares(self, given: Sequence[int]) -> Verdict | None:
        if len(given) != len(self.shares) or not any(given):
            return None
        shared = overlap(np.array(given, dtype=np.float64), np.array(self.shares))
        return "right" if shared >= RIGHT_OVERLAP else "close" if shared >= CLOSE_OVERLAP else "other"


def verdict_words(verdict: Verdict) -> str:
    """Return the text for a verdict (HTML)."""
    return lesson(_VERDICTS[verdict])


def overlap(guessed: Array, true: Array) -> float:
    """Return the overlap of two distributions, 1 − ½ Σ |g − a|, from 0 to 1; ``guessed`` is normalised first."""
    return float(1 - np.abs(guessed / guessed.sum() - true).sum() / 2)


def ranked(
    question: str,
    names: Sequence[str],
    values: Sequence[float],
    reason: str,
    why: Callable[[int], str] = lambda _: "",
    natural: Sequence[int] = (),
    most: int = MAX_ANSWERS,
) -> Guess:
    """Ask which of several has the largest value; the next one is close if its value is near the largest.

    ``MAX_ANSWERS`` are offered, up to ``most`` if so many are ``natural``, in their order: the largest, the natural
    ones, which people think of, the next largest, and others spread evenly over the rest. ``why`` returns the reason
    that may have misled those who chose an answer.
    """
    order = sorted(range(len(values)), key=lambda index: -values[index])
    room = max(MAX_ANSWERS, min(most, len(natural) + 1))
    first = list(dict.fromkeys((order[0], *natural[: room - 1], *order[1 : MAX_ANSWERS // 2])))[:room]
    rest = [index for index in order if index not in first]
    wanted = min(room - len(first), len(rest))
    spread = [rest[(2 * index + 1) * len(rest) // (2 * wanted)] for index in range(wanted)]
    offered = sorted((*first, *spread))
    right = {index for index in offered if values[index] >= values[order[0]] - TIE}
    below = [index for index in order if values[index] < values[order[0]] - TIE]
    close = {index for index in offered if below and values[index] >= values[below[0]] - TIE} - right
    also = [f"“{word(names[index])}” ({fact(values[index])})" for index in offered if index in right - {order[0]}]
    return Guess(
        question,
        tuple(names[index] for index in offered),
        reason + (lesson("guess/tie", tie=fact(TIE), also=listed(also)) if also else ""),
        frozenset(map(offered.index, right)),
        frozenset(offered.index(index) for index in close if _is_near(values, index)),
        whys=tuple(map(why, offered)),
    )


def _is_near(values: Sequence[float], index: int) -> bool:
    """Return whether a value is near the largest, relative to it and to the range of all values."""
    most = max(values)
    return most - values[index] <= NEAR * min(most - min(values), abs(most))


def comes_near(values: Sequence[float], index: int) -> str:
    """Return the text for a value near the largest one; empty for others."""
    value, most = values[index], max(values)
    if value >= most or not _is_near(values, index):
        return ""
    return lesson("guess/why-near-value", value=fact(value), most=fact(most))


def _stands_near(scene: HeadContext, key: int) -> str:
    """Return the text for a key that is the token in focus or next to it; empty for others."""
    if key == scene.own_key:
        return lesson("guess/why-itself")
    is_beside = scene.own_key is not None and abs(key - scene.own_key) == 1
    return lesson("guess/why-beside", focus=scene.focus_word) if is_beside else ""


def highest(scene: HeadContext, row: Float[Array, " K"], question: str, because: Callable[[int], str]) -> Guess | None:
    """Ask which token has the largest number in the row of the one in focus; None if it sees fewer than two words.

    The special token or punctuation mark with the largest number is always offered, so that its presence reveals
    nothing; so are nouns, which are common guesses. A word in pieces is represented by the piece with the largest
    number. ``because`` returns the reason for a key.
    """
    seen, number = words_seen(scene), row.tolist().__getitem__
    pieces = ({*each.positions}.intersection(seen) for each in whole_words(scene.key_tokens))
    words = [max(each, key=number) for each in pieces if each]
    if len(words) < 2:
        return None
    apart = sorted({*np.flatnonzero(scene.visible[scene.word]).tolist()} - {*seen}, key=number)[-1:]
    keys = sorted((*words, *apart))
    numbers = list(map(number, keys))
    of_nouns = {position for noun in noun_tokens(scene.key_tokens) for position in noun}
    nouns = sorted(of_nouns.intersection(words), key=number, reverse=True)
    natural = [keys.index(key) for key in (*apart, *nouns)]

    def why(index: int) -> str:
        return _stands_near(scene, keys[index]) or comes_near(numbers, index)

    reason = because(max(keys, key=number))
    return ranked(question, [scene.key_names[key] for key in keys], numbers, reason, why, natural)


def around(value: int, question: str, reason: str) -> Guess:
    """Ask for a number, offering four consecutive ones; the true one's place is pseudo-random.

    One more or one less is close.
    """
    before = zlib.crc32(question.encode("utf-8", "replace")) % 4
    first = max(1, value - before)
    numbers = range(first, first + 4)
    close = frozenset(index for index, number in enumerate(numbers) if abs(number - value) == 1)
    return Guess(question, tuple(map(str, numbers)), reason, frozenset({numbers.index(value)}), close)


def words_of(tokens: Sequence[Token]) -> list[int]:
    """Return the positions of words and pieces of words, without special tokens and punctuation marks."""
    return [each.position for each in tokens if not each.is_special and not is_punctuation(each)]


def repeated(tokens: Sequence[Token]) -> tuple[int, int] | None:
    """Return the positions of two words with the same token ID; None if there are none."""
    pairs = combinations((tokens[position] for position in words_of(tokens)), 2)
    twice = (pair for pair in pairs if pair[0].token_id == pair[1].token_id >= 0)
    return next(((one.position, other.position) for one, other in twice), None)


def words_seen(scene: HeadContext) -> list[int]:
    """Return the positions of the words that the one in focus can see."""
    return [key for key in words_of(scene.key_tokens) if scene.visible[scene.word, key]]
