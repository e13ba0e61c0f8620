"""A page's content as data: a page is a function from a view to blocks.

Blocks do not depend on Streamlit or HTML. ``attention.answer.page_component`` draws them in the app;
``attention.page.page_file`` writes them to a file that needs no server. A click on a block sets a parameter of the
link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from attention.core.messages import message
from attention.figures.drawn import Drawn
from attention.figures.table import Columns, Order
from attention.page.page import Page
from attention.page.parameters import Parameter
from attention.training.jobs import Job, Task


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``anchor`` is its ID if the page has two headings with the same text. Level 1 is the page's title."""

    text: str
    level: Literal[1, 2, 3] = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """A displayed formula in LaTeX."""

    latex: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A lesson text as HTML, with its facts already escaped.

    An "aside" is not about the step itself; "paper" appears only in print.
    """

    html: str
    kind: Literal["main", "detail", "aside", "paper"] = "main"


@dataclass(frozen=True, slots=True)
class Notice:
    """A plain sentence: a problem and its remedy. A quiet one informs; news reports the result of a click."""

    sentence: str
    is_quiet: bool = False
    is_news: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a page waits for, and the share done, if known."""

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
    """Painting: a click on a cell toggles it in ``cells``.

    The cells count while ``mode`` is ``painted``; in another mode, painting begins with the cells ``before``.
    """

    cells: Parameter[tuple[int, ...]]
    before: tuple[int, ...]
    mode: Parameter[Any]
    painted: Any


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, and the parameters that the parts of a click in it set, in this order.

    If a click sets anything, cells and tokens look selectable, unless ``is_selectable`` says otherwise. The parameters
    in ``clears`` are reset. A click counts only while the view has the values of ``only_while``.

    With a ``brush``, a click on a cell paints instead. A click that chooses a cell ``opens`` a page; one on a part
    named in ``leads`` opens that page.

    Pictures with the same ``place`` on successive pages are one in the app: one turns into the other.
    """

    key: str
    figure: Drawn
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
    """A click on a table's row: the parameter, its value for each row, and the row shown."""

    parameter: Parameter[Any]
    values: tuple[Any, ...]
    chosen: int


@dataclass(frozen=True, slots=True)
class Table:
    """Columns to read and, if there is a file name, to download as CSV.

    ``make`` returns the columns on demand. A table of more than ``limit`` rows or columns can only be downloaded. A
    table that ``is_whole`` is short: it is not sorted and does not scroll. With a ``choice``, rows can be clicked.
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
    """A file, made on demand and queued if that takes long. Its name is unique on a page."""

    label: str
    file: str
    make: Callable[[], str | bytes]
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A PNG or SVG that the browser makes from the page's download ``source``, a figure in Plotly's JSON."""

    label: str
    file: str
    source: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A control within the content: a choice of options, which have labels, or a switch.

    All options are visible, unless they are in a drop-down list (``is_list``) or on a slider (``is_scale``). A label
    that ``is_silent`` is for screen readers only. A choice resets the parameters in ``clears``.
    """

    parameter: Parameter[Any]
    label: str
    value: Any
    options: Mapping[Any, str] = field(default_factory=dict)
    is_list: bool = False
    is_scale: bool = False
    is_off: bool = False
    help: str = ""
    is_silent: bool = False
    clears: tuple[Parameter[Any], ...] = ()
    key: str = ""

    def __post_init__(self) -> None:
        """Take the parameter's name for the key, unless another is given."""
        object.__setattr__(self, "key", self.key or self.parameter.name)


@dataclass(frozen=True, slots=True)
class Entry:
    """A text field; ``hint`` is its placeholder."""

    key: str
    parameter: Parameter[Any]
    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Panels:
    """Several contents in one place, one of them open; a file shows all of them."""

    key: str
    parameter: Parameter[Any]
    label: str
    value: Any
    options: Mapping[Any, str]
    contents: Mapping[Any, Blocks]
    is_labelled: bool = False

    @property
    def choice(self) -> Setting:
        """The control that opens one of them."""
        silent = not self.is_labelled
        return Setting(self.parameter, self.label, self.value, self.options, is_silent=silent, key=self.key)


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
    """The reader's arrangement of a page, by block key: sort orders of tables, and toggled folds."""

    orders: Mapping[str, Order] = field(default_factory=dict)
    turned: frozenset[str] = frozenset()

    def is_open(self, fold: Fold) -> bool:
        """Return whether a fold is open; one with a parameter is as its page made it."""
        return fold.is_open != (fold.parameter is None and fold.key in self.turned)


@dataclass(frozen=True, slots=True)
class Way:
    """A link to another page of the app, with the parameters of its view; a card also shows the page's purpose."""

    key: str
    label: str
    page: Page
    query: Mapping[str, str]
    is_card: bool = False


@dataclass(frozen=True, slots=True)
class LongText:
    """A field for a text of many lines, too long for a link; the browser keeps it while it is open.

    The text has between ``least`` and ``most`` characters, or is empty; ``hint`` describes that case. One that
    ``is_line`` is a single line that begins as ``value``.
    """

    label: str
    hint: str
    least: int
    most: int
    is_line: bool = False
    value: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A field for the user's text file: the server keeps it by its hash, which the parameter holds.

    ``hint`` says how the file is treated; ``kept`` is the parameter's value, cleared by the button ``remove``. Only the
    first ``most`` bytes count.
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
    """A button that starts a long job on the server, and the job's progress.

    ``told`` is the progress or the result; ``share`` is the part done, None while nothing runs. ``is_off`` disables the
    button. If ``stops`` is a label, a button with that label replaces it and stops the user's job. Starting the job
    resets the parameters in ``clears``. The job may read a ``text``.
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
    """The progress of a long computation that runs while the page is open, and a button to pause or resume it.

    ``told`` is the progress; ``share`` is the part done, None while paused. The button's label is ``goes`` while
    paused, otherwise ``stops``. The ``parameter`` is true while paused.
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
    """Blocks that belong together, in a frame if ``is_framed``, side by side if ``is_line``.

    One that ``is_cover`` hides content and says why. ``on_paper`` names the chosen options, for a file without
    controls.
    """

    key: str
    blocks: Blocks
    is_framed: bool = False
    is_line: bool = False
    is_cover: bool = False
    on_paper: str = ""


def cover(key: str, told: str = message("Hidden while the question is open.")) -> Section:
    """Return a cover for the block with this key, until a question is answered."""
    return Section(f"{key}_cover", (Notice(told, is_quiet=True),), is_cover=True)


def as_table(key: str, make: Callable[[], Columns], **looks: Any) -> Fold:
    """Return a table, folded below the picture of the same numbers; ``looks`` are the table's."""
    return Fold(f"{key}_fold", message("As a table"), (Table(f"{key}_table", make, **looks),))


def beside(told: str, picture: Block) -> Row:
    """Return a text, and a picture beside it."""
    return Row(((Prose(told),), (picture,)), (4, 5))


@dataclass(frozen=True, slots=True)
class ProofLine:
    """One model's proof: a sentence, and a row for each part checked."""

    sentence: str
    holds: bool
    rows: tuple[tuple[str, ...], ...]
    html: str


@dataclass(frozen=True, slots=True)
class Proven:
    """The proof, with one line for each model that ran; the rows are shown if the ``parameter`` is set."""

    lines: tuple[ProofLine, ...]
    parameter: Parameter[bool]
    is_open: bool


Block = (
    Heading
    | Formula
    | Prose
    | Notice
    | Shapes
    | Code
    | Picture
    | Image
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
    """Return all blocks, each followed by those inside it."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        for inner in inside(block):
            found += walk(inner)
    return found


def inside(block: Block) -> Sequence[Blocks]:
    """Return the groups of blocks inside a block."""
    match block:
        case Row():
            return block.columns
        case Section() | Fold():
            return (block.blocks,)
        case Panels():
            return tuple(block.contents.values())
        case _:
            return ()
