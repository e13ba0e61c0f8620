"""The same word in two texts: how far its two vectors drift apart, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Difference, Token, Trace
from attention.core.words import Word
from attention.core.words import words_of as whole_words
from attention.experiments.pca import cosines, mean_cosine
from attention.figures import charts
from attention.figures.buttons import Button, Buttons
from attention.figures.charts import Chart, Curve
from attention.figures.colours import INACTIVE
from attention.lesson.head_context import HeadContext
from attention.lesson.proof import TOLERANCE
from attention.lesson.prose import lesson, word
from attention.lesson.quiz import words_of
from attention.lesson.tables import full_precision
from attention.page.blocks import (
    Blocks,
    Entry,
    Heading,
    Notice,
    Picture,
    Prose,
    Section,
    Setting,
    as_table,
    beside,
)
from attention.page.labs.base import Runs
from attention.page.parameters import Choice, Parameter, Values
from attention.page.settings import VERSUS, WORD

Beside = Literal["after", "before", "alone", "typed"]

BESIDES: tuple[Beside, ...] = ("after", "before", "alone", "typed")
BESIDE_TEXT: Parameter[Beside | None] = Parameter(
    "other", Choice(lambda _: BESIDES), None, otherwise=message("An example pair is shown.")
)

# A word at the same position in two texts; the context that decides its meaning comes after it, or before.
PAIRS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "after": ("the bank of the river", "the bank of the city", "bank"),
        "before": ("the river has a bank", "the city has a bank", "bank"),
    }
)
MAX_SHARED = 12  # shared words to choose from


class _Pair(NamedTuple):
    """A word's position in each of two runs."""

    first: Trace
    place: int
    second: Trace
    other: int

    @property
    def tokens(self) -> tuple[Token, Token]:
        """The two tokens."""
        return self.first.tokens[self.place], self.second.tokens[self.other]

    def vectors(self) -> tuple[Float[Array, "L+1 M"], Float[Array, "L+1 M"]]:
        """Return its vectors in both, before each layer and after the last."""
        one = np.stack([state[self.place] for state in self.first.hidden_states])
        two = np.stack([state[self.other] for state in self.second.hidden_states])
        return one, two

    def of_others(self) -> Float[Array, " L+1"] | None:
        """Return the mean cosine between different words of the two texts; None if there are none."""
        (ones, names), (twos, others) = _words(self.first), _words(self.second)
        differ = np.array(names)[:, None] != np.array(others)
        if not differ.any():
            return None
        states = zip(self.first.hidden_states, self.second.hidden_states, strict=True)
        return np.array([mean_cosine(before[ones], after[twos], differ) for before, after in states])


def _words(trace: Trace) -> tuple[list[int], list[str]]:
    """Return the positions of a text's words or pieces, and their case-folded text."""
    places = words_of(trace.tokens)
    return places, [_folded(trace.tokens[place].typed) for place in places]


def _folded(typed: str) -> str:
    return typed.strip().casefold()


# ------------------------------------------------------------------------------ the word and the texts


def drift(scene: HeadContext, values: Values, runs: Runs | None) -> Blocks:
    """Show how the vectors of a word in two texts drift apart."""
    heading = Heading(message("The same word in two texts"))
    if not scene.info.reading.takes_sentences or runs is None:
        return (heading, Prose(lesson("vector-moves/drift-not-here")))
    beside = values[BESIDE_TEXT] or _first_pair(scene)
    names: Mapping[Beside, str] = {
        "after": message("the bank of the …"),
        "before": message("the … has a bank"),
        "alone": message("“{word}”, read alone", word=scene.names[scene.word]),
        "typed": message("your text and another"),
    }
    options = {each: names[each] for each in BESIDES}
    knob = Section("texts", (Setting(BESIDE_TEXT, message("Compared"), beside, options),), is_line=True)
    if beside == "typed":
        return (heading, knob, *_typed(scene, (values[VERSUS] or "").strip(), runs))
    if beside == "alone":
        alone = _alone(scene, runs)
        if alone is None:
            return (heading, knob, Prose(lesson("vector-moves/drift-none", focus=scene.focus_word)))
        return (heading, knob, *_drift_of(scene, alone))
    *texts, wanted = PAIRS[beside]
    pair = _of_texts(texts, wanted, runs)
    if pair is None:
        return (heading, knob, Prose(lesson("vector-moves/drift-unread", model=word(scene.info.name))))
    told = lesson("vector-moves/drift-pair", one=word(texts[0]), two=word(texts[1]))
    return (heading, knob, Prose(told), *_drift_of(scene, pair))


def _first_pair(scene: HeadContext) -> Beside:
    """Return the default pair: under a causal mask, the deciding context has to come first."""
    return "before" if scene.attention.is_causal else "after"


def _alone(scene: HeadContext, runs: Runs) -> _Pair | None:
    text = scene.focus.typed.strip()
    other = runs.reading(text) if text and not scene.focus.is_special else None
    place = None if other is None else _find(other, text)
    return None if other is None or place is None else _Pair(scene.trace, scene.word, other, place)


def _of_texts(texts: Sequence[str], wanted: str, runs: Runs) -> _Pair | None:
    first, second = (runs.reading(text) for text in texts)
    if first is None or second is None:
        return None
    place, other = _find(first, wanted), _find(second, wanted)
    return None if place is None or other is None else _Pair(first, place, second, other)


def _find(trace: Trace, text: str) -> int | None:
    found = (token.position for token in trace.tokens if not token.is_special and token.typed.strip() == text)
    return next(found, None)


# ---------------------------------------------------------------------------------- the user's second text


def _typed(scene: HeadContext, text: str, runs: Runs) -> Blocks:
    hint = message("Type a text that shares a word with yours")
    field = Entry("second", VERSUS, message("Second text"), text, hint)
    if not text:
        return (field, Prose(lesson("vector-moves/drift-shared")))
    second = runs.reading(text)
    if second is None:
        return (field, Prose(lesson("vector-moves/drift-unread", model=word(scene.info.name))))
    shared = _shared(scene.trace, second)
    if not shared:
        return (field, Prose(lesson("vector-moves/drift-shared")))
    chosen = _in_focus(scene, shared)
    pair = _last_pieces(scene.trace, second, _longest(shared)) if chosen is None else _pieces(scene, second, chosen)
    return (field, *_choice(shared, pair.place), *_drift_of(scene, pair))


class _SharedWord(NamedTuple):
    """A shared word, in each text."""

    first: Word
    second: Word


def _shared(first: Trace, second: Trace) -> list[_SharedWord]:
    """Return the shared words, paired in order of occurrence."""
    met: dict[str, list[Word]] = {}
    for each in _real_words(second):
        met.setdefault(_folded(each.typed), []).append(each)
    found = []
    for each in _real_words(first):
        others = met.get(_folded(each.typed), [])
        if others:
            # Surplus occurrences in the first text are paired with the second text's last.
            found.append(_SharedWord(each, others.pop(0) if len(others) > 1 else others[0]))
    return found


def _real_words(trace: Trace) -> list[Word]:
    return [
        each
        for each in whole_words(trace.tokens)
        if not each.is_special and not each.is_padding and any(map(str.isalnum, each.typed))
    ]


def _in_focus(scene: HeadContext, shared: Sequence[_SharedWord]) -> _SharedWord | None:
    return next((both for both in shared if scene.word in both.first.positions), None)


def _longest(shared: Sequence[_SharedWord]) -> _SharedWord:
    """Return the longest shared word, the last of several: it is seldom an article."""
    return max(reversed(shared), key=lambda both: len(both.first.typed.strip()))


def _pieces(scene: HeadContext, second: Trace, both: _SharedWord) -> _Pair:
    """Return the piece in focus and its counterpart; where that word has fewer pieces, its last."""
    index = both.first.positions.index(scene.word)
    return _Pair(scene.trace, scene.word, second, both.second.positions[: index + 1][-1])


def _last_pieces(first: Trace, second: Trace, both: _SharedWord) -> _Pair:
    """Return the last piece of a word in both texts: in a decoder, only it has seen the whole word."""
    return _Pair(first, both.first.positions[-1], second, both.second.positions[-1])


def _choice(shared: Sequence[_SharedWord], place: int) -> Blocks:
    """Return a button for each shared word if there are several; the compared one's is disabled."""
    words = {_folded(both.first.typed): both for both in reversed(shared)}
    if len(words) < 2:
        return ()
    here = next(_folded(both.first.typed) for both in shared if place in both.first.positions)
    row = tuple(
        Button(both.first.typed.strip(), parts=None if name == here else {"word": str(both.first.positions[-1])})
        for name, both in sorted(words.items(), key=lambda item: item[1].first.position)[:MAX_SHARED]
    )
    buttons = Picture("shared", Buttons(message("Words in both texts"), row), sets={"word": WORD})
    return (Section("shared_words", (Notice(message("In both texts:"), is_quiet=True), buttons), is_line=True),)


# ---------------------------------------------------------------------------------------------- the drift


def _drift_of(scene: HeadContext, pair: _Pair) -> Blocks:
    """Return the cosine of a word's two vectors by layer, compared with different words."""
    one, two = pair.vectors()
    own, others = cosines(one, two), pair.of_others()
    places = tuple(map(str, range(len(own))))
    numbers = np.arange(len(own))
    curves = [Curve(message("the same word"), numbers, own)]
    columns: dict[str, list[str]] = {
        message("after layer"): list(places),
        message("the same word"): full_precision(own),
    }
    if others is not None:
        curves.append(Curve(message("different words"), numbers, others, INACTIVE))
        columns[message("different words")] = full_precision(others)
    title = message("cosine of the two vectors")
    alt = message("{title}, by layer.", title=title)
    lowest = min(float(np.nanmin(each.values)) for each in curves if not np.isnan(each.values).all())
    chart = charts.layer_lines(places, curves, title, alt, limits=(min(0.0, lowest), 1.0))
    words = _tell_tokens(pair) + lesson(
        "vector-moves/drift", word=word(pair.tokens[0].typed.strip()), first=own[0], end=own[-1], last=len(own) - 1
    )
    if Difference.between(one, two).relative <= TOLERANCE:
        words += lesson("vector-moves/drift-causal" if scene.attention.is_causal else "vector-moves/drift-same")
    return (
        beside(words, Picture("drift", Chart(chart))),
        as_table("drift", lambda: columns, file="drift"),
    )


def _tell_tokens(pair: _Pair) -> str:
    """Say if the word is a different token in the second text."""
    one, two = (token.text for token in pair.tokens)
    if one == two:
        return ""
    return lesson("vector-moves/drift-tokens", one=word(one), two=word(two))
