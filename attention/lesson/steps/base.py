"""What a step consists of: a name, a formula, a text, pictures that explain their cells, code and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from attention.core.messages import message
from attention.core.trace import Token
from attention.figures.bars import Bars
from attention.figures.matrix import Cell, Matrix
from attention.figures.transition import Split, Turn
from attention.lesson.cell_explanation import Detail
from attention.lesson.code_context import CodeContext
from attention.lesson.guessed import tell_mostly_guessed
from attention.lesson.head_context import HeadContext
from attention.lesson.quiz import Guess
from attention.lesson.tables import Columns, matrix_table, token_table

__all__ = ["Extra", "Step", "StepMatrix", "Strip", "Where", "explained", "no_words"]

# What is shown under a step on its page only: what grouped queries save, how a layer ends, and the next token.
Extra = Literal["savings", "onward", "what now", "next token"]
# Where in a model a step happens: at its input, where the residual stream enters the layer, in the attention, or where
# its output is added to the stream.
Where = Literal["input", "stream", "attention", "sum"]
# How blanks are filled in by hand: the largest number of each row, a sum of two, a quotient, what is not hidden, or
# what is left of 1.
Filled = Literal["largest", "added", "divided", "hidden", "rest"]
# What is worked out by hand and stands in the matrix of a step.
Made = Literal["", "products", "results", "shares", "outputs"]


@dataclass(frozen=True, slots=True)
class StepMatrix:
    """A matrix that a step shows, the function that explains one of its cells, and how it came to be."""

    matrix: Matrix
    explain: Callable[[HeadContext, Cell], Detail]
    change: Turn | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """Tokens in a row, and how a text became them; if one of them is in focus, another can be chosen."""

    name: str
    tokens: tuple[Token, ...]
    focus: int | None = None
    label: str = message("Tokens")
    caption: str = ""
    change: Split | None = None


def _nothing(_scene: HeadContext) -> tuple[()]:
    return ()


def explained(exhibits: Sequence[StepMatrix], scene: HeadContext) -> Detail | None:
    """Explain the opened cell of a scene; None if it is in none of these matrices."""
    cell = scene.cell
    if cell is None:
        return None
    return next((exhibit.explain(scene, cell) for exhibit in exhibits if exhibit.matrix.has(cell)), None)


def no_words(_scene: HeadContext) -> str:
    """Return an empty text."""
    return ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of attention. What it says and shows depends only on a scene, and is made on demand.

    Attributes:
        key: its name in links.
        name: its short name, for the list of all steps.
        title: its general heading.
        formula: in LaTeX; without a scene, the general formula.
        words: what happens here, with the words and numbers of the scene (HTML).
        shapes: the shapes of its inputs and outputs, in one line.
        code: the same in NumPy or PyTorch, with the numbers of the page; it runs if pasted.
        own_title: its heading for a scene that the general one does not fit, or None.
        strips: rows of tokens to show before the matrices.
        exhibits: matrices to show, in the order in which they are computed.
        factors: what one of them is the product of, and itself in the end, by the letter of its weights; shown instead.
        charts: the charts under the opened cell, by name.
        guess: what to ask before the step is shown; None if this scene leaves nothing to guess.
        whys: answers to the questions that come up here, with the numbers of the scene (HTML).
        aside: a less important text, in smaller letters (HTML).
        main: the name of the matrix that the step is about, if that is not the first.
        is_of_pairs: whether its matrices have a query for each row and a key for each column.
        is_side_by_side: whether its matrices are shown side by side.
        has_head_grid: whether the weights of all heads of the layer are shown under it.
        extras: what else is shown under it on a page.
        where: where in the model it happens.
        questions: the ready questions that belong to it, by name, the best first.
        filled_by: how the blanks of its matrix are filled in on a worksheet.
        made_by: which results of the tasks by hand its matrix has; empty if none.
    """

    key: str
    name: str
    title: str
    formula: Callable[[HeadContext | None], str]
    words: Callable[[HeadContext], str]
    shapes: Callable[[HeadContext], str]
    code: Callable[[CodeContext], str]
    own_title: Callable[[HeadContext], str | None] = lambda _: None
    strips: Callable[[HeadContext], tuple[Strip, ...]] = _nothing
    exhibits: Callable[[HeadContext], tuple[StepMatrix, ...]] = _nothing
    factors: Callable[[HeadContext], Mapping[str, tuple[StepMatrix, ...]]] = lambda _: {}
    charts: Callable[[HeadContext], dict[str, Bars]] = lambda _: {}
    guess: Callable[[HeadContext], Guess | None] = lambda _: None
    whys: Callable[[HeadContext], str] = no_words
    aside: Callable[[HeadContext], str] = tell_mostly_guessed
    main: str = ""
    is_of_pairs: bool = False
    is_side_by_side: bool = False
    has_head_grid: bool = True
    extras: frozenset[Extra] = frozenset()
    where: Where = "attention"
    questions: tuple[str, ...] = ()
    filled_by: Filled = "largest"
    made_by: Made = ""

    def heading(self, scene: HeadContext | None) -> str:
        """Return the heading; without a scene, the general one."""
        return self.title if scene is None else self.own_title(scene) or self.title

    def shown(self, scene: HeadContext, factors: str = "") -> tuple[StepMatrix, ...]:
        """Return the matrices that are shown: those of the step or, if it has them, the factors with this letter."""
        found = self.factors(scene).get(factors) if factors else None
        return self.exhibits(scene) if found is None else found

    def matrices(self, scene: HeadContext, factors: str = "") -> tuple[Matrix, ...]:
        """Return the matrices that are shown, without the functions that explain their cells."""
        return tuple(exhibit.matrix for exhibit in self.shown(scene, factors))

    def tables(self, scene: HeadContext, factors: str = "") -> dict[str, Callable[[], Columns]]:
        """Return the tables behind the pictures by name; each is made only when called, since large ones take time."""
        tables: dict[str, Callable[[], Columns]] = {}
        tables |= {strip.name: partial(token_table, strip.tokens) for strip in self.strips(scene)}
        tables |= {matrix.name: partial(matrix_table, matrix) for matrix in self.matrices(scene, factors)}
        # If nothing that the step shows was recorded, there are still the tokens.
        return tables or {"tokens": partial(token_table, scene.tokens)}

    def opened(self, scene: HeadContext, factors: str = "") -> HeadContext:
        """Return the scene with its opened cell or, if no cell of this step is open, with the one most worth seeing."""
        matrices = self.matrices(scene, factors)
        if not matrices:
            return scene.with_cell(None)
        if scene.cell is not None and any(matrix.has(scene.cell) for matrix in matrices):
            return scene
        # The product comes after its factors.
        otherwise = matrices[-1] if factors and factors in self.factors(scene) else matrices[0]
        main = next((matrix for matrix in matrices if matrix.name == self.main), otherwise)
        return scene.with_cell(self._most_telling(scene, main))

    def detail(self, scene: HeadContext, factors: str = "") -> Detail | None:
        """Explain the opened cell of the scene; None if it is in no matrix that this step shows."""
        return explained(self.shown(scene, factors), scene)

    def printed_cell(self, scene: HeadContext) -> tuple[int, int | None]:
        """Return the row whose numbers the code prints, and the opened cell's column if rows and columns are tokens."""
        if scene.cell is not None and self.is_of_pairs:
            return scene.cell.row, scene.cell.column
        return scene.word, None

    def _most_telling(self, scene: HeadContext, matrix: Matrix) -> Cell:
        """Return, in the row of the word in focus, the key with the most weight or, without keys, the largest cell."""
        if self.is_of_pairs:
            return Cell(matrix.name, scene.word, int(scene.steps.masked_scores[scene.word].argmax()))
        row = len(matrix.row_labels) - 1 if matrix.has_total_row else matrix.focus_row or 0
        return Cell(matrix.name, row, int(np.abs(matrix.values[row]).argmax()))
