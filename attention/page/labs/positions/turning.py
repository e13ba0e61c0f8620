"""RoPE: queries and keys rotate, and their product depends on the distance alone."""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.positions import Rotary, apart, apply_rotary, begun_at, speeds, turns_of
from attention.core.steps import score
from attention.figures import charts
from attention.figures.dials import Dials
from attention.figures.format import number
from attention.figures.matrix import Matrix
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs
from attention.lesson.prose import exact, lesson, small, word
from attention.lesson.tables import full_precision
from attention.page.blocks import Blocks, Picture, Prose, Row, Setting, as_table, beside
from attention.page.labs.positions.knobs import SHIFT, SHIFTS, opened
from attention.page.parameters import Values

N_DIALS = 8
MOST_ROWS = 600  # a longer table can only be downloaded
# Random queries and keys, for models that do not rotate their own.
N_RANDOM, RANDOM_WIDTH = 8, 16
N_APART = 64  # distances drawn, or more if the text's is larger


class _Turning(NamedTuple):
    """Queries and keys before rotation, and their rotations in a text that begins at 0.

    The arrows of one ``query`` and one ``key`` are drawn. Without a ``scene``, all vectors are random.
    """

    queries: Float[Array, "T D"]
    keys: Float[Array, "T D"]
    turns: Rotary
    query: int
    key: int
    scene: HeadContext | None = None

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of all queries, and of all keys."""
        if self.scene is not None:
            return self.scene.names, self.scene.key_names
        return _numbered("q"), _numbered("k")

    @property
    def names(self) -> tuple[str, str]:
        """The names of the query and the key whose arrows are drawn."""
        queries, keys = self.labels
        return queries[self.query], keys[self.key]

    def scores(self, shift: int) -> Float[Array, "T T"]:
        """Return the dot products with queries and keys shifted by this many places."""
        turns = begun_at(self.turns, shift)
        return score(apply_rotary(self.queries, turns), apply_rotary(self.keys, turns))

    def apart(self) -> Float[Array, " N"]:
        """Return the dot product of the query and the key at distances 0, 1, 2, …, in the same order."""
        first, second = self.keys[self.key], self.queries[self.query]
        if self.key > self.query:
            first, second = second, first
        return apart(second, first, self.turns, max(N_APART, self.distance + 1))

    @property
    def distance(self) -> int:
        """The distance between the query and the key."""
        return abs(self.query - self.key)

    def arrows(self) -> tuple[Float[Array, "P 2"], Float[Array, "P 2"]]:
        """Return the pairs of the query and of the key, rotated for a text that begins at 0."""
        turns = begun_at(self.turns, 0)
        query, key = apply_rotary(self.queries, turns)[self.query], apply_rotary(self.keys, turns)[self.key]
        return np.stack(turns.split(query), axis=1), np.stack(turns.split(key), axis=1)


def _numbered(letter: str) -> tuple[str, ...]:
    return tuple(f"{letter}{index}" for index in range(N_RANDOM))


@cache
def _random() -> _Turning:
    """Return random queries and keys, shared and therefore read-only."""
    drawn = np.random.default_rng(0).standard_normal((2, N_RANDOM, RANDOM_WIDTH), dtype=np.float32)
    turns = turns_of(N_RANDOM, RANDOM_WIDTH)
    for each in (drawn, turns.cosines, turns.sines):
        each.flags.writeable = False
    return _Turning(drawn[0], drawn[1], turns, query=N_RANDOM // 2, key=1)


def turns(scene: HeadContext) -> bool:
    """Return whether the scene's head is known to rotate its queries and keys."""
    layer = scene.attention
    is_known = layer.inputs is not None and layer.projections is not None
    return is_known and layer.rotary is not None and len(scene.tokens) > 1


def _of_head(scene: HeadContext | None) -> _Turning | None:
    """Return the head's queries and keys; None if it does not rotate them, or there is no distance."""
    if scene is None or not turns(scene):
        return None
    assert scene.attention.rotary is not None
    weights = scene.steps.weights[scene.word, : len(scene.tokens)].copy()
    weights[scene.word] = -1  # the key with the most weight, other than the query's own
    queries, keys = scene.unrotated
    keys = keys[: len(scene.tokens)]
    return _Turning(queries, keys, scene.attention.rotary, scene.word, int(weights.argmax()), scene)


def turning(values: Values, scene: HeadContext | None) -> Blocks:
    """Show how the pairs of a query and a key rotate, and that a shift of the text does not change their product."""
    shift, drawn = values[SHIFT], _of_head(scene) or _random()
    options = {each: str(each) for each in SHIFTS}
    knob = Setting(SHIFT, message("Shift of the text, in positions"), shift, options, is_scale=True)
    before, after = drawn.scores(0), drawn.scores(shift)
    matrices = (
        _square(drawn, "scores_before", message("q · k, text starts at 0"), before),
        _square(drawn, "scores_shifted", message("q · k, text starts at {shift}", shift=shift), after),
    )
    return (
        *opened(message("Rotating queries and keys"), values, knob),
        Prose(_tell(drawn, scene)),
        Picture("dials", _dials(drawn, shift)),
        *_by_distance(drawn, _tell_shift(drawn, shift, before, after)),
        Row(tuple((Picture(each.name, each),) for each in matrices)),
        as_table("scores", partial(_table, drawn, before, after), file="scores", limit=MOST_ROWS),
    )


def _by_distance(drawn: _Turning, told: str) -> Blocks:
    """Return the text on the shift and, beside it, q · k by distance."""
    products, here = drawn.apart(), drawn.distance
    query, key = drawn.names
    told += lesson(
        "positions/apart",
        query=word(query),
        key=word(key),
        last=len(products) - 1,
        places=messages("{n} place", "{n} places", here),
        real=exact(float(products[here])),
    )
    alt = message("Dot product of one query and one key, by distance.")
    curve = charts.lines(
        [(message("q · k"), products)],
        message("q · k of “{query}” and “{key}”, moved apart", query=query, key=key),
        alt,
        message("distance"),
        current=here,
    )
    columns = {
        message("distance"): list(map(str, range(len(products)))),
        message("q · k"): full_precision(products),
    }
    return (
        beside(told, Picture("apart", charts.Chart(curve))),
        as_table("apart", lambda: columns, file="distances"),
    )


def _tell(drawn: _Turning, scene: HeadContext | None) -> str:
    """Say whether the head's own queries and keys are shown or random ones, and why."""
    if drawn.scene is None:
        reason, advice = _why_random(scene)
        return lesson("positions/random-turns", width=RANDOM_WIDTH, reason=reason, advice=advice)
    return lesson(
        "positions/own-turns",
        model=word(drawn.scene.info.name),
        layer=drawn.scene.layer + 1,
        head=drawn.scene.head + 1,
        pairs=drawn.turns.width // 2,
    )


def _why_random(scene: HeadContext | None) -> tuple[str, str]:
    """Explain as HTML why no real queries and keys are shown, and which choice would show some."""
    advice = message("Choose SmolLM2 and a sentence to see a real head.")
    if scene is None:
        return "", advice
    name = word(scene.info.name)
    if scene.attention.rotary is None:
        return message("{name} does not use RoPE.", name=name), advice
    if len(scene.tokens) < 2:
        reason = message("{name} uses RoPE, but it read a single token.", name=name)
        return reason, message("Type a longer text to see a real head.")
    return message("{name} uses RoPE, but what it rotates was not recorded.", name=name), advice


def _tell_shift(drawn: _Turning, shift: int, before: Float[Array, "T T"], after: Float[Array, "T T"]) -> str:
    """Describe the shift's effect on the scores."""
    cell = drawn.query, drawn.key
    query, key = drawn.names
    return lesson(
        "positions/shifted",
        shift=shift,
        query=word(query),
        key=word(key),
        before=exact(float(before[cell])),
        after=exact(float(after[cell])),
        difference=f"<b>{small(float(np.abs(after - before).max()))}</b>",
    )


def _dials(drawn: _Turning, shift: int) -> Dials:
    """Return some of the pairs, from the fastest to the slowest."""
    n_pairs = drawn.turns.width // 2
    chosen = np.unique(np.linspace(0, n_pairs - 1, min(N_DIALS, n_pairs)).round().astype(int))
    query, key = (arrows[chosen] for arrows in drawn.arrows())
    angles, products = speeds(drawn.turns)[chosen], (query * key).sum(axis=1)
    captions = tuple(
        (
            message("pair {number}", number=int(pair) + 1),
            message("{degrees}° per position", degrees=f"{np.degrees(angle):.3g}"),
            message("q · k: {product}", product=number(float(product))),
        )
        for pair, angle, product in zip(chosen, angles, products, strict=True)
    )
    return Dials(
        title=message("Pairs of numbers as arrows (dashed: before the shift)"),
        alt=message(
            "{n} pairs of numbers of a query and a key as arrows, rotated by a shift of {shift} positions.",
            n=len(chosen),
            shift=shift,
        ),
        query_name=message("query: {name}", name=drawn.names[0]),
        key_name=message("key: {name}", name=drawn.names[1]),
        query=query,
        key=key,
        turned=angles * shift,
        captions=captions,
    )


def _square(drawn: _Turning, name: str, title: str, values: Float[Array, "T T"]) -> Matrix:
    if drawn.scene is not None:
        return pairs(drawn.scene, name, title, values)
    return Matrix(
        name=name,
        title=title,
        values=values,
        row_labels=drawn.labels[0],
        column_labels=drawn.labels[1],
        row_axis=message("queries"),
        column_axis=message("keys"),
        palette="signed",
        alt=message("{title}: {n} random queries by {n} random keys.", title=title, n=N_RANDOM),
        row_role="query",
        column_role="key",
        focus_row=drawn.query,
    )


def _table(drawn: _Turning, before: Float[Array, "T T"], after: Float[Array, "T T"]) -> dict[str, list[str]]:
    queries, keys = drawn.labels
    return {
        message("query"): [name for name in queries for _ in keys],
        message("key"): [name for _ in queries for name in keys],
        message("before"): full_precision(before.ravel()),
        message("after"): full_precision(after.ravel()),
    }
