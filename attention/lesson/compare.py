"""Two runs side by side: the words they share, the difference of their weights, and the largest change.

Words are matched in order, by their lower-case letters (Ratcliff and Obershelp, as in Python's ``difflib``). Cells of
a word that only one run has are NaN, not 0.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.trace import Trace
from attention.core.words import Word, merge_hidden, merge_words, special_names
from attention.figures.atlas import Head
from attention.figures.format import full_colour, number
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import between
from attention.lesson.prose import fact, lesson, listed, word
from attention.lesson.quiz import TIE, Guess

# The matrix name of a cell of both runs.
COMPARE = "compare"
# The least limit of the colour scale of differences.
_LEAST_SCALE = 0.1
# The least clear change; the least weight shown in an opened row.
CLEAR, SHOWN = 0.1, 0.05

# A word's index in the first and the second run; None if the run lacks it.
Pairing = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs: its name, its words, one head's weights between them, and the cells hidden by a mask.

    ``owner`` is the model's name, if the sides differ by model. ``within`` is the name's form inside a sentence, if
    different. ``starts`` are the words' offsets in ``text``.
    """

    name: str
    words: tuple[Word, ...]
    weights: Float[Array, "W W"]
    hidden: Bool[Array, "W W"] | None = None
    owner: str = ""
    within: str = ""
    text: str = ""
    starts: tuple[int | None, ...] = ()

    @property
    def inside(self) -> str:
        """The name as written inside a sentence."""
        return self.within or self.name

    def short(self, otherwise: str) -> str:
        """Return the model's name, or ``otherwise`` if the sides do not differ by model."""
        return self.owner or otherwise

    def marked(self, places: Sequence[int]) -> str:
        """Return the text as HTML, with the words at these indices marked."""
        parts: list[str] = []
        end = 0
        for place in places:
            start, typed = self.starts[place], self.words[place].typed
            if start is None or start < end:
                continue
            parts += [html.escape(self.text[end:start]), f"<mark>{html.escape(typed)}</mark>"]
            end = start + len(typed)
        return f"<bdi>{''.join(parts)}{html.escape(self.text[end:])}</bdi>"


def side_of(scene: HeadContext, name: str, owner: str = "", within: str = "") -> Side:
    """Return the weights of a scene's head between whole words; each row still sums to 1, unless it has a sink."""
    n_tokens = len(scene.tokens)
    weights, words = merge_words(scene.steps.weights[:, :n_tokens], scene.tokens)
    hidden = merge_hidden(~scene.visible[:, :n_tokens], scene.tokens)
    start_of = {token.position: token.start for token in scene.tokens}
    starts = tuple(start_of[each.position] for each in words)
    return Side(name, tuple(words), weights, hidden, owner, within, scene.trace.text, starts)


def align(first: Sequence[Word], second: Sequence[Word]) -> tuple[Pairing, ...]:
    """Return the words of both runs in order, shared or not.

    Where they differ, the words of the first run come before those of the second.
    """
    ours, theirs = ([(each.is_special, each.text.lower()) for each in words] for words in (first, second))
    places: list[Pairing] = []
    for tag, start, end, other_start, other_end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            places += zip(range(start, end), range(other_start, other_end), strict=True)
        else:
            places += [(index, None) for index in range(start, end)]
            places += [(None, index) for index in range(other_start, other_end)]
    return tuple(places)


@dataclass(frozen=True)
class Comparison:
    """Two runs on a common list of W words, the rows and columns of all arrays."""

    first: Side
    second: Side

    @cached_property
    def places(self) -> tuple[Pairing, ...]:
        """Each word's index in the first and the second run."""
        return align(self.first.words, self.second.words)

    @cached_property
    def units(self) -> tuple[Word, ...]:
        """The words."""
        return tuple(
            self.first.words[one] if one is not None else self.second.words[other]  # type: ignore[index]
            for one, other in self.places
        )

    @cached_property
    def shared(self) -> Bool[Array, " W"]:
        """Which words are in both runs."""
        return np.array([None not in place for place in self.places])

    @cached_property
    def counted(self) -> Bool[Array, " W"]:
        """The shared words without special tokens."""
        return self.shared & np.array([not unit.is_special for unit in self.units])

    @cached_property
    def weights(self) -> tuple[Float[Array, "W W"], Float[Array, "W W"]]:
        """The weights of both runs; NaN for words that a run lacks."""
        return _spread(self.first.weights, [one for one, _ in self.places]), _spread(
            self.second.weights, [other for _, other in self.places]
        )

    @cached_property
    def hidden(self) -> tuple[Bool[Array, "W W"], Bool[Array, "W W"]]:
        """The cells hidden by each run's mask; words that a run lacks are not hidden."""
        return _hidden(self.first, [one for one, _ in self.places]), _hidden(
            self.second, [other for _, other in self.places]
        )

    @cached_property
    def difference(self) -> Float[Array, "W W"]:
        """The weights of the second run minus those of the first; NaN where one is missing."""
        return self.weights[1] - self.weights[0]

    @cached_property
    def swapped(self) -> tuple[tuple[int, int], ...]:
        """Pairs of rows, one of each run, whose words replace each other."""
        pairs: list[tuple[int, int]] = []
        row = 0
        while row < len(self.places):
            start = row
            while row < len(self.places) and not self.shared[row]:
                row += 1
            ours = [index for index in range(start, row) if self.places[index][1] is None]
            theirs = [index for index in range(start, row) if self.places[index][0] is None]
            if len(ours) == len(theirs):
                pairs += zip(ours, theirs, strict=True)
            row += 1
        return tuple(pairs)

    def most_changed(self) -> tuple[int, int] | None:
        """Return the row and column of the largest change, without special tokens; None if no words are shared."""
        if not self.counted.any():
            return None
        changed = np.where(self.counted[:, None] & self.counted, np.abs(self.difference), np.nan)
        row, column = np.unravel_index(int(np.nanargmax(changed)), changed.shape)
        return int(row), int(column)

    def guess(self, place: tuple[int, int] | None) -> Guess | None:
        """Ask whether the second run gives a cell more, less or the same weight; None if a weight is missing."""
        if place is None or np.isnan(self.difference[place]):
            return None
        row, column = place
        first, second = (float(weights[place]) for weights in self.weights)
        # If the numbers are level, naming the larger one is close.
        ways = ("more", "less", "same")
        sign = "more" if second > first else "less"
        right = "same" if abs(second - first) <= TIE else sign
        return Guess(
            lesson(
                "guess/compare",
                row=word(self.units[row].text),
                column=word(self.units[column].text),
                first_name=word(self.first.inside),
                second_name=word(self.second.inside),
                first=fact(first),
                tie=fact(TIE),
            ),
            (message("more"), message("less"), message("the same")),
            lesson(
                "guess/compare-because",
                second_name=word(self.second.inside),
                second=fact(second),
                difference=fact(second - first),
            ),
            frozenset({ways.index(right)}),
            frozenset({ways.index(sign)} if right == "same" and first != second else ()),
        )

    def pictures(self, selected: tuple[int, int] | None) -> tuple[Matrix, Matrix, Matrix]:
        """Return both heatmaps and their difference, on the same rows and columns."""
        first, second = self.weights
        title = message("{second} minus {first}", second=self.second.name, first=self.first.inside)
        ours, theirs = self.hidden
        return (
            self._picture("first", self.first.name, first, selected, ours),
            self._picture("second", self.second.name, second, selected, theirs),
            # Where only one of the two masks hides a cell, the difference is the weight of the other run.
            self._picture("difference", title, self.difference, selected, ours & theirs),
        )

    def row_picture(self, row: int) -> Matrix:
        """Return a word's row in both runs as two columns: the words with the largest weights, in text order."""
        both = np.stack([weights[row] for weights in self.weights], axis=1)
        largest = np.nan_to_num(both).max(axis=1)
        kept = np.flatnonzero(largest >= min(SHOWN, largest.max()))
        name = self.units[row].text
        return Matrix(
            name="row",
            title=message("What “{word}” attends to", word=name),
            values=both[kept].astype(np.float32),
            row_labels=tuple(self.units[key].text for key in kept),
            column_labels=(self.first.short(message("1st sentence")), self.second.short(message("2nd sentence"))),
            row_axis=message("keys with weight {weight} or more", weight=number(SHOWN)),
            column_axis=message("the row of “{word}”", word=name),
            palette="weights",
            alt=message("The weights of “{word}” in both, side by side.", word=name),
            row_role="key",
            blank=message("not here"),
        )

    def _picture(
        self, name: str, title: str, values: Array, selected: tuple[int, int] | None, hidden: Bool[Array, "W W"]
    ) -> Matrix:
        labels = tuple(unit.text for unit in self.units)
        alt = message(
            "{title}: weights between {n_labels} words, blank where a word is missing.",
            title=title,
            n_labels=len(labels),
        )
        is_difference = name == "difference"
        return between(
            name,
            title,
            values.astype(np.float32),
            labels,
            alt,
            palette="signed" if is_difference else "weights",
            focus_row=None if selected is None else selected[0],
            selected=selected,
            blank=message("not in both") if is_difference else message("not here"),
            hidden=hidden,
            known_as=COMPARE,
            # Tiny differences keep a pale colour.
            limit=max(_LEAST_SCALE, full_colour(values)) if is_difference else 1.0,
        )


def _hidden(side: Side, indices: Sequence[int | None]) -> Bool[Array, "W W"]:
    hidden = np.zeros(side.weights.shape, bool) if side.hidden is None else side.hidden
    return _spread(hidden, indices) == 1


def _spread(weights: Array, indices: Sequence[int | None]) -> Float[Array, "W W"]:
    spread = np.full((len(indices), len(indices)), np.nan)
    there = [row for row, index in enumerate(indices) if index is not None]
    here = [index for index in indices if index is not None]
    spread[np.ix_(there, there)] = weights[np.ix_(here, here)]
    return spread


def tell(comparison: Comparison) -> str:
    """Return as HTML the largest change, the weights on swapped words, and the words that cannot be compared."""
    names = {"first_name": word(comparison.first.inside), "second_name": word(comparison.second.inside)}
    changed = comparison.most_changed()
    if changed is None:
        text = lesson("compare/nothing")
    else:
        text = lesson("compare/most", **_cell_facts(comparison, changed), **names) + _special(comparison)
    text += "".join(_swap(comparison, *rows) for rows in comparison.swapped[:2])
    text += _only(comparison.first, [one for one, other in comparison.places if other is None])
    text += _only(comparison.second, [other for one, other in comparison.places if one is None])
    return text


def tell_marked(comparison: Comparison) -> str:
    """Return both texts as HTML, with the words marked that only one of them has."""
    ours = [one for one, other in comparison.places if other is None and one is not None]
    theirs = [other for one, other in comparison.places if one is None and other is not None]
    return lesson("compare/texts", first=comparison.first.marked(ours), second=comparison.second.marked(theirs))


def tell_first(comparison: Comparison, row: int, column: int) -> str:
    """Return as HTML one cell's weight in both runs."""
    names = {"first_name": word(comparison.first.inside), "second_name": word(comparison.second.inside)}
    return lesson("compare/first", **_cell_facts(comparison, (row, column)), **names)


def tell_unclear(changed: Float[Array, "L H"]) -> str:
    """Return as HTML that no head changes clearly between two texts; empty if one does."""
    return lesson("compare/unclear", most=changed.max()) if changed.max() < CLEAR else ""


def _cell_facts(comparison: Comparison, cell: tuple[int, int]) -> dict[str, str | int]:
    first, second = comparison.weights
    row, column = cell
    return {
        "row": word(comparison.units[row].text),
        "column": word(comparison.units[column].text),
        "first": fact(float(first[cell])),
        "second": fact(float(second[cell])),
    }


def _special(comparison: Comparison) -> str:
    names = special_names(comparison.units)
    return lesson("compare/special", special=listed([f"<b>{word(name)}</b>" for name in names])) if names else ""


def _swap(comparison: Comparison, ours: int, theirs: int) -> str:
    """Return as HTML how the shared words attend to a pair of swapped words, in the row where this differs most."""
    first, second = comparison.weights
    if not comparison.counted.any():
        return ""
    apart = np.where(comparison.counted, np.abs(second[:, theirs] - first[:, ours]), -1)
    row = int(apart.argmax())
    return lesson(
        "compare/swapped",
        ours=word(comparison.units[ours].text),
        theirs=word(comparison.units[theirs].text),
        row=word(comparison.units[row].text),
        first=first[row, ours],
        second=second[row, theirs],
    )


def _only(side: Side, indices: Sequence[int | None]) -> str:
    names = [f"“{word(side.words[index].text)}”" for index in indices if index is not None]
    return lesson("compare/only", side=word(side.owner or side.inside), words=", ".join(names)) if names else ""


def changes(first: Trace, second: Trace) -> Float[Array, "L H"]:
    """Return each head's largest change of a cell between two runs of one model, without special tokens."""
    rows = []
    for one, other in zip(first.layers, second.layers, strict=True):
        ours, words = merge_words(one.steps().weights, first.tokens)
        theirs, others = merge_words(other.steps().weights, second.tokens)
        shared = [(one, other) for one, other in align(words, others) if one is not None and other is not None]
        counted = [place for place in shared if not words[place[0]].is_special]
        if not counted:
            return np.zeros((len(first.layers), len(ours)))
        here, there = (list(indices) for indices in zip(*counted, strict=True))
        apart = theirs[:, there][:, :, there] - ours[:, here][:, :, here]
        rows.append(np.abs(apart).max(axis=(1, 2)))
    return np.stack(rows)


def changes_picture(changed: Float[Array, "L H"], current: Head) -> Matrix:
    """Return the largest change of each head as a matrix, with a row for each layer."""
    n_layers, n_heads = changed.shape
    return Matrix(
        name="changes",
        title=message("Largest difference per head"),
        values=changed.astype(np.float32),
        row_labels=tuple(message("Layer {layer}", layer=layer + 1) for layer in range(n_layers)),
        column_labels=tuple(str(head + 1) for head in range(n_heads)),
        row_axis=message("layers"),
        column_axis=message("heads"),
        palette="weights",
        alt=message("The largest difference between two words in each of {size} heads.", size=changed.size),
        selected=current,
        has_heads=True,
    )
