"""A step: the formula, the text and the opened cell on the left, the picture on the right, and more under both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attention.blocks import (
    Block,
    Blocks,
    Code,
    Fold,
    Formula,
    Heading,
    Notice,
    Option,
    Panels,
    Picture,
    Prose,
    Row,
    Section,
    Setting,
    Shapes,
    Table,
)
from attention.content.guess import Asked
from attention.content.outcome import alignment
from attention.content.pane import Pane, missing
from attention.content.under import EXTRAS, over_picture
from attention.figures.chart import parts_chart
from attention.figures.heads import HeadGrid
from attention.figures.matrix import Matrix
from attention.figures.tokens import TokenStrip
from attention.lesson import steps
from attention.lesson.detail import Detail
from attention.lesson.excerpt import Excerpt
from attention.lesson.heads import head_thumbs
from attention.lesson.scene import Scene
from attention.lesson.steps import step_of
from attention.lesson.steps.base import Step, Strip, explained, no_words
from attention.messages import message
from attention.parameters import Parameter
from attention.settings import WHY, WORD, Panel
from attention.view import View

__all__ = ["content"]

# A table with more columns or rows than this is for a spreadsheet, not for a screen.
MAX_TABLE = 64
# The most matrices of vectors that have room side by side.
MAX_IN_A_ROW = 3
_PANELS: tuple[tuple[Panel, str], ...] = (
    ("shapes", "Shapes"),
    ("numpy", "NumPy"),
    ("pytorch", "PyTorch"),
    ("table", "Table"),
)


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return the step for every pane, two models side by side; on a ``whole`` page, all panels are open."""
    step = step_of(view.step)
    asked = Asked.of(view, step, panes[0] if panes else None)
    if asked.is_open:
        return (*_Pane(view, step, panes[0], whole).heading(), *asked.content())
    pages = [_Pane(view, step, pane, whole) for pane in panes]
    body = pages[0].alone() if len(pages) == 1 else (Row(tuple(page.beside() for page in pages)),) if pages else ()
    grids = [block for pane in panes for block in _head_grid(step, pane)]
    extras = [block for extra in EXTRAS if extra.name in step.extras for block in extra.content(view, panes, whole)]
    return (*asked.content(), *body, *grids, *alignment(panes), *over_picture(panes), *extras)


class _Pane:
    """What one pane shows for a step."""

    def __init__(self, view: View, step: Step, pane: Pane, whole: bool) -> None:
        self.view, self.step, self.pane, self.whole = view, step, pane, whole
        # Computed once, both for the pictures and for the explanation of a cell.
        self.exhibits = () if pane.scene is None else step.exhibits(pane.scene)

    def alone(self) -> Blocks:
        """Return the text and the opened cell on the left, the picture and the code on the right."""
        left = (Section("step_words", (*self.heading(), *self._words())), Section("step_detail", self._opened_cell()))
        right = (Section("step_picture", self._picture()), Section("step_panel", self._panel()))
        return (Section("step", (Section("step_left", left), Section("step_right", right))),)

    def beside(self) -> Blocks:
        """Return the same in one column, under the model's name and the choice of its layer and head."""
        return (
            Heading(self.pane.info.name, 3),
            *self._place(),
            *self.heading(),
            *self._picture(),
            *self._words(),
            *self._opened_cell(),
            *self._panel(),
        )

    def _place(self) -> Blocks:
        scene, chosen = self.pane.scene, self.pane.settings
        if scene is None:
            return ()
        info = scene.info
        choices = (
            _numbered(message("Layer"), chosen.layer, info.n_layers, scene.layer),
            _numbered(message("Head"), chosen.head, info.n_heads, scene.head),
        )
        place = f"{info.name}, layer {scene.layer + 1}, head {scene.head + 1}"
        return (Section(f"{self.pane.name}_place", choices, is_line=True, on_paper=place),)

    def heading(self) -> Blocks:
        """Return the step's heading and its formula."""
        step, pane = self.step, self.pane
        # Two panes have the same heading, and its text would be the id of both.
        anchor = f"beside-{step.key}" if pane.is_other else ""
        return (
            Heading(f"{steps.number_of(step)}. {step.heading(pane.scene)}", anchor=anchor),
            Formula(f"formula_{pane.name}", step.formula(pane.scene)),
        )

    def _words(self) -> Blocks:
        scene = self.pane.scene
        if scene is None:
            return ()
        aside = self.step.aside(scene)
        return (Prose(self.step.words(scene)), *((Prose(aside, "aside"),) if aside else ()), *self._whys(scene))

    def _whys(self, scene: Scene) -> Blocks:
        """Return the answers to the questions that come up at this step, made only once they are open."""
        if self.pane.is_other or self.step.whys is no_words:
            return ()
        is_open = self.whole or self.view[WHY]
        told = self.step.whys(scene) if is_open else ""
        if is_open and not told:
            return ()
        blocks = (Prose(told, "detail"),) if told else ()
        return (Fold("why", message("Why is it done this way?"), blocks, is_open, WHY),)

    def _picture(self) -> Blocks:
        scene = self.pane.scene
        if scene is None:
            return missing(self.pane.reason)
        strips = [block for strip in self.step.strips(scene) for block in self._strip(strip)]
        matrices = [self._matrix(exhibit.matrix) for exhibit in self.exhibits]
        return (*strips, *(_rows(matrices) if self.step.is_side_by_side else matrices))

    def _strip(self, strip: Strip) -> Iterator[Block]:
        if strip.caption:
            yield Notice(strip.caption, is_quiet=True)
        is_chosen = strip.focus is not None and not self.pane.is_other
        figure = TokenStrip(strip.tokens, strip.focus, strip.label)
        yield Picture(f"{self.pane.name}_{strip.name}", figure, sets={"word": WORD} if is_chosen else {})

    def _matrix(self, matrix: Matrix) -> Picture:
        # If rows are queries, choosing one brings its token into focus.
        is_focus = not self.pane.is_other and matrix.focus_row is not None
        sets: dict[str, Parameter[Any]] = {"row": WORD} if is_focus else {}
        return Picture(f"{self.pane.name}_{matrix.name}", matrix, sets={**sets, "cell": self.pane.settings.cell})

    def _opened_cell(self) -> Blocks:
        """Return how the opened cell was computed, and the charts of the step."""
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
        # Made only once it is open: a table takes long to make and is large to send.
        folded = Fold(
            f"{name}_parts_open", message("These parts as a table"), (table,) if is_open else (), is_open, parameter
        )
        words = Prose(detail.title + detail.note, "detail")
        return Section(f"{name}_detail", (words, *_bars(detail, name), folded), is_framed=True)

    def _panel(self) -> Blocks:
        """Return what is one press away: the shapes, the code and the table."""
        scene, name, parameter = self.pane.scene, self.pane.name, self.pane.settings.panel
        if scene is None:
            return ()
        makers: Mapping[Panel, Callable[[], Blocks]] = {
            "shapes": lambda: (Shapes(self.step.shapes(scene)),),
            "numpy": lambda: (Code(self.step.code(Excerpt("numpy", scene, *self.step.printed_cell(scene)))),),
            "pytorch": lambda: (Code(self.step.code(Excerpt("pytorch", scene, *self.step.printed_cell(scene)))),),
            "table": lambda: _tables(self.step, scene, name),
        }
        opened = self.view[parameter]
        panels = Panels(
            f"{name}_panel",
            parameter,
            message("More about this step"),
            opened,
            tuple(Option(key, label) for key, label in _PANELS),
            {key: make() for key, make in makers.items() if self.whole or key == opened},
        )
        return (Section(f"{name}_more", (panels,), is_framed=True),)


def _bars(detail: Detail, name: str) -> Blocks:
    if not len(detail.parts):
        return ()
    bars = parts_chart(detail.labels, detail.parts, detail.axis, are_weights=detail.are_weights)
    return (Picture(f"{name}_parts", bars),)


def _numbered(label: str, parameter: Parameter[int | None], count: int, value: int) -> Setting:
    options = tuple(
        Option(index, message("{number} of {count}", number=index + 1, count=count)) for index in range(count)
    )
    return Setting(parameter.name, parameter, label, value, options, is_list=True, width=110)


def _rows(pictures: Sequence[Block]) -> list[Row]:
    starts = range(0, len(pictures), MAX_IN_A_ROW)
    n_columns = min(len(pictures), MAX_IN_A_ROW)
    rows = [tuple((picture,) for picture in pictures[start : start + n_columns]) for start in starts]
    # The columns of a row that is not full are as wide as those above.
    return [Row((*row, *((),) * (n_columns - len(row))), gap="small") for row in rows]


def _tables(step: Step, scene: Scene, pane: str) -> Blocks:
    return tuple(
        Table(f"{pane}_{name}_table", make, file=name, limit=MAX_TABLE) for name, make in step.tables(scene).items()
    )


def _head_grid(step: Step, pane: Pane) -> Blocks:
    """Return small pictures of the weights of all heads of the layer, for the steps that differ between heads."""
    scene = pane.scene
    if scene is None or not step.has_head_grid:
        return ()
    grid = HeadGrid(tuple(head_thumbs(scene)), scene.head)
    return (
        Heading(message("{name}: all heads of layer {layer}", name=pane.info.name, layer=scene.layer + 1), 3),
        Picture(f"{pane.name}_heads", grid, sets={"head": pane.settings.head}),
    )
