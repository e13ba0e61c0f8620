"""What a page shows, as data: a page is a function from a view to blocks.

Blocks know neither Streamlit nor HTML. ``attention.ui.drawing`` draws them in the app, ``attention.page_file`` writes
them into a file that needs no server. What a press in a block sets is a parameter of the link: a click is a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from attention.figures.touch import Touch
from attention.pages import Page
from attention.parameters import Parameter

__all__ = [
    "Block",
    "Blocks",
    "Code",
    "Columns",
    "Download",
    "Figure",
    "Fold",
    "Formula",
    "Heading",
    "Notice",
    "Option",
    "Panels",
    "Picture",
    "ProofLine",
    "Prose",
    "Proven",
    "Row",
    "Section",
    "Setting",
    "Shapes",
    "Table",
    "Way",
    "rows_of",
    "walk",
]

Columns = Mapping[str, Sequence[object]]


class Figure(Protocol):
    """What a component draws: which one, and its plain data."""

    component: ClassVar[str]

    @property
    def touch(self) -> Touch | None:
        """What can be pressed in it."""

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it, with nothing to select in it where it has ``selectable``."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``anchor`` is its id where two of the same name stand on a page."""

    text: str
    level: Literal[2, 3] = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in LaTeX, in a place of its own."""

    key: str
    latex: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A lesson text as HTML, which has its facts escaped already; an aside is not about the step itself."""

    html: str
    kind: Literal["main", "detail", "aside"] = "main"


@dataclass(frozen=True, slots=True)
class Notice:
    """A plain sentence that says what is wrong and what to do; a quiet one says what is to be known."""

    sentence: str
    is_quiet: bool = False


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes of a step in one line."""

    line: str


@dataclass(frozen=True, slots=True)
class Code:
    """Code to read and to copy."""

    source: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, and which parameters the parts of a press in it set, in this order.

    Cells and tokens look as if they can be selected where something is set, unless ``is_selectable`` says otherwise.
    What ``clears`` names goes back to its default. A press counts as long as the view still has the values of
    ``only_while``.
    """

    key: str
    figure: Figure
    sets: Mapping[str, Parameter[Any]] = field(default_factory=dict)
    clears: tuple[Parameter[Any], ...] = ()
    is_selectable: bool | None = None
    only_while: tuple[tuple[Parameter[Any], Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Columns to read and, where it has a file's name, to take away as CSV.

    ``make`` gives the columns when they are needed. A table of more than ``limit`` rows or columns is taken away only.
    One that is ``is_whole`` does not scroll.
    """

    key: str
    make: Callable[[], Columns]
    file: str = ""
    limit: int | None = None
    is_shown: bool = True
    is_narrow: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """A file, made when somebody asks for it; a long work waits for its turn. On a page its name is there once."""

    label: str
    file: str
    make: Callable[[], str | bytes]
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One of several things to choose: its value, and what it is called."""

    value: Any
    label: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A choice that belongs to the content: one of several options, in a list that opens if it is one; or a switch."""

    key: str
    parameter: Parameter[Any]
    label: str
    value: Any
    options: tuple[Option, ...] = ()
    is_list: bool = False
    is_off: bool = False
    help: str = ""
    width: int | None = None


@dataclass(frozen=True, slots=True)
class Panels:
    """Several contents in one place, of which one is open; the others are made in a file that shows them all."""

    key: str
    parameter: Parameter[Any]
    label: str
    value: Any
    options: tuple[Option, ...]
    contents: Mapping[Any, Blocks]
    is_labelled: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """Content under a title that opens. With a ``parameter``, it is made only while it is open."""

    key: str
    title: str
    blocks: Blocks
    is_open: bool = False
    parameter: Parameter[Any] | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """A link to another page of the app, with the parameters of its view."""

    key: str
    label: str
    page: Page
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """Columns side by side, with their relative widths; under one another where it is narrow."""

    columns: tuple[Blocks, ...]
    widths: tuple[int, ...] | None = None
    gap: Literal["small", "large"] = "large"


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks that belong together; in a frame, if it is to be seen, or in a line.

    Of choices, one may be pressed quickly after the other, before the answer is drawn; ``on_paper`` says in words what
    is chosen, where there are no controls.
    """

    key: str
    blocks: Blocks
    is_framed: bool = False
    is_line: bool = False
    are_choices: bool = False
    on_paper: str = ""


@dataclass(frozen=True, slots=True)
class ProofLine:
    """The check of our numbers against one model's own, in a sentence, and every link of it as a row of words."""

    sentence: str
    holds: bool
    rows: tuple[tuple[str, ...], ...]
    html: str


@dataclass(frozen=True, slots=True)
class Proven:
    """The proof, a line for each model that ran."""

    lines: tuple[ProofLine, ...]


Block = (
    Heading
    | Formula
    | Prose
    | Notice
    | Shapes
    | Code
    | Picture
    | Table
    | Download
    | Setting
    | Panels
    | Fold
    | Way
    | Row
    | Section
    | Proven
)
Blocks = tuple[Block, ...]


def rows_of(columns: Columns) -> int:
    """Return how many rows columns have; they need not all be as long."""
    return max(map(len, columns.values()), default=0)


def walk(blocks: Blocks) -> list[Block]:
    """Return all blocks, those inside others after these."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        for inner in _inside(block):
            found += walk(inner)
    return found


def _inside(block: Block) -> Sequence[Blocks]:
    match block:
        case Row():
            return block.columns
        case Section() | Fold():
            return (block.blocks,)
        case Panels():
            return tuple(block.contents.values())
        case _:
            return ()
