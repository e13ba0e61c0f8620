"""The neuron view: one query and every key, number by number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attention.core.messages import message
from attention.figures.neuron import NEURON
from attention.lesson.head_context import HeadContext
from attention.lesson.neuron import best_key, key_picture, neuron, pair_table, sum_in_writing, value_picture
from attention.lesson.prose import lesson
from attention.page.blocks import Blocks, Notice, Picture, Prose, Row, Table
from attention.page.content.pane import Pane, missing
from attention.page.settings import CELL, WORD
from attention.page.view import View

# The steps' matrices of queries and keys, whose cells name a pair of tokens.
_PAIRWISE = (NEURON, "scores", "scaled", "masked", "weights")


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:  # noqa: ARG001 - all is shown
    """Return the query in focus against every key, and number by number against the chosen key."""
    return tuple(block for pane in panes for block in _pane(view, pane))


def _pane(view: View, pane: Pane) -> Blocks:
    scene = pane.scene
    if scene is None:
        return missing(pane.reason)
    key, notices = _key(view, scene)
    return (
        *notices,
        Prose(lesson("neuron/intro")),
        Picture("neuron", neuron(scene, key), sets={"cell": CELL, "word": WORD}),
        Prose(sum_in_writing(scene, key)),
        Row(
            (
                (Picture("meeting", key_picture(scene, key)),),
                (Picture("handing", value_picture(scene, key)),),
            )
        ),
        Table("neuron_table", partial(pair_table, scene, key), file="neuron", is_shown=False),
    )


def _key(view: View, scene: HeadContext) -> tuple[int, Blocks]:
    """Return the key that the link names or, failing that, the one that the word in focus attends to most."""
    cell = view.pane.cell
    if cell is None or cell.matrix not in _PAIRWISE or (cell.matrix != NEURON and cell.row != scene.word):
        return best_key(scene), ()
    n_keys = len(scene.key_tokens)
    if cell.column < n_keys:
        return cell.column, ()
    told = message(
        "The link points to {name} {number}, but the last is {last}.",
        name=message("key"),
        number=cell.column,
        last=n_keys - 1,
    )
    return best_key(scene), (Notice(told),)
