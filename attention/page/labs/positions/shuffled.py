"""A head of the first layer that reads the words in another order, with and without positions."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import HeadSteps
from attention.core.trace import Token
from attention.experiments.shuffled import can_be_reordered, first_head
from attention.figures import charts
from attention.figures.buttons import Button, Buttons
from attention.figures.order import OrderStrip, written
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import weight_matrix
from attention.lesson.prose import fact, lesson, small, word
from attention.lesson.quiz import Guess
from attention.lesson.tables import full_precision
from attention.page.blocks import Blocks, Heading, Notice, Picture, Prose, Row, Setting, as_table
from attention.page.labs.base import covered
from attention.page.labs.positions.knobs import MOST_MOVED, ORDER, PLACED, opened
from attention.page.parameters import Values
from attention.page.settings import WORD

ROUNDING = 1e-4  # the largest change due to rounding, relative to the largest norm of an output


class _Moved(NamedTuple):
    """A head of the first layer before and after its words are reordered.

    ``order[i]`` is the original position of the token at position i.
    """

    order: tuple[int, ...]
    before: HeadSteps
    after: HeadSteps

    @classmethod
    def of(cls, scene: HeadContext, order: Sequence[int], *, with_positions: bool, with_mask: bool = True) -> Self:
        """Run the head on both orders."""
        run = partial(first_head, scene.trace, scene.head, with_positions=with_positions, with_mask=with_mask)
        return cls(tuple(order), run(range(len(order))), run(order))

    @property
    def largest(self) -> float:
        """How far the output moves that moves most."""
        return float(self.lengths().max())

    @property
    def is_rounding(self) -> bool:
        """Whether the outputs move so little that it is due to rounding."""
        return self.largest <= ROUNDING * float(np.linalg.norm(self.before.head_outputs, axis=-1).max())

    def lengths(self) -> Float[Array, " T"]:
        """Return the norm of each token's output change, in the original order."""
        found = np.zeros(len(self.order), dtype=np.float32)
        changes = self.after.head_outputs - self.before.head_outputs[list(self.order)]
        found[list(self.order)] = np.linalg.norm(changes, axis=-1)
        return found


def _movable(tokens: Sequence[Token]) -> list[int]:
    """Return the positions of the first text's tokens without special ones, as many as can be moved."""
    found = [token.position for token in tokens if not token.is_special and not token.is_padding and not token.segment]
    return found[:MOST_MOVED]


def _full_order(chosen: tuple[int, ...] | None, count: int) -> tuple[int, ...]:
    """Return the chosen order of ``count`` words; words that it does not mention stay in place."""
    if chosen is None:
        return tuple(reversed(range(count)))
    return (*(each for each in chosen if each < count), *range(len(chosen), count))


def _order_of_all(tokens: Sequence[Token], order: Sequence[int]) -> tuple[int, ...]:
    """Return the order of all tokens, given that of the movable ones."""
    places = _movable(tokens)
    found = list(range(len(tokens)))
    for place, index in zip(places, order, strict=True):
        found[place] = places[index]
    return tuple(found)


def _format_largest(moved: _Moved) -> str:
    """Return the largest change, with enough digits to recognise a rounding error."""
    return f"<b>{small(moved.largest)}</b>" if moved.is_rounding else fact(moved.largest)


def guess(scene: HeadContext | None) -> Guess | None:
    """Ask what happens to a token's output if all tokens are reversed and positions are left out.

    The question is the same for every token and head, so that an answered lab stays open when these are chosen.
    """
    if scene is None or not can_be_reordered(scene.trace):
        return None
    order = _order_of_all(scene.tokens, _full_order(None, len(_movable(scene.tokens))))
    is_same = _Moved.of(scene, order, with_positions=False).is_rounding
    answers = (
        message("It stays the same."),
        message("It changes."),
        message("It becomes that of the token previously there."),
    )
    because = lesson("positions/guess-same" if is_same else "positions/guess-other")
    return Guess(lesson("positions/guess"), answers, because, frozenset({0 if is_same else 1}))


def shuffled(values: Values, scene: HeadContext | None) -> Blocks:
    """Show a head of the first layer that reads the words in another order."""
    heading = message("In another order")
    if scene is None:
        return opened(heading, values)
    if not can_be_reordered(scene.trace):
        told = message("The parts of the first layer's input are unknown for {name}.", name=scene.info.name)
        return (*opened(heading, values), Notice(told + " " + message("Choose another model.")))
    placed = Setting(PLACED, message("Weights with positions"), values[PLACED])
    places = _movable(scene.tokens)
    order = _full_order(values[ORDER], len(places))
    whole = _order_of_all(scene.tokens, order)
    without, placed_runs = (_Moved.of(scene, whole, with_positions=with_positions) for with_positions in (False, True))
    scene = replace(scene, layer=0)
    return (
        *opened(heading, values, placed),
        *_strip(scene, places, order),
        *_weights(scene, placed_runs if values[PLACED] else without, is_placed=values[PLACED]),
        Prose(_tell_order(scene, without, placed_runs)),
        *_moves(scene, without, placed_runs),
    )


def still_as_typed(values: Values, scene: HeadContext | None) -> Blocks:
    """Show the words in another order, without the effect on the outputs."""
    seen = ("order", "orders", "typed_weights", *(("moved_weights",) if values[PLACED] else ()))
    return covered(shuffled(values, scene), but=seen)


def _tell_order(scene: HeadContext, without: _Moved, placed: _Moved) -> str:
    """Say how far outputs move when the words are reordered."""
    if without.order == tuple(range(len(without.order))):
        return lesson("positions/as-typed" if len(_movable(scene.tokens)) > 1 else "positions/lone")
    facts: dict[str, str | int] = {
        "head": scene.head + 1,
        "without": _format_largest(without),
        "placed": _format_largest(placed),
    }
    if not scene.trace.layers[0].hidden(scene.head).any():
        return lesson("positions/order", **facts)
    bare = _Moved.of(scene, without.order, with_positions=False, with_mask=False)
    model = word(scene.info.name)
    return lesson("positions/order-masked", **facts, model=model, bare=_format_largest(bare))


def _shuffled_order(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shuffled order that depends only on this one; a single word stays."""
    numbers = np.random.default_rng(zlib.crc32(written(order).encode()))
    found = order
    while found == order and len(order) > 1:
        found = tuple(int(each) for each in numbers.permutation(len(order)))
    return found


def _strip(scene: HeadContext, places: Sequence[int], order: tuple[int, ...]) -> Blocks:
    """Return the words to drag, and buttons for some orders."""
    strip = OrderStrip(
        label=message("Word order"),
        names=tuple(scene.labels[place] for place in places),
        places=tuple(places),
        order=order,
        focus=places.index(scene.word) if scene.word in places else None,
    )
    typed = tuple(range(len(order)))
    # A button's effect does not depend on the order: it may be pressed while the words still move.
    offered = {
        message("Shuffle"): _shuffled_order(order),
        message("Reverse"): tuple(reversed(typed)),
        message("As typed"): typed,
    }
    buttons = tuple(Button(label, parts={"order": written(other)}) for label, other in offered.items())
    n_words = len([token for token in scene.tokens if not token.is_special and not token.is_padding])
    told = message("Only the first {n} can be moved.", n=len(places))
    words = Picture("order", strip, sets={"order": ORDER}, is_selectable=len(places) > 1)
    others = Picture("orders", Buttons(message("Other orders"), buttons), sets={"order": ORDER})
    is_reversed = len(order) > 1 and order == tuple(reversed(typed))
    return (
        *((Heading(message("Your sentence in reverse order"), 3),) if is_reversed else ()),
        Row(((words,), (others,)), (3, 1)),
        *((Notice(told, is_quiet=True),) if len(places) < n_words else ()),
    )


def _weights(scene: HeadContext, moved: _Moved, *, is_placed: bool) -> Blocks:
    """Return the weights before and after, side by side."""
    kind = message("with positions") if is_placed else message("without positions")
    drawn = partial(weight_matrix, scene)
    before = drawn("typed_weights", message("weights as typed, {kind}", kind=kind), moved.before.weights)
    after = drawn("moved_weights", message("weights in this order, {kind}", kind=kind), moved.after.weights)
    labels = tuple(scene.labels[token] for token in moved.order)
    after = replace(after, row_labels=labels, column_labels=labels, focus_row=moved.order.index(scene.word))
    typed = Picture("typed_weights", before, sets={"row": WORD}, is_selectable=True)
    return (Row(((typed,), (Picture("moved_weights", after),))),)


def _moves(scene: HeadContext, without: _Moved, placed: _Moved) -> Blocks:
    """Show how far the output of each token moves, with and without positions."""
    moves = without.lengths(), placed.lengths()
    names = message("without positions"), message("with positions")
    chart = charts.compared(
        scene.labels,
        (names[0], moves[0]),
        (names[1], moves[1]),
        message("norm of each token's output change"),
        message("How far each token's output moves, with and without positions."),
    )
    columns = {message("token"): list(scene.labels), message("position now"): _places_now(without.order)}
    columns |= {name: full_precision(lengths) for name, lengths in zip(names, moves, strict=True)}
    return (
        Picture("moves", charts.Chart(chart)),
        as_table("moves", lambda: columns, file="moves"),
    )


def _places_now(order: Sequence[int]) -> list[str]:
    return [str(place) for place in np.argsort(order)]
