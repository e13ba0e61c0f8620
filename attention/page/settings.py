"""Everything that a user can set on any page: the declarations from which links, notices and widgets follow.

Those of :data:`SHARED` are in the links of all pages; each of the others belongs to a page of the registry
(:mod:`attention.page.pages`). A sentence still being typed, an uploaded file and work in progress are not among them:
the first is in the link once it is sent, a link has no room for the second, and the third is shared by all users.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from attention.core import reading
from attention.core.masks import MaskName
from attention.core.messages import message
from attention.core.trace import PARTS, ModelInfo, Part
from attention.experiments import corpus
from attention.experiments.five_ways import WAYS
from attention.figures.atlas import MAX_ZOOM, WHOLE
from attention.figures.head_view import THRESHOLDS, Side
from attention.figures.matrix import Cell
from attention.figures.question import Answer
from attention.figures.table import Order as RowOrder
from attention.lesson import steps
from attention.lesson.factors import LETTERS
from attention.lesson.many_sentences import ALIGNMENTS, Alignment
from attention.lesson.plans import PLAN_NAMES
from attention.lesson.savings import PRESETS
from attention.lesson.survey import HIDE_NAMES, SORT_NAMES, Hidden, Sorting
from attention.lesson.tasks import TASKS
from attention.measures.segments import BLOCK_NAMES, Block
from attention.models import bundled
from attention.page.parameters import (
    Answers,
    Cells,
    Choice,
    Flag,
    Indices,
    Keys,
    Name,
    Number,
    Parameter,
    Pins,
    Sorts,
    Spot,
    Spots,
    Text,
    Values,
)

__all__ = [
    "ALIGNMENT",
    "ANSWER",
    "AT",
    "BESIDE",
    "BLOCK",
    "CELL",
    "DEFAULT_TEXT",
    "EXAMPLE",
    "FACTORS",
    "FILE",
    "FIRST_ANSWER",
    "GET",
    "GUESS",
    "HEAD",
    "HIDE",
    "HOLD",
    "LAYER",
    "LEAST",
    "MAIN",
    "MAP",
    "MASK",
    "MEAN",
    "MODEL",
    "NEXT",
    "ON",
    "OPEN",
    "OTHER",
    "PAIR",
    "PANELS",
    "PART",
    "PINS",
    "PLAN",
    "PRESENT",
    "RARE",
    "RELATION",
    "RENORMALISE",
    "ROWS",
    "SAVINGS",
    "SHARED",
    "SIZES",
    "SORT",
    "SOUGHT",
    "STEP",
    "TASK",
    "TEXT",
    "VERSUS",
    "WAY",
    "WHY",
    "WORD",
    "WORDS",
    "ZOOM",
    "OfPane",
    "Panel",
    "is_of_model",
    "masks_of",
    "parts_of",
]

DEFAULT_TEXT = reading.TEXT.first

Panel = Literal["shapes", "numpy", "pytorch", "table"]
PANELS: tuple[Panel, ...] = ("shapes", "numpy", "pytorch", "table")

# The parameters that depend on the cells of a matrix, on the tokens of a text, and on the layers and heads of a model.
_CELLS = ("cell", "beside_cell")
_TOKENS = (*_CELLS, "word", "at", "pins", "order")
_PLACES = ("layer", "head", "beside_layer", "beside_head")


def masks_of(info: ModelInfo) -> tuple[MaskName, ...]:
    """Return the masks that a model can be run with."""
    return info.reading.masks


def parts_of(info: ModelInfo) -> tuple[Part, ...]:
    """Return a model's uses of attention."""
    return info.parts or PARTS[:1]


def is_of_model(parameter: Parameter[Any]) -> bool:
    """Tell whether a value makes sense for one model only, and is dropped when another is chosen."""
    return parameter.name in MODEL.resets


def _takes_pair(info: ModelInfo) -> bool:
    return info.reading.takes_pair


def _takes_sentences(info: ModelInfo) -> bool:
    return info.reading.takes_sentences


# ----------------------------------------------------------------------------- what all pages have

MODEL: Parameter[str] = Parameter(
    "model",
    Choice(lambda context: tuple(context.models)),
    bundled.default().model_id,
    # The word in focus stays in focus: its spot is set after the model.
    resets=("part", *_TOKENS, *_PLACES, "on", "savings", "hold"),
    unknown=message("is not here"),
)
TEXT: Parameter[str] = Parameter(
    "text",
    Text(message("text")),
    DEFAULT_TEXT,
    resets=_TOKENS,
    opening=lambda info: info.reading.first,
)
# A second sentence that the model reads together with the first, or what its decoder writes.
PAIR: Parameter[str] = Parameter("pair", Text(message("second sentence")), "", resets=_TOKENS, needs=_takes_pair)
PART: Parameter[Part] = Parameter(
    "part",
    Choice(lambda context: parts_of(context.info)),
    "encoder",
    resets=(*_TOKENS, "layer", "head"),
)
STEP: Parameter[str] = Parameter(
    "step", Choice(lambda _: steps.keys(), counted=True), steps.STEPS[0].key, resets=_CELLS
)


def _has_other_sizes(before: Values, after: Values) -> bool:
    """Tell whether the matrices change size, because padding is added or removed."""
    return "padding" in (before[MASK], after[MASK])


MASK: Parameter[MaskName] = Parameter(
    "mask", Choice(lambda context: masks_of(context.info)), "none", resets=_CELLS, when=_has_other_sizes
)
# The word in focus, by its position among the model's tokens.
WORD: Parameter[int | None] = Parameter(
    "word",
    Number(lambda context: max(info.max_tokens for info in context.models.values())),
    None,
    resets=(*_CELLS, "at"),
)
# The word in focus, by its place in the text: it was chosen among the tokens of another model.
AT: Parameter[Spot | None] = Parameter("at", Spots(), None, resets=("word",), yields_to="word")


def _n_layers(info: ModelInfo) -> int:
    return max(info.n_layers, info.n_decoder_layers)


# The layer and head that are looked at, and the cell that is opened; None is the model's default.
LAYER: Parameter[int | None] = Parameter(
    "layer", Number(lambda context: _n_layers(context.info), first=1), None, resets=("on",)
)
HEAD: Parameter[int | None] = Parameter(
    "head", Number(lambda context: context.info.n_heads, first=1), None, resets=("on",)
)
CELL: Parameter[Cell | None] = Parameter("cell", Cells(), None, otherwise=message("no cell is opened"))

# A second model beside the first, and the layer, head and cell that are looked at in it.
BESIDE: Parameter[bool] = Parameter("beside", Flag(), False, needs=_takes_sentences)
BESIDE_LAYER: Parameter[int | None] = Parameter(
    "beside_layer", Number(lambda context: _n_layers(context.other), first=1), None
)
BESIDE_HEAD: Parameter[int | None] = Parameter(
    "beside_head", Number(lambda context: context.other.n_heads, first=1), None
)
BESIDE_CELL: Parameter[Cell | None] = Parameter("beside_cell", Cells(), None, otherwise=message("no cell is opened"))

# Whether the proof lies open, link by link.
PROOF: Parameter[bool] = Parameter("proof", Flag(), False)
BESIDE_PROOF: Parameter[bool] = Parameter("beside_proof", Flag(), False)
# The keys of folds with no parameter of their own that are not as they begin: open, or shut if they begin open.
OPEN: Parameter[tuple[str, ...]] = Parameter("open", Keys(), ())
# The task of the page Find it that is being looked for on all pages; "" is none.
SOUGHT: Parameter[str] = Parameter("find", Choice(lambda _: ("", *(task.name for task in TASKS))), "")

SHARED: tuple[Parameter[Any], ...] = (
    TEXT,
    PAIR,
    MODEL,
    PART,
    STEP,
    MASK,
    WORD,
    AT,
    LAYER,
    HEAD,
    CELL,
    BESIDE,
    BESIDE_LAYER,
    BESIDE_HEAD,
    BESIDE_CELL,
    PROOF,
    BESIDE_PROOF,
    OPEN,
    SOUGHT,
)

# ------------------------------------------------------------------------------- Step by step

_PANEL: Choice[Panel] = Choice(lambda _: PANELS)
# What is shown under the picture, and whether the parts of the opened cell are shown as a table.
PANEL: Parameter[Panel] = Parameter("panel", _PANEL, "shapes")
BESIDE_PANEL: Parameter[Panel] = Parameter("beside_panel", _PANEL, "shapes")
TABLE: Parameter[bool] = Parameter("table", Flag(), False)
BESIDE_TABLE: Parameter[bool] = Parameter("beside_table", Flag(), False)
# What grouped queries save: whether it is open (None: open if the model's heads share), and for the sizes of which
# model ("": the chosen one).
SAVINGS: Parameter[bool | None] = Parameter("savings", Flag(), None)
SIZES: Parameter[str] = Parameter("sizes", Choice(lambda _: tuple(preset.name for preset in PRESETS)), "")
# Whether the answers to the questions that come up are open.
WHY: Parameter[bool] = Parameter("why", Flag(), False)
# Whether what comes next stands over the step that ends with it, instead of under all that the step shows.
NEXT: Parameter[bool] = Parameter("next", Flag(), False)
# Of which matrix the factors are shown, by the letter of its weights.
FACTORS: Parameter[str] = Parameter("factors", Choice(lambda _: ("", *LETTERS)), "", resets=_CELLS)
# Whether the map of the model lies open beside the step.
MAP: Parameter[bool] = Parameter("map", Flag(), True)
# Whether a step asks before it shows, and what was answered; an answer to another question is none.
GUESS: Parameter[bool] = Parameter("guess", Flag(), False)
ANSWER: Parameter[Answer | None] = Parameter("answer", Answers(), None, otherwise=message("the question is asked"))
# The same of the question of the front page.
FIRST_ANSWER: Parameter[Answer | None] = Parameter("first", Answers(), None, otherwise=message("the question is asked"))
# Whether the step is shown to a room: large, and without controls.
PRESENT: Parameter[bool] = Parameter("present", Flag(), False)


@dataclass(frozen=True, slots=True)
class OfPane:
    """What can be set for one of two models side by side."""

    layer: Parameter[int | None]
    head: Parameter[int | None]
    cell: Parameter[Cell | None]
    panel: Parameter[Panel]
    table: Parameter[bool]
    proof: Parameter[bool]


MAIN = OfPane(LAYER, HEAD, CELL, PANEL, TABLE, PROOF)
OTHER = OfPane(BESIDE_LAYER, BESIDE_HEAD, BESIDE_CELL, BESIDE_PANEL, BESIDE_TABLE, BESIDE_PROOF)

# ---------------------------------------------------------------------------------- All heads

# In another order, one looks at the whole first.
SORT: Parameter[Sorting] = Parameter("sort", Choice(lambda _: SORT_NAMES), "layer", resets=("zoom",))
# How far one has zoomed into the picture of all heads: by so many per cent of the whole, which a link counts as 100.
ZOOM: Parameter[int] = Parameter("zoom", Number(lambda _: MAX_ZOOM - WHOLE + 1, first=WHOLE), 0)
HIDE: Parameter[Hidden] = Parameter("hide", Choice(lambda _: HIDE_NAMES), "nothing")
# Pinned tokens have other positions once the tokens are joined into words.
WORDS: Parameter[bool] = Parameter("words", Flag(), False, resets=("pins",))
RENORMALISE: Parameter[bool] = Parameter("renormalise", Flag(), False)
BLOCK: Parameter[Block] = Parameter("block", Choice(lambda _: BLOCK_NAMES), "all")
ON: Parameter[tuple[int, ...] | None] = Parameter(
    "on", Indices(lambda context: context.info.n_heads), None, otherwise=message("the head that is chosen is on")
)
LEAST: Parameter[float | None] = Parameter("least", Choice(lambda _: THRESHOLDS, written="{:g}".format), None)
PINS: Parameter[tuple[Side, tuple[int, ...]] | None] = Parameter(
    "pins", Pins(), None, otherwise=message("nothing is pinned")
)
MEAN: Parameter[bool] = Parameter("mean", Flag(), False)

# ------------------------------------------------------------------------------------- others

# The order of the rows of tables, by the tables' keys.
ROWS: Parameter[tuple[tuple[str, RowOrder], ...]] = Parameter("rows", Sorts(), ())

# A sentence that is read by itself and compared; None until the user chooses one.
VERSUS: Parameter[str | None] = Parameter("versus", Text(message("sentence to compare")), None, resets=_CELLS)

# What is to be found.
TASK: Parameter[str] = Parameter("task", Choice(lambda _: tuple(task.name for task in TASKS)), TASKS[0].name)

# Which lesson plan is shown.
PLAN: Parameter[str] = Parameter("plan", Choice(lambda _: PLAN_NAMES), "twenty")

# The hash of a file of the user's own, in place of the bundled sentences.
FILE: Parameter[str] = Parameter("file", Name(32, example="9f86d081884c7d659a2feaa0c55ad015"), "", resets=("hold",))

# Whether what goes on while a page is looked at is held.
HOLD: Parameter[bool] = Parameter("hold", Flag(), False)

# At which end sentences of different lengths are aligned.
ALIGNMENT: Parameter[Alignment] = Parameter("alignment", Choice(lambda _: ALIGNMENTS), "start")


@cache
def _relations() -> tuple[str, ...]:
    return tuple(sorted({relation for sentence in corpus.annotated() for relation in sentence.relations}))


def _is_no_example(_: Values, after: Values) -> bool:
    """Tell whether the relation does not occur in the example."""
    example = after[EXAMPLE]
    return example is not None and after[RELATION] not in corpus.annotated()[example].relations


# Until the user chooses a relation or an example, the page takes the first.
RELATION: Parameter[str] = Parameter(
    "relation",
    Choice(lambda _: _relations(), example=message("{example} or {other}", example="dobj", other="nsubj")),
    "",
    resets=("example",),
    when=_is_no_example,
)
EXAMPLE: Parameter[int | None] = Parameter("example", Number(lambda _: len(corpus.annotated()), first=1), None)
RARE: Parameter[bool] = Parameter("rare", Flag(), False)

WAY: Parameter[str] = Parameter("way", Choice(lambda _: tuple(way.file for way in WAYS)), WAYS[0].file)

# The name of a model that the user wants and that is not here yet.
GET: Parameter[str] = Parameter("get", Name(96, example="google-bert/bert-base-uncased"), "")
