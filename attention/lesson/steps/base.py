"""The parts of a step: name, formula, text, matrices with explained cells, code and shapes."""

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

# Shown under a step, on its own page only: savings of grouped queries, the end of the layer, the next token.
Extra = Literal["savings", "onward", "what now", "next token"]
# A step's place in the model: the input, the residual stream before the layer, the attention, or the addition of its
# output to the stream.
Where = Literal["input", "stream", "attention", "sum"]
# How blanks are filled in by hand: each row's largest number, a sum of two, a quotient, the visible cells, or the rest
# to 1.
Filled = Literal["largest", "added", "divided", "hidden", "rest"]
# Results of tasks by hand that a step's matrix contains.
Made = Literal["", "products", "results", "shares", "outputs"]


@dataclass(frozen=True, slots=True)
class StepMatrix:
    """A matrix of a step, the function that explains one of its cells, and the transition that leads to it."""

    matrix: Matrix
    explain: Callable[[HeadContext, Cell], Detail]
    change: Turn | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of tokens, and the split of the text into them; another token can be chosen if one is in focus."""

    name: str
    tokens: tuple[Token, ...]
    focus: int | None = None
    label: str = message("Tokens")
    caption: str = ""
    change: Split | None = None


def _nothing(_scene: HeadContext) -> tuple[()]:
    return ()


def explained(exhibits: Sequence[StepMatrix], scene: HeadContext) -> Detail | None:
    """Return the explanation of a scene's opened cell; None if it is in none of these matrices."""
    cell = scene.cell
    if cell is None:
        return None
    return next((exhibit.explain(scene, cell) for exhibit in exhibits if exhibit.matrix.has(cell)), None)


def no_words(_scene: HeadContext) -> str:
    """Return an empty text."""
    return ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of attention; everything it shows is derived from a scene on demand.

    Attributes:
        key: its name in links.
        name: its short name, for the list of all steps.
        title: its general heading.
        formula: in LaTeX; without a scene, the general formula.
        words: what happens here, with the scene's words and numbers (HTML).
        shapes: the shapes of its inputs and outputs, in one line.
        code: the step in NumPy or PyTorch, with the page's numbers; it runs if pasted.
        own_title: the heading for a scene that the general one does not fit, or None.
        strips: rows of tokens to show before the matrices.
        exhibits: matrices to show, in order of computation.
        factors: by the letter of the weights, the factors of a product and the product itself; shown instead.
        charts: the charts under the opened cell, by name.
        guess: the question to ask before the step is shown; None if this scene leaves nothing to guess.
        why: the question that a newcomer is likely to ask here; empty if there is none.
        whys: its answer, with the scene's numbers (HTML).
        aside: a less important text, in small print (HTML).
        main: the name of the step's main matrix, if not the first.
        unit: what the numbers of that matrix are, if it has one for each pair of tokens.
        is_of_pairs: whether its matrices have a query for each row and a key for each column.
        is_side_by_side: whether its matrices are shown side by side.
        has_head_grid: whether the weights of all heads of the layer are shown under it.
        extras: further blocks on its page.
        where: its place in the model.
        questions: the names of its ready questions, the best first.
        filled_by: how its matrix's blanks are filled in on a worksheet.
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
    why: str = ""
    whys: Callable[[HeadContext], str] = no_words
    aside: Callable[[HeadContext], str] = tell_mostly_guessed
    main: str = ""
    unit: str = ""
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
        """Return the matrices to show: the factors with this letter, if there are any, or else the step's own."""
        found = self.factors(scene).get(factors) if factors else None
        return self.exhibits(scene) if found is None else found

    def matrices(self, scene: HeadContext, factors: str = "") -> tuple[Matrix, ...]:
        """Return the matrices to show, without their explanations."""
        return tuple(exhibit.matrix for exhibit in self.shown(scene, factors))

    def tables(self, scene: HeadContext, factors: str = "") -> dict[str, Callable[[], Columns]]:
        """Return the pictures' tables by name, as functions, since large ones take time."""
        tables: dict[str, Callable[[], Columns]] = {}
        tables |= {strip.name: partial(token_table, strip.tokens) for strip in self.strips(scene)}
        tables |= {matrix.name: partial(matrix_table, matrix) for matrix in self.matrices(scene, factors)}
        # If nothing of the step was recorded, it shows only the tokens.
        return tables or {"tokens": partial(token_table, scene.tokens)}

    def opened(self, scene: HeadContext, factors: str = "") -> HeadContext:
        """Return the scene with its opened cell or, if it is not of this step, with the most informative one."""
        matrices = self.matrices(scene, factors)
        if not matrices:
            return scene.with_cell(None)
        if scene.cell is not None and any(matrix.has(scene.cell) for matrix in matrices):
            return scene
        # The product is last.
        otherwise = matrices[-1] if factors and factors in self.factors(scene) else matrices[0]
        main = next((matrix for matrix in matrices if matrix.name == self.main), otherwise)
        return scene.with_cell(self._most_telling(scene, main))

    def detail(self, scene: HeadContext, factors: str = "") -> Detail | None:
        """Return the explanation of the scene's opened cell; None if no matrix of this step has it."""
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
