"""A step: the formula, the text and the opened cell on the left, the picture on the right, and more below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from attention.core.messages import message
from attention.figures.bars import parts_bars
from attention.figures.heads import HeadGrid
from attention.figures.matrix import Change, Matrix
from attention.figures.table import Columns
from attention.figures.tokens import TokenStrip
from attention.lesson import steps
from attention.lesson.cell_explanation import Detail
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.initial_selection import tell_opening
from attention.lesson.picture import overlay, picture_table
from attention.lesson.prose import in_short
from attention.lesson.steps import embed, scores, softmax, step_of, weighted_sum
from attention.lesson.steps.base import Step, Strip, explained
from attention.page.blocks import (
    Block,
    Blocks,
    Code,
    Fold,
    Formula,
    Heading,
    Notice,
    Panels,
    Picture,
    Prose,
    Row,
    Section,
    Setting,
    Shapes,
    Table,
    Way,
    cover,
)
from attention.page.content.on_map import has_map, on_map
from attention.page.content.outcome import alignment, outcome
from attention.page.content.pane import Pane, missing
from attention.page.content.place import place_of
from attention.page.content.quiz import Asked
from attention.page.content.sentence import sentence
from attention.page.content.step_extras import EXTRAS, NEXT_TOKEN, WHAT_NOW, over_picture
from attention.page.labs.explain import EXPERIMENT
from attention.page.pages import BY_ADDRESS, STEP_BY_STEP
from attention.page.parameters import Parameter
from attention.page.settings import FACTORS, HEAD, LAYER, MAP, NEXT, PLAIN, WHY, WORD, Panel
from attention.page.view import View

MAX_TABLE = 64  # columns or rows; a larger table is for a spreadsheet
MAX_IN_A_ROW = 3  # matrices side by side
_PANELS: tuple[tuple[Panel, str], ...] = (
    ("shapes", message("Shapes")),
    ("numpy", "NumPy"),
    ("pytorch", "PyTorch"),
    ("table", message("Table")),
)
# The picture that was cut into tokens, and its table.
_PATCHES = "patches"
_ALL_PANELS = frozenset(key for key, _ in _PANELS)
_CODE = frozenset[Panel]({"shapes", "numpy", "pytorch"})
_EXPLAIN = BY_ADDRESS["explain"]


def content(view: View, panes: Sequence[Pane], *, whole: bool = False, in_notebook: bool = False) -> Blocks:
    """Return the step for every pane, two models side by side; on a ``whole`` page, all panels are open.

    A notebook shows the code but not the tables, since it has the arrays.
    """
    step, question = step_of(view.step), asked(view, panes)
    opened = _ALL_PANELS if whole else _CODE if in_notebook else frozenset[Panel]()
    if question.is_open:
        shown = _Pane(view, step, panes[0], whole, opened)
        place = on_map(view, panes[0], is_asked=True)
        left = Section("step_left", (*shown.heading(), *shown.formula()))
        words = () if asks_for_tokens(view, panes) else sentence(step, panes[0], is_asked=True)
        # The cover reserves the space of the content under it.
        covered = Section("step_right", (cover("step"),))
        return (*words, *question.in_place(), Section("step", (*place, left, covered)))
    pages = [_Pane(view, step, pane, whole, opened) for pane in panes]
    is_plain = hides_weights(view)
    words = () if in_notebook or not panes else sentence(step, panes[0], is_asked=is_plain)
    body = pages[0].alone() if len(pages) == 1 else (Row(tuple(page.beside() for page in pages)),) if pages else ()
    # The map shows the heads already; paper has no map.
    weighted = () if is_plain else panes
    grids = [block for pane in weighted if whole or not has_map(pane) for block in _head_grid(step, pane)]
    first = _first(view, step, panes)
    extras = [
        block
        for extra in EXTRAS
        if extra.name in step.extras and not (first and extra is NEXT_TOKEN) and not (in_notebook and extra is WHAT_NOW)
        for block in extra.content(view, panes, whole)
    ]
    # Present at every step, so that one can turn into another in place.
    under = Section("under", (*grids, *alignment(panes), *over_picture(weighted), *extras))
    return (*words, *question.in_place(), *first, *body, under)


def _first(view: View, step: Step, panes: Sequence[Pane]) -> Blocks:
    """Return the next token's prediction, if the link wants it above the step; folded, it moves back below."""
    blocks = NEXT_TOKEN.content(view, panes, False) if view[NEXT] and NEXT_TOKEN.name in step.extras else ()
    return (Fold("next_token", message("What comes next"), blocks, is_open=True, parameter=NEXT),) if blocks else ()


def asked(view: View, panes: Sequence[Pane]) -> Asked:
    """Return the question about the step, if the view asks for guesses."""
    return Asked.of(view, step_of(view.step), panes[0] if panes else None)


def hides_weights(view: View) -> bool:
    """Return whether the view is a class's at a step before softmax, whose weights it may be asked for later."""
    return view[PLAIN] and steps.number_of(step_of(view.step)) < steps.number_of(softmax.STEP)


def asks_for_tokens(view: View, panes: Sequence[Pane]) -> bool:
    """Return whether a question is open that a list of the tokens would answer."""
    question = asked(view, panes)
    return question.is_open and question.guess is not None and question.guess.is_of_tokens


def presented(view: View, panes: Sequence[Pane]) -> Blocks:
    """Return the step for a projector: its heading, its formula, one picture and one sentence."""
    step, question = step_of(view.step), asked(view, panes)
    shown = [_Pane(view, step, pane) for pane in panes[:1]]
    head = Section("present_head", tuple(block for each in shown for block in (*each.heading(), *each.formula())))
    if question.is_open:
        return (Section("present", (head, *question.content())),)
    pictures = tuple(block for each in shown for block in each.main_picture())
    is_wide = any(map(_is_wide, pictures))
    is_bare = is_wide or hides_weights(view)
    seen = tuple(block for each in shown for block in each.source_picture(is_bare=is_bare))
    # The picture that was read stands beside its tokens, or above the words.
    if seen and _has_tokens(pictures):
        pictures, seen = (Row((seen, pictures), (5, 6)),), ()
    words = tuple(block for each in shown for block in each.in_short())
    told = Section("present_words", (*(() if is_wide else seen), *words))
    place = "present_wide" if is_wide else "present_picture"
    plan = tuple(block for pane in panes[:1] if view[MAP] for block in on_map(view, pane, is_asked=hides_weights(view)))
    return (Section("present", (head, Section(place, pictures), told, *plan)),)


def _has_tokens(pictures: Blocks) -> bool:
    return any(isinstance(block, Picture) and isinstance(block.figure, TokenStrip) for block in pictures)


def _is_wide(block: Block) -> bool:
    if not isinstance(block, Picture) or isinstance(block.figure, TokenStrip):
        return True
    return isinstance(block.figure, Matrix) and len(block.figure.column_labels) > 2 * len(block.figure.row_labels)


class _Pane:
    """One pane's blocks for a step; the panels ``opened`` are open, besides the one that the view names."""

    def __init__(
        self, view: View, step: Step, pane: Pane, whole: bool = False, opened: frozenset[Panel] = frozenset()
    ) -> None:
        self.view, self.step, self.pane, self.whole, self.opened = view, step, pane, whole, opened
        self.factors = {} if pane.scene is None else step.factors(pane.scene)
        self.chosen = view[FACTORS] if view[FACTORS] in self.factors else ""
        self.exhibits = () if pane.scene is None else step.shown(pane.scene, self.chosen)

    def alone(self) -> Blocks:
        """Return the map, the text and the opened cell on the left, the picture and the code on the right."""
        left = (
            *self.heading(),
            *self.formula(),
            *self._words(),
            *self._opened_cell(),
        )
        right = (*self._factors_choice(), *self._with_source(self._picture()), *self._panel())
        place = on_map(self.view, self.pane, is_asked=hides_weights(self.view))
        return (Section("step", (*place, Section("step_left", left), Section("step_right", right))),)

    def beside(self) -> Blocks:
        """Return the same in one column, under the model's name and the choice of its layer and head."""
        head = Section(f"{self.pane.name}_head", (*self.heading(), *self.formula()), is_line=True)
        return (
            *place_of(self.pane),
            head,
            *self._picture(),
            *self._factors_choice(),
            *on_map(self.view, self.pane, is_asked=hides_weights(self.view)),
            *self._words(),
            *self._opened_cell(),
            *self._panel(),
        )

    def heading(self) -> Blocks:
        step, pane = self.step, self.pane
        # Two panes have the same heading, whose text would be the ID of both.
        anchor = f"beside-{step.key}" if pane.is_other else ""
        return (Heading(f"{steps.number_of(step)}. {step.heading(pane.scene)}", anchor=anchor),)

    def formula(self) -> Blocks:
        return (Formula(self.step.formula(self.pane.scene)),)

    def _words(self) -> Blocks:
        scene = self.pane.scene
        if scene is None:
            return ()
        caption = tell_opening(scene) if self.step is softmax.STEP else ""
        aside = self.step.aside(scene)
        return (
            Prose(self.step.words(scene) + caption),
            *(() if self.whole else self._first_layer(scene)),
            *outcome(self.view, (self.pane,)),
            *self._whys(scene),
            *((Prose(aside, "aside"),) if aside else ()),
        )

    def _first_layer(self, scene: HeadContext) -> Blocks:
        """Return the link from a deeper layer's input to the embeddings, which enter layer 1."""
        is_deeper = scene.layer > 0 and scene.attention.inputs is not None and scene.trace.embeddings is not None
        if self.step is not embed.STEP or not is_deeper or self.pane.is_other or self.step.key in scene.use.lessons:
            return ()
        first = self.view.with_value(LAYER, 0).with_value(HEAD, scene.head)
        return (Way("way_to_embedding", message("See the embeddings in layer 1 ▸"), STEP_BY_STEP, first.to_query()),)

    def _whys(self, scene: HeadContext) -> Blocks:
        """Return the answer to the likely question, sent only when opened; () where there is none."""
        told = "" if self.pane.is_other else self.step.whys(scene)
        if not told:
            return ()
        is_open = self.whole or self.view[WHY]
        blocks = (Prose(told, "detail"), *self._way_to_explain()) if is_open else ()
        return (Fold("why", self.step.why, blocks, is_open, WHY),)

    def _way_to_explain(self) -> Blocks:
        """Return the link from the sum of values to the lab that removes words and heads; () for other steps."""
        if self.step is not weighted_sum.STEP or self.whole or not _EXPLAIN.is_for(self.pane.info):
            return ()
        occluded = self.view.for_page(_EXPLAIN).with_value(EXPERIMENT, "words")
        return (Way("way_to_explain", f"{_EXPLAIN.title} ▸", _EXPLAIN, occluded.to_query()),)

    def in_short(self) -> Blocks:
        """Return the most informative sentence and, at the scores of a short vector, the products of one."""
        scene = self.pane.scene
        if scene is None:
            return ()
        is_written = self.step is scores.STEP and scene.d_head <= scores.MOST_WRITTEN
        detail = explained(self.exhibits, scene) if is_written else None
        products = () if detail is None else (Prose(detail.title + detail.note, "detail"),)
        return (Prose(in_short(self.step.words(scene))), *products)

    def source_picture(self, *, is_bare: bool) -> Blocks:
        """Return the picture that was read, with the head's weights over it unless ``is_bare``; () for a text."""
        scene = self.pane.scene
        if scene is None or not scene.info.reading.is_laid_out:
            return ()
        figure = overlay(scene, is_bare=is_bare)
        return (
            Picture(_PATCHES if is_bare else "overlay", figure, sets={"word": WORD, "head": self.pane.settings.head}),
        )

    def _with_source(self, pictures: Blocks) -> Blocks:
        """Return tokens with the picture that they were cut from, and other pictures unchanged."""
        seen = self.source_picture(is_bare=True) if _has_tokens(pictures) else ()
        return (Section("cut", (*pictures, *seen)),) if seen else pictures

    def _pixel_table(self) -> Mapping[str, Callable[[], Columns]]:
        """Return the table of the pixels beside the tokens; {} for a text."""
        scene = self.pane.scene
        if scene is None or not scene.info.reading.is_laid_out or not _has_tokens(self._picture()):
            return {}
        return {_PATCHES: lambda: picture_table(overlay(scene, is_bare=True))}

    def main_picture(self) -> Blocks:
        """Return the step's main picture, or the row of pictures that stand side by side."""
        if self.step.is_side_by_side or len(self.exhibits) < 2:
            return self._picture(None if self.chosen else MAX_IN_A_ROW)
        drawn = list(self._drawn())
        main = next((matrix for matrix in drawn if matrix.name == self.step.main), drawn[0])
        # A transition with its own numbers can be drawn over any picture.
        change = next((each.change for each in drawn if each.change and not each.change.needs_cells), main.change)
        return (self._matrix(replace(main, change=change)),)

    def _picture(self, most: int | None = None) -> Blocks:
        """Return the tokens and the first ``most`` matrices."""
        scene = self.pane.scene
        if scene is None:
            return missing(self.pane.reason)
        strips = [block for strip in self.step.strips(scene) for block in self._strip(strip)]
        matrices: list[Block] = [self._matrix(matrix) for matrix in list(self._drawn())[:most]]
        if self.step.is_side_by_side and len(matrices) > 1:
            matrices = _product(matrices) if self.chosen else _rows(matrices)
        return (*strips, *matrices)

    def _drawn(self) -> Iterator[Matrix]:
        """Yield the matrices to draw; on screen, the matrix before an animated change is left out."""
        seen = [each.change for each in self.exhibits if not each.matrix.is_image]
        gone = set() if self.whole else {change.source.name for change in seen if isinstance(change, Change)}
        for exhibit in self.exhibits:
            matrix, change = exhibit.matrix, exhibit.change
            if matrix.name in gone:
                continue
            # The link may have opened a cell of the matrix before the transition.
            selected = matrix.selected or (change.source.selected if isinstance(change, Change) else None)
            yield replace(matrix, change=change, selected=selected)

    def _factors_choice(self) -> Blocks:
        """Return the choice of the matrix whose factors are shown; the first of two panes has it for both.

        In a file it only serves as a heading, and is left out if nothing is chosen.
        """
        if not self.factors or self.pane.is_other or (self.opened and not self.chosen):
            return ()
        results = {letter: exhibits[-1].matrix.title for letter, exhibits in self.factors.items()}
        options = {"": message("none"), **results}
        return (Setting(FACTORS, message("Show the factors of"), self.chosen, options),)

    def _strip(self, strip: Strip) -> Iterator[Block]:
        if strip.caption:
            yield Notice(strip.caption, is_quiet=True)
        is_chosen = strip.focus is not None and not self.pane.is_other
        figure = TokenStrip(strip.tokens, strip.focus, strip.label, change=strip.change)
        yield Picture(f"{self.pane.name}_{strip.name}", figure, sets={"word": WORD} if is_chosen else {})

    def _matrix(self, matrix: Matrix) -> Picture:
        is_focus = not self.pane.is_other and matrix.focus_row is not None
        sets: dict[str, Parameter[Any]] = {"row": WORD} if is_focus else {}
        key, place = f"{self.pane.name}_{matrix.name}", self._place_of(matrix)
        return Picture(key, matrix, sets={**sets, "cell": self.pane.settings.cell}, place=place)

    def _place_of(self, matrix: Matrix) -> str:
        """Return the place shared by the main matrices of several steps; empty for other matrices."""
        is_main = matrix.name == (self.step.main or self.exhibits[0].matrix.name)
        return f"{self.pane.name}_stage" if is_main and self.step.is_of_pairs else ""

    def _opened_cell(self) -> Blocks:
        scene, name = self.pane.scene, self.pane.name
        if scene is None:
            return ()
        detail = explained(self.exhibits, scene)
        charts = (Picture(f"{name}_{kind}", chart) for kind, chart in self.step.charts(scene).items())
        return (*(() if detail is None else (self._detail(detail),)), *charts)

    def _detail(self, detail: Detail) -> Section:
        name, parameter = self.pane.name, self.pane.settings.table
        is_open = self.whole or self.view[parameter]
        table = Table(f"{name}_parts_table", detail.table, file="parts", limit=MAX_TABLE)
        # Made only when opened: a table takes long to make and is large to send.
        folded = Fold(
            f"{name}_parts_open", message("These parts as a table"), (table,) if is_open else (), is_open, parameter
        )
        words = Prose(detail.title + detail.note, "detail")
        return Section(f"{name}_detail", (words, *_bars(detail, name), folded), is_framed=True)

    def _panel(self) -> Blocks:
        scene, name, parameter = self.pane.scene, self.pane.name, self.pane.settings.panel
        if scene is None:
            return ()
        makers: Mapping[Panel, Callable[[], Blocks]] = {
            "shapes": lambda: (Shapes(self.step.shapes(scene)),),
            "numpy": lambda: (Code(self.step.code(CodeContext("numpy", scene, *self.step.printed_cell(scene)))),),
            "pytorch": lambda: (Code(self.step.code(CodeContext("pytorch", scene, *self.step.printed_cell(scene)))),),
            "table": lambda: _tables({**self.step.tables(scene, self.chosen), **self._pixel_table()}, name),
        }
        opened = self.view[parameter]
        panels = Panels(
            f"{name}_panel",
            parameter,
            message("More about this step"),
            opened,
            dict(_PANELS),
            {key: make() for key, make in makers.items() if key == opened or key in self.opened},
        )
        return (Section(f"{name}_more", (panels,), is_framed=True),)


def _bars(detail: Detail, name: str) -> Blocks:
    if not len(detail.parts):
        return ()
    bars = parts_bars(detail.labels, detail.parts, detail.axis, are_weights=detail.are_weights)
    return (Picture(f"{name}_parts", bars),)


def _product(pictures: Sequence[Block]) -> list[Block]:
    """Return the input above, and below it the weights beside the bias and the result."""
    source, weights, *others = pictures
    return [source, Row(((weights,), tuple(others)), gap="small")]


def _rows(pictures: Sequence[Block]) -> list[Block]:
    starts = range(0, len(pictures), MAX_IN_A_ROW)
    n_columns = min(len(pictures), MAX_IN_A_ROW)
    rows = [tuple((picture,) for picture in pictures[start : start + n_columns]) for start in starts]
    # Empty columns keep the widths of a full row.
    return [Row((*row, *((),) * (n_columns - len(row))), gap="small") for row in rows]


def _tables(tables: Mapping[str, Callable[[], Columns]], pane: str) -> Blocks:
    return tuple(Table(f"{pane}_{name}_table", make, file=name, limit=MAX_TABLE) for name, make in tables.items())


def _head_grid(step: Step, pane: Pane) -> Blocks:
    """Return thumbnails of all heads of the layer, for the steps that differ between heads."""
    scene = pane.scene
    if scene is None or not step.has_head_grid:
        return ()
    grid = HeadGrid(pane.thumbs(), scene.head)
    return (
        Heading(message("{name}: all heads of layer {layer}", name=pane.info.name, layer=scene.layer + 1), 3),
        Picture(f"{pane.name}_heads", grid, sets={"head": pane.settings.head}),
    )
