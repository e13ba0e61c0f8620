"""What a page shows, as data: a page is a function from a view to blocks.

Blocks know neither Streamlit nor HTML. ``attention.answer.page_component`` draws them in the app;
``attention.page.page_file`` writes them to a file that needs no server. A click on a block sets a parameter of the
link: a click is a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from attention.core.messages import message
from attention.figures.click_schema import ClickSchema
from attention.figures.table import Columns, Order
from attention.page.page import Page
from attention.page.parameters import Parameter
from attention.training.jobs import Job, Task

__all__ = [
    "Arranged",
    "Block",
    "Blocks",
    "Brush",
    "Code",
    "Columns",
    "Download",
    "Entry",
    "Figure",
    "Fold",
    "Formula",
    "Heading",
    "LongText",
    "Notice",
    "Option",
    "Panels",
    "Picture",
    "Png",
    "Progress",
    "ProofLine",
    "Prose",
    "Proven",
    "Row",
    "RowChoice",
    "Section",
    "Setting",
    "Shapes",
    "Table",
    "Upload",
    "Waiting",
    "Way",
    "Work",
    "cover",
    "inside",
    "walk",
]


class Figure(Protocol):
    """What a component draws: the component's name, and its plain data."""

    component: ClassVar[str]

    @property
    def touch(self) -> ClickSchema | None:
        """What can be pressed in it, if anything."""

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it; where there is a ``selectable`` entry, it is off."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``anchor`` is its id if the page has two headings with the same text. The first level is a page's."""

    text: str
    level: Literal[1, 2, 3] = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in LaTeX, displayed by itself."""

    latex: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A lesson text as HTML, with its facts already escaped.

    An aside is not about the step itself; what is for paper is only seen in print.
    """

    html: str
    kind: Literal["main", "detail", "aside", "paper"] = "main"


@dataclass(frozen=True, slots=True)
class Notice:
    """A plain sentence that says what is wrong and what to do; a quiet one only informs, news what came of a press."""

    sentence: str
    is_quiet: bool = False
    is_news: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a page waits for, and how much of that is done, if it is known."""

    told: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes of a step, on one line."""

    line: str


@dataclass(frozen=True, slots=True)
class Code:
    """Code to read and to copy."""

    source: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Brush:
    """What a press on a cell paints: it adds the cell to those of ``cells``, or removes it.

    They count while ``mode`` is ``painted``; where it is not, painting begins with the cells ``before``.
    """

    cells: Parameter[tuple[int, ...]]
    before: tuple[int, ...]
    mode: Parameter[Any]
    painted: Any


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, and the parameters that the parts of a press in it set, in this order.

    If a press sets anything, cells and tokens look selectable, unless ``is_selectable`` says otherwise. The parameters
    in ``clears`` go back to their defaults. A press counts only while the view has the values of ``only_while``.

    With a ``brush``, a press on a cell paints instead. A press that chooses a cell leads to the page that it ``opens``;
    one on a part with a name among ``leads``, to the page of that name.

    Pictures with the same ``place`` on different pages of a walk are one in the app: the one turns into the other.
    """

    key: str
    figure: Figure
    sets: Mapping[str, Parameter[Any]] = field(default_factory=dict)
    clears: tuple[Parameter[Any], ...] = ()
    is_selectable: bool | None = None
    only_while: tuple[tuple[Parameter[Any], Any], ...] = ()
    place: str = ""
    brush: Brush | None = None
    opens: tuple[Page, Mapping[str, str]] | None = None
    leads: Mapping[str, tuple[Page, Mapping[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowChoice:
    """What a press on a row of a table sets: the parameter, its value for each row, and the row that is shown."""

    parameter: Parameter[Any]
    values: tuple[Any, ...]
    chosen: int


@dataclass(frozen=True, slots=True)
class Table:
    """Columns to read and, if there is a file name, to download as CSV.

    ``make`` returns the columns when they are needed. A table of more than ``limit`` rows or columns can only be
    downloaded. A table that ``is_whole`` is short: it is read in its order, and does not scroll. With a ``choice``, a
    row can be pressed.
    """

    key: str
    make: Callable[[], Columns]
    file: str = ""
    limit: int | None = None
    is_shown: bool = True
    is_narrow: bool = False
    is_whole: bool = False
    choice: RowChoice | None = None


@dataclass(frozen=True, slots=True)
class Download:
    """A file, made on demand; one that takes long is queued. Its name is unique on a page."""

    label: str
    file: str
    make: Callable[[], str | bytes]
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Png:
    """A PNG that the browser makes of a figure which the page offers as Plotly's JSON, under the name ``source``."""

    label: str
    file: str
    source: str


@dataclass(frozen=True, slots=True)
class Option:
    """One of several things to choose: its value and its label."""

    value: Any
    label: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A control that belongs to the content: a choice of options, or a switch.

    The options all stay in sight, unless they are in a drop-down list (``is_list``) or on a slider (``is_scale``).
    A label that ``is_silent`` is heard, but not seen. With a choice, the parameters in ``clears`` go back to their
    defaults.
    """

    key: str
    parameter: Parameter[Any]
    label: str
    value: Any
    options: tuple[Option, ...] = ()
    is_list: bool = False
    is_scale: bool = False
    is_off: bool = False
    help: str = ""
    is_silent: bool = False
    clears: tuple[Parameter[Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A field in which a text is typed; ``hint`` is what it shows as long as it is empty."""

    key: str
    parameter: Parameter[Any]
    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Panels:
    """Several contents in one place, only one of them open; in a file, all of them are shown."""

    key: str
    parameter: Parameter[Any]
    label: str
    value: Any
    options: tuple[Option, ...]
    contents: Mapping[Any, Blocks]
    is_labelled: bool = False

    @property
    def choice(self) -> Setting:
        """The control by which one of them is opened."""
        silent = not self.is_labelled
        return Setting(self.key, self.parameter, self.label, self.value, self.options, is_silent=silent)


@dataclass(frozen=True, slots=True)
class Fold:
    """Content that opens under a title. With a ``parameter``, it is made only while it is open."""

    key: str
    title: str
    blocks: Blocks
    is_open: bool = False
    parameter: Parameter[Any] | None = None


@dataclass(frozen=True, slots=True)
class Arranged:
    """What a reader has made of a page, whatever is on it: by their keys, orders of tables and folds that were turned.

    A fold is turned if it is not as it begins.
    """

    orders: Mapping[str, Order] = field(default_factory=dict)
    turned: frozenset[str] = frozenset()

    def is_open(self, fold: Fold) -> bool:
        """Tell whether a fold is open; one with a parameter is as its page has made it."""
        return fold.is_open != (fold.parameter is None and fold.key in self.turned)


@dataclass(frozen=True, slots=True)
class Way:
    """A link to another page of the app, with the parameters of its view; as a card, it shows what the page is for."""

    key: str
    label: str
    page: Page
    query: Mapping[str, str]
    is_card: bool = False


@dataclass(frozen=True, slots=True)
class LongText:
    """A field for a text of many lines, too long for a link, which the browser keeps while it is open.

    It has ``least`` characters at least and ``most`` at most; none at all is possible too, and ``hint`` says what then.
    One that ``is_line`` is short and begins as ``value``.
    """

    label: str
    hint: str
    least: int
    most: int
    is_line: bool = False
    value: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A field for a text file of the visitor's: the server keeps it by its hash, which the parameter holds.

    ``hint`` says what becomes of it; ``kept`` is the parameter's value, and a button called ``remove`` empties that.
    Only the first ``most`` bytes of a file count.
    """

    key: str
    parameter: Parameter[str]
    label: str
    hint: str
    kept: str
    remove: str
    most: int


@dataclass(frozen=True, slots=True)
class Work:
    """A button that has the server do something long and, while that goes on, how far it is.

    ``told`` says how far it is or what came of it, ``share`` how much is done, None while it does not go on. The button
    cannot be pressed where it ``is_off``; where ``stops`` is a label, a button with that label stands in its place, and
    stops what the visitor has started. When it is started, the parameters in ``clears`` go back to their defaults. It
    may be given a ``text`` to read.
    """

    key: str
    job: Job | Task
    arguments: tuple[str, ...]
    label: str
    told: str
    share: float | None = None
    is_off: bool = False
    stops: str = ""
    clears: tuple[Parameter[Any], ...] = ()
    text: LongText | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something long is that goes on while a page is looked at, and a button that holds it or has it go on.

    ``told`` says how far it is, ``share`` how much is done, None while it is held: then the button is called ``goes``,
    otherwise ``stops``. The ``parameter`` says that it is held.
    """

    key: str
    parameter: Parameter[bool]
    told: str
    share: float | None
    goes: str
    stops: str


@dataclass(frozen=True, slots=True)
class Row:
    """Columns side by side, with their relative widths; on a narrow screen, one below the other."""

    columns: tuple[Blocks, ...]
    widths: tuple[int, ...] | None = None
    gap: Literal["small", "large"] = "large"


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks that belong together; with a visible frame if ``is_framed``, side by side if ``is_line``.

    One that ``is_cover`` lies over the place of something that is not shown yet, and says why. ``on_paper`` says in
    words what is chosen, for a file without controls.
    """

    key: str
    blocks: Blocks
    is_framed: bool = False
    is_line: bool = False
    is_cover: bool = False
    on_paper: str = ""


def cover(key: str, told: str = message("Covered until the question is answered.")) -> Section:
    """Return what lies in the place of the block with this key until a question is answered, and says so."""
    return Section(f"{key}_cover", (Notice(told, is_quiet=True),), is_cover=True)


@dataclass(frozen=True, slots=True)
class ProofLine:
    """The check of the numbers computed here against one model's own: a sentence, and a row for each part checked.

    Where the ``parameter`` is set, the rows are seen, too.
    """

    sentence: str
    holds: bool
    rows: tuple[tuple[str, ...], ...]
    html: str
    parameter: Parameter[bool]
    is_open: bool


@dataclass(frozen=True, slots=True)
class Proven:
    """The proof, with one line for each model that ran."""

    lines: tuple[ProofLine, ...]


Block = (
    Heading
    | Formula
    | Prose
    | Notice
    | Shapes
    | Code
    | Picture
    | Png
    | Progress
    | Table
    | Download
    | Setting
    | Entry
    | Panels
    | Fold
    | Upload
    | Waiting
    | Way
    | Work
    | Row
    | Section
    | Proven
)
Blocks = tuple[Block, ...]


def walk(blocks: Blocks) -> list[Block]:
    """Return all blocks; those inside a block follow it."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        for inner in inside(block):
            found += walk(inner)
    return found


def inside(block: Block) -> Sequence[Blocks]:
    """Return the blocks inside a block, those that belong together as one."""
    match block:
        case Row():
            return block.columns
        case Section() | Fold():
            return (block.blocks,)
        case Panels():
            return tuple(block.contents.values())
        case _:
            return ()
