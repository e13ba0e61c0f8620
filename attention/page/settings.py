"""The parameters of all pages, from which links, notices and widgets follow.

Those in :data:`SHARED` are in the links of all pages; each of the others belongs to pages in
:mod:`attention.page.pages`. A sentence being typed, an uploaded file and work in progress are not parameters: the first
is in the link once sent, the second is too long for a link, and the third is shared by all users.
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
    FLAG,
    Answers,
    Cells,
    Choice,
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

DEFAULT_TEXT = reading.TEXT.first

Panel = Literal["shapes", "numpy", "pytorch", "table"]
PANELS: tuple[Panel, ...] = ("shapes", "numpy", "pytorch", "table")

# Parameters that depend on a matrix's cells, a text's tokens, and a model's layers and heads.
_CELLS = ("cell", "beside_cell")
_TOKENS = (*_CELLS, "word", "at", "links", "pins", "order")
_PLACES = ("layer", "head", "beside_layer", "beside_head")


def masks_of(info: ModelInfo) -> tuple[MaskName, ...]:
    """Return the masks that a model can run with."""
    return info.reading.masks


def parts_of(info: ModelInfo) -> tuple[Part, ...]:
    """Return a model's parts with attention."""
    return info.parts or PARTS[:1]


def is_of_model(parameter: Parameter[Any]) -> bool:
    """Return whether the parameter is reset when another model is chosen."""
    return parameter.name in MODEL.resets


def _takes_pair(info: ModelInfo) -> bool:
    return info.reading.takes_pair


def takes_sentences(info: ModelInfo) -> bool:
    """Return whether a model reads English sentences."""
    return info.reading.takes_sentences


def has_all_layers(info: ModelInfo) -> bool:
    """Return whether a model reads English sentences and has attention in every layer."""
    return info.reading.takes_sentences and not info.layer_kinds


# ----------------------------------------------------------------------------------- all pages

MODEL: Parameter[str] = Parameter(
    "model",
    Choice(lambda context: tuple(context.models)),
    bundled.default().model_id,
    # The word stays in focus: its spot is set after the model.
    resets=("part", *_TOKENS, *_PLACES, "on", "savings", "hold"),
)
TEXT: Parameter[str] = Parameter(
    "text",
    Text(message("text")),
    DEFAULT_TEXT,
    resets=_TOKENS,
    opening=lambda info: info.reading.first,
)
# A second sentence that the model reads with the first, or the text that its decoder writes.
PAIR: Parameter[str] = Parameter("pair", Text(message("second sentence")), "", resets=_TOKENS, needs=_takes_pair)


def _has_chat(info: ModelInfo) -> bool:
    return info.has_chat


# Whether the text is read as a message in the model's own chat template.
CHAT: Parameter[bool] = Parameter("chat", FLAG, False, resets=_TOKENS, needs=_has_chat)
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
    """Return whether padding is added or removed, which changes the matrices' sizes."""
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
# The word in focus, by its spot in the text: it was chosen among another model's tokens.
AT: Parameter[Spot | None] = Parameter("at", Spots(), None, resets=("word",), yields_to="word")


def _n_layers(info: ModelInfo) -> int:
    return max(info.n_layers, info.n_decoder_layers)


# The layer and head in view, and the opened cell; None is the model's default.
LAYER: Parameter[int | None] = Parameter(
    "layer", Number(lambda context: _n_layers(context.info), first=1), None, resets=("on",)
)
HEAD: Parameter[int | None] = Parameter(
    "head", Number(lambda context: context.info.n_heads, first=1), None, resets=("on",)
)
CELL: Parameter[Cell | None] = Parameter("cell", Cells(), None, otherwise=message("No cell is open."))

# A second model beside the first, and its layer, head and cell.
BESIDE: Parameter[bool] = Parameter("beside", FLAG, False, needs=takes_sentences)
BESIDE_LAYER: Parameter[int | None] = Parameter(
    "beside_layer", Number(lambda context: _n_layers(context.other), first=1), None
)
BESIDE_HEAD: Parameter[int | None] = Parameter(
    "beside_head", Number(lambda context: context.other.n_heads, first=1), None
)
BESIDE_CELL: Parameter[Cell | None] = Parameter("beside_cell", Cells(), None, otherwise=message("No cell is open."))

# Whether the proof is open.
PROOF: Parameter[bool] = Parameter("proof", FLAG, False)
# The keys of toggled folds, of those without a parameter of their own.
OPEN: Parameter[tuple[str, ...]] = Parameter("open", Keys(), ())
# The search task shown on all pages; "" is none.
SOUGHT: Parameter[str] = Parameter("find", Choice(lambda _: ("", *(task.name for task in TASKS))), "")

# The word whose head the front shows: the one that links it to another word most. None is the head that opens first.
LINKS: Parameter[int | None] = Parameter("links", WORD.kind, None)

SHARED: tuple[Parameter[Any], ...] = (
    TEXT,
    PAIR,
    MODEL,
    CHAT,
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
    OPEN,
    SOUGHT,
)

# ------------------------------------------------------------------------------- Step by step

_PANEL: Choice[Panel] = Choice(lambda _: PANELS)
# The panel under the picture, and whether the opened cell's parts are shown as a table.
PANEL: Parameter[Panel] = Parameter("panel", _PANEL, "shapes")
BESIDE_PANEL: Parameter[Panel] = Parameter("beside_panel", _PANEL, "shapes")
TABLE: Parameter[bool] = Parameter("table", FLAG, False)
BESIDE_TABLE: Parameter[bool] = Parameter("beside_table", FLAG, False)
# The savings of grouped queries: whether they are open (None: open if the model has groups), and for whose sizes
# ("": the chosen model's).
SAVINGS: Parameter[bool | None] = Parameter("savings", FLAG, None)
SIZES: Parameter[str] = Parameter("sizes", Choice(lambda _: tuple(preset.name for preset in PRESETS)), "")
WHY: Parameter[bool] = Parameter("why", FLAG, False)
# Whether the next token's prediction stands above its step instead of below.
NEXT: Parameter[bool] = Parameter("next", FLAG, False)
# The matrix whose factors are shown, by the letter of its weights.
FACTORS: Parameter[str] = Parameter("factors", Choice(lambda _: ("", *LETTERS)), "", resets=_CELLS)
MAP: Parameter[bool] = Parameter("map", FLAG, True)
# Whether a step asks a question first, and the answer; it counts only for its own question.
GUESS: Parameter[bool] = Parameter("guess", FLAG, False)
ANSWER: Parameter[Answer | None] = Parameter("answer", Answers(), None, otherwise=message("The question is asked."))
FIRST_ANSWER: Parameter[Answer | None] = Parameter(
    "first", Answers(), None, otherwise=message("The question is asked.")
)
# Whether the step is projected: large, and without controls.
PRESENT: Parameter[bool] = Parameter("present", FLAG, False)
# Whether steps before softmax hide the weights, which a class is asked for later.
PLAIN: Parameter[bool] = Parameter("plain", FLAG, False)


@dataclass(frozen=True, slots=True)
class OfPane:
    """The parameters of one of two models side by side."""

    layer: Parameter[int | None]
    head: Parameter[int | None]
    cell: Parameter[Cell | None]
    panel: Parameter[Panel]
    table: Parameter[bool]


MAIN = OfPane(LAYER, HEAD, CELL, PANEL, TABLE)
OTHER = OfPane(BESIDE_LAYER, BESIDE_HEAD, BESIDE_CELL, BESIDE_PANEL, BESIDE_TABLE)

# ---------------------------------------------------------------------------------- All heads

# A new order is shown whole first.
SORT: Parameter[Sorting] = Parameter("sort", Choice(lambda _: SORT_NAMES), "layer", resets=("zoom",))
# The zoom of the atlas in per cent beyond the whole, which is 100 in a link.
ZOOM: Parameter[int] = Parameter("zoom", Number(lambda _: MAX_ZOOM - WHOLE + 1, first=WHOLE), 0)
HIDE: Parameter[Hidden] = Parameter("hide", Choice(lambda _: HIDE_NAMES), "nothing")
# Merging tokens into words changes the positions of pins.
WORDS: Parameter[bool] = Parameter("words", FLAG, False, resets=("pins",))
RENORMALISE: Parameter[bool] = Parameter("renormalise", FLAG, False)
# Whether the choices of order and display are open; None: open if one of them is made.
LOOKS: Parameter[bool | None] = Parameter("looks", FLAG, None)
BLOCK: Parameter[Block] = Parameter("block", Choice(lambda _: BLOCK_NAMES), "all")
ON: Parameter[tuple[int, ...] | None] = Parameter(
    "on", Indices(lambda context: context.info.n_heads), None, otherwise=message("The chosen head is on.")
)
LEAST: Parameter[float | None] = Parameter("least", Choice(lambda _: THRESHOLDS, written="{:g}".format), None)
PINS: Parameter[tuple[Side, tuple[int, ...]] | None] = Parameter(
    "pins", Pins(), None, otherwise=message("Nothing is pinned.")
)
MEAN: Parameter[bool] = Parameter("mean", FLAG, False)

# ------------------------------------------------------------------------------------- others

# The sort orders of tables, by table key.
ROWS: Parameter[tuple[tuple[str, RowOrder], ...]] = Parameter("rows", Sorts(), ())

# A sentence to compare; None until the user chooses one.
VERSUS: Parameter[str | None] = Parameter("versus", Text(message("sentence to compare")), None, resets=_CELLS)

# What is to be found.
TASK: Parameter[str] = Parameter("task", Choice(lambda _: tuple(task.name for task in TASKS)), TASKS[0].name)

PLAN: Parameter[str] = Parameter("plan", Choice(lambda _: PLAN_NAMES), "twenty")

# The hash of the user's file, in place of the bundled sentences.
FILE: Parameter[str] = Parameter("file", Name(32, example="9f86d081884c7d659a2feaa0c55ad015"), "", resets=("hold",))

# Whether a measurement is paused.
HOLD: Parameter[bool] = Parameter("hold", FLAG, False)

# The end at which sentences of different lengths are aligned.
ALIGNMENT: Parameter[Alignment] = Parameter("alignment", Choice(lambda _: ALIGNMENTS), "start")


@cache
def _relations() -> tuple[str, ...]:
    return tuple(sorted({relation for sentence in corpus.annotated() for relation in sentence.relations}))


def _is_no_example(_: Values, after: Values) -> bool:
    """Return whether the example lacks the relation."""
    example = after[EXAMPLE]
    return example is not None and after[RELATION] not in corpus.annotated()[example].relations


# Without a choice, the page takes the first relation and example.
RELATION: Parameter[str] = Parameter(
    "relation",
    Choice(lambda _: _relations(), example=message("{example} or {other}", example="dobj", other="nsubj")),
    "",
    resets=("example",),
    when=_is_no_example,
)
EXAMPLE: Parameter[int | None] = Parameter("example", Number(lambda _: len(corpus.annotated()), first=1), None)
RARE: Parameter[bool] = Parameter("rare", FLAG, False)

WAY: Parameter[str] = Parameter("way", Choice(lambda _: tuple(way.file for way in WAYS)), WAYS[0].file)

# The ID of a model to download.
GET: Parameter[str] = Parameter("get", Name(96, example="google-bert/bert-base-uncased"), "")
