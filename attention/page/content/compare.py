"""The page Compare: two sentences in one head, or two models on one sentence; heatmaps, difference, every head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.experiments.corpus import pairs
from attention.figures.buttons import Button, Buttons
from attention.lesson.compare import (
    COMPARE,
    Comparison,
    Side,
    changes_picture,
    side_of,
    tell,
    tell_first,
    tell_marked,
    tell_unclear,
)
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, word
from attention.lesson.tables import matrix_table
from attention.models import ModelInfo
from attention.page.blocks import Block, Blocks, Heading, Notice, Picture, Prose, Row, Table, Way
from attention.page.content.pane import Pane, missing
from attention.page.content.place import place_of
from attention.page.content.quiz import Asked
from attention.page.pages import COMPARE as COMPARE_PAGE
from attention.page.settings import CELL, DEFAULT_TEXT, GUESS, HEAD, LAYER, OTHER, PAIR, PART, STEP, TEXT, VERSUS
from attention.page.view import View

EXAMPLES = tuple(pairs("comparisons.txt").values())
ASK = message("Type a second sentence above or choose an example pair.")


def opening(view: View) -> View:
    """Return the view with the first example pair, if the text is the default one and has no second sentence."""
    if view.beside or view.versus is not None or view.text != DEFAULT_TEXT:
        return view
    first, other = EXAMPLES[0]
    return view.with_value(TEXT, first).with_value(VERSUS, other)


def run_as(view: View) -> View:
    """Return the view to run: a pair would be read as one text, and the cells of steps do not exist here."""
    return view.without(STEP, PAIR, PART, CELL, OTHER.cell)


def second(view: View) -> str:
    """Return the sentence to compare with; empty if there is none, or if models are compared."""
    return "" if view.beside else view.versus or ""


def shortly(first: str, other: str) -> str:
    """Return a pair of sentences on one line, the second without the words that both begin with.

    >>> shortly("The river bank was wet", "The central bank was rich")
    'The river bank was wet | … central bank was rich'
    """
    alike = list(zip(first.split(), other.split(), strict=False))
    n_alike = next((index for index, (one, another) in enumerate(alike) if one != another), len(alike))
    return f"{first} | {'… ' if n_alike else ''}{' '.join(other.split()[n_alike:])}"


def asked(view: View, panes: Sequence[Pane]) -> Asked:
    """Return the question about the chosen cell, if the view asks for guesses."""
    comparison = _comparison(view, panes)
    return Asked(view) if comparison is None else _asked(view, comparison, _selected(view, comparison)[0])


def content(view: View, panes: Sequence[Pane], *, whole: bool = False) -> Blocks:
    """Return both heatmaps, their difference described and, for one model, the change of every head.

    If nothing ran, a ``whole`` page says why; in the app, the answer above it does.
    """
    places = (Row(tuple(map(place_of, panes))),) if view.beside and panes else ()
    reasons = {str(pane.reason): pane.reason for pane in panes}
    gone = tuple(block for reason in reasons.values() for block in missing(reason))
    told = tuple(Notice(each) for pane in panes if whole and pane.scene is None for each in pane.notices)
    scenes = [pane.scene for pane in panes if pane.scene is not None]
    alone = _first_sentence(scenes[0]) if scenes and not view.beside and not second(view) else ()
    comparison = _comparison(view, panes)
    return (*places, *gone, *told, *alone, *(() if comparison is None else _compared(view, panes, comparison)))


def _first_sentence(scene: HeadContext) -> Blocks:
    """Return the example pairs, and the first sentence's heatmap."""
    row = tuple(Button(shortly(*pair), parts=dict(zip(("text", "versus"), pair, strict=True))) for pair in EXAMPLES)
    side = _sentence(scene, is_first=True)
    return (
        Picture("pairs", Buttons(message("Pairs to compare"), row), sets={"text": TEXT, "versus": VERSUS}),
        Picture("first", Comparison(side, side).pictures(None)[0]),
    )


def _compared(view: View, panes: Sequence[Pane], comparison: Comparison) -> Blocks:
    selected, notices = _selected(view, comparison)
    question = _asked(view, comparison, selected)
    pictures = comparison.pictures(selected)
    first, other, difference = (Picture(each.name, each, sets={"cell": CELL}) for each in pictures)
    texts = () if view.beside else (Prose(tell_marked(comparison)),)
    if question.is_open:
        return (*notices, *texts, *question.content(), Row(((first,), ())))
    table = Table("difference_numbers", partial(matrix_table, pictures[2]), file="difference", is_shown=False)
    return (
        *notices,
        *question.content(),
        Row(((*texts, *_change(view, panes, comparison, selected)), (difference,)), (3, 5)),
        Heading(message("Both in full")),
        Row(((first,), (other,))),
        Row(
            (
                (Prose(tell(comparison)), table),
                (
                    Prose(
                        lesson("compare/intro-models" if view.beside else "compare/intro") + lesson("compare/aligned")
                    ),
                    *_notes(panes[0].info, are_models=view.beside),
                    *_why_opened(view, panes, comparison),
                ),
            )
        ),
        # Without a shared word, a head's change is undefined.
        *(_changes(panes) if not view.beside and comparison.counted.any() else ()),
    )


def _change(
    view: View, panes: Sequence[Pane], comparison: Comparison, selected: tuple[int, int] | None
) -> Iterator[Block]:
    """Yield the change, as a sentence and as the word's two rows, or a sentence that nothing changes clearly."""
    changed = None if view.beside or not comparison.counted.any() else changes_of(panes)
    if changed is not None and (told := tell_unclear(changed)):
        yield Prose(told)
    elif changed is not None:
        yield from _way_to_most(view, panes, changed)
    if selected is None:
        return
    if not np.isnan(comparison.difference[selected]):
        yield Prose(tell_first(comparison, *selected))
    yield Picture("row", comparison.row_picture(selected[0]))


def _way_to_most(view: View, panes: Sequence[Pane], changed: Float[Array, "L H"]) -> Iterator[Way]:
    layer, head = (int(index) for index in np.unravel_index(changed.argmax(), changed.shape))
    scene = panes[0].scene
    if scene is None or (scene.layer, scene.head) == (layer, head):
        return
    label = message("Open layer {layer}, head {head}, which changes most ▸", layer=layer + 1, head=head + 1)
    there = view.with_value(LAYER, layer).with_value(HEAD, head).without(CELL)
    yield Way("compare_most", label, COMPARE_PAGE, there.to_query())


def _notes(info: ModelInfo, *, are_models: bool) -> Iterator[Prose]:
    for name in filter(None, (info.build.of_heads, "" if are_models else info.build.of_changes)):
        yield Prose(lesson(name, model=word(info.name)))


def _why_opened(view: View, panes: Sequence[Pane], comparison: Comparison) -> Iterator[Prose]:
    """Yield the reason why this head is open, if the user chose none and the sentences differ in it."""
    if view.beside or view[LAYER] is not None or view[HEAD] is not None or not comparison.counted.any():
        return
    scene, changed = panes[0].scene, changes_of(panes)
    if scene is not None and changed is not None and changed[scene.layer, scene.head] == changed.max() > 0:
        yield Prose(lesson("compare/opened", **scene.numbers), "detail")


def changes_of(panes: Sequence[Pane]) -> Float[Array, "L H"] | None:
    """Return the largest change of each head; None if one of the two was not run, or a layer has no head."""
    first, other = panes
    if first.found is None or other.scene is None or other.address is None or first.info.layer_kinds:
        return None
    return first.found.changes(other.address.run, other.scene.trace)


def _changes(panes: Sequence[Pane]) -> Blocks:
    scene, changed = panes[0].scene, changes_of(panes)
    if scene is None or changed is None:
        return ()
    picture = changes_picture(changed, (scene.layer, scene.head))
    return (
        Heading(message("Every head")),
        Prose(lesson("compare/heads")),
        Picture("changes", picture, sets={"layer": LAYER, "head": HEAD}, clears=(CELL,)),
    )


def _asked(view: View, comparison: Comparison, selected: tuple[int, int] | None) -> Asked:
    if not view[GUESS]:
        return Asked(view)
    return Asked(view, is_asked=True, guess=comparison.guess(selected))


def _selected(view: View, comparison: Comparison) -> tuple[tuple[int, int] | None, Blocks]:
    """Return the cell that the link names or, failing that, the one with the largest change."""
    cell, size = view.pane.cell, len(comparison.places)
    if cell is None or cell.matrix != COMPARE:
        return comparison.most_changed(), ()
    if cell.row < size and cell.column < size:
        return (cell.row, cell.column), ()
    told = message("The link points to a cell that is not here. Another is shown.")
    return comparison.most_changed(), (Notice(told),)


def _comparison(view: View, panes: Sequence[Pane]) -> Comparison | None:
    """Return the two runs side by side; None if one is missing."""
    scenes = [pane.scene for pane in panes if pane.scene is not None]
    if len(scenes) < 2:
        return None
    first, other = scenes
    if view.beside:
        return Comparison(_model(first), _model(other))
    return Comparison(_sentence(first, is_first=True), _sentence(other, is_first=False))


def _sentence(scene: HeadContext, *, is_first: bool) -> Side:
    if is_first:
        return side_of(scene, message("The first sentence"), within=message("the first sentence"))
    return side_of(scene, message("The second sentence"), within=message("the second sentence"))


def _model(scene: HeadContext) -> Side:
    name = scene.info.name
    return side_of(
        scene,
        message("{name}, layer {layer}, head {head}", name=name, **scene.numbers),
        name,
    )
