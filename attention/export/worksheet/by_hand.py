r"""One token in one head, by hand: a dot product, a row of softmax and a weighted sum.

.. math:: s_j = q \cdot k_j / \sqrt{d_k} \qquad \alpha_j = e^{s_j - m} / \sum_i e^{s_i - m} \qquad
          o = \sum_j \alpha_j v_j

(Vaswani et al. 2017, section 3.2.1.) All results follow from the printed, rounded numbers, and are compared with the
model's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from attention.core.messages import message, messages
from attention.export.worksheet.base import MOST, Blank, Grid, Row, Task, rounded, written
from attention.figures.format import MINUS, number
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, word

_OUTPUTS = 2  # dimensions of the output to compute
# A row is worth computing if at least so many of its weights reach this one.
_ENOUGH, _NOTICEABLE = 3, 0.05
_LOWEST = 6  # exp(−6) rounds to 0.00: the table of exponentials ends before


def can_be_done(scene: HeadContext) -> bool:
    """Return whether the head is suitable for calculation by hand: its few numbers have names, and are large enough."""
    return bool(scene.info.feature_names)


def worth_computing(scene: HeadContext) -> int:
    """Return the position of the token for the tasks: the one in focus unless its weights are nearly all 0.

    Then it is the token with the most noticeable weights and, of several, the smallest largest one.
    """
    weights = np.where([[token.is_padding] for token in scene.tokens], 0, scene.steps.weights)
    noticeable = (weights >= _NOTICEABLE).sum(axis=1)
    if noticeable[scene.word] >= min(_ENOUGH, noticeable.max()):
        return scene.word
    return int(max(range(len(weights)), key=lambda row: (noticeable[row], -weights[row].max())))


def keys_shown(scene: HeadContext) -> tuple[list[int], list[int]]:
    """Return the keys with a column each, and all others; among many keys, those with the most weight have a column."""
    weights = scene.steps.weights[scene.word]
    if weights.size <= MOST:
        return list(range(weights.size)), []
    shown = set(np.argsort(-weights, kind="stable")[: MOST - 1].tolist())
    return sorted(shown), [key for key in range(weights.size) if key not in shown]


@dataclass(frozen=True, slots=True)
class Hand:
    """The numbers of the tasks, as printed and as they follow from the printed ones.

    Attributes:
        scene: the head and the token in focus.
        keys: the keys with a column each.
        others: the keys that share one column.
        pair: the key of the dot product.
        dimensions: those in which neither vector of the pair is 0.
        products: the products in these dimensions.
        score: their sum.
        scaled: by key, the scaled and rounded scores; None where masked.
        exponentials: by key, of the scores minus the largest; 0 where masked.
        rest: the sum of the other keys' exponentials.
        total: the sum of all exponentials.
        weights: by key.
        rest_weight: of all other keys together.
        outputs: the dimensions of the output to compute.
    """

    scene: HeadContext
    keys: tuple[int, ...]
    others: tuple[int, ...]
    pair: int
    dimensions: tuple[int, ...]
    products: tuple[Decimal, ...]
    score: Decimal
    scaled: dict[int, Decimal | None]
    exponentials: dict[int, Decimal]
    rest: Decimal
    total: Decimal
    weights: dict[int, Decimal]
    rest_weight: Decimal
    outputs: tuple[int, ...]

    @property
    def result(self) -> Decimal:
        """The scaled score of the pair."""
        found = self.scaled[self.pair]
        assert found is not None
        return found

    @property
    def largest(self) -> Decimal:
        """The largest of the scaled scores."""
        return max(each for each in self.scaled.values() if each is not None)

    def value(self, key: int, dimension: int) -> Decimal:
        """Return a number of a value vector, as printed."""
        return rounded(float(self.scene.steps.values[key, dimension]), 1)

    def rest_value(self, dimension: int) -> Decimal:
        """Return the other keys' mean value in a dimension, weighted by their weights, as printed."""
        weights = self.scene.steps.weights[self.scene.word, list(self.others)].astype(np.float64)
        values = self.scene.steps.values[list(self.others), dimension]
        return rounded(float(weights @ values / (weights.sum() or 1)), 1)

    def parts(self, dimension: int) -> list[Decimal]:
        """Return weight × value of each column, rounded."""
        found = [rounded(self.weights[key] * self.value(key, dimension), 2) for key in self.keys]
        return [*found, rounded(self.rest_weight * self.rest_value(dimension), 2)] if self.others else found

    def output(self, dimension: int) -> Decimal:
        """Return a number of the output: the sum of the parts."""
        return sum(self.parts(dimension), Decimal("0.00"))


def hand_of(scene: HeadContext) -> Hand:
    """Compute the tasks of a head for the token in focus, which must see at least one key."""
    steps, focus = scene.steps, scene.word
    keys, others = keys_shown(scene)
    seen = np.flatnonzero(scene.visible[focus])
    # The key with the second-largest weight: a mistake in it hardly affects the others.
    order = seen[np.argsort(-steps.weights[focus, seen], kind="stable")]
    pair = int(order[min(1, order.size - 1)])
    q, k = ([rounded(float(each), 1) for each in row] for row in (steps.queries[focus], steps.keys[pair]))
    dimensions = [d for d in range(len(q)) if q[d] and k[d]] or list(range(len(q)))
    products = [rounded(q[d] * k[d], 2) for d in dimensions]
    score = sum(products, Decimal("0.00"))
    scaled: dict[int, Decimal | None] = {
        key: rounded(float(steps.masked_scores[focus, key]), 1) if scene.visible[focus, key] else None for key in keys
    }
    scaled[pair] = rounded(score / _divisor(scene), 1)
    largest = max(each for each in scaled.values() if each is not None)
    exponentials = {
        key: Decimal("0.00") if each is None else exponential(each - largest) for key, each in scaled.items()
    }
    beyond = steps.masked_scores[focus, others].astype(np.float64) - float(largest)
    rest = rounded(float(np.exp(beyond).sum()), 2)
    total = sum(exponentials.values(), rest)
    outputs = np.argsort(-np.abs(steps.head_outputs[focus]), kind="stable")[:_OUTPUTS]
    return Hand(
        scene,
        tuple(keys),
        tuple(others),
        pair,
        tuple(dimensions),
        tuple(products),
        score,
        scaled,
        exponentials,
        rest,
        total,
        {key: rounded(each / total, 2) for key, each in exponentials.items()},
        rounded(rest / total, 2),
        tuple(sorted(outputs.tolist())),
    )


def exponential(difference: Decimal) -> Decimal:
    """Return the entry of the table of exponentials: ``exp(x)`` with two decimals, for ``x ≤ 0``."""
    return rounded(math.exp(difference), 2)


def tasks_of(hand: Hand) -> tuple[Task, Task, Task]:
    """Return the three tasks."""
    return _dot_product(hand), _softmax(hand), _weighted_sum(hand)


def feature_of(scene: HeadContext, dimension: int) -> str:
    """Return the number of a value's dimension and, if it comes from a single feature, its name.

    Raises:
        AssertionError: the model's weights were not recorded.
    """
    parts = scene.attention.projections
    assert parts is not None
    sources = np.flatnonzero(parts.W_V[:, scene.group * scene.steps.values.shape[1] + dimension])
    if sources.size != 1:
        return message("dimension {n}", n=dimension)
    return message("dimension {n} ({name})", n=dimension, name=scene.dimensions[sources[0]])


def _divisor(scene: HeadContext) -> Decimal:
    return rounded(1 / scene.attention.scale, 2)


def _dot_product(hand: Hand) -> Task:
    scene, steps = hand.scene, hand.scene.steps
    focus, key = scene.names[scene.word], scene.key_names[hand.pair]
    vectors = {
        message("q of “{name}”", name=focus): steps.queries[scene.word],
        message("k of “{name}”", name=key): steps.keys[hand.pair],
    }
    given: list[Row] = [
        (name, (*(written(rounded(float(vector[d]), 1)) for d in hand.dimensions), "", ""))
        for name, vector in vectors.items()
    ]
    worked = tuple(Blank(written(each)) for each in (*hand.products, hand.score, hand.result))
    divisor = written(_divisor(scene))
    scores = (float(found[scene.word, hand.pair]) for found in (steps.scores, steps.scaled_scores))
    own = (
        number(float(q * k)) for q, k in zip(*(each[list(hand.dimensions)] for each in vectors.values()), strict=True)
    )
    product = Grid(
        message("The query of “{query}” and the key of “{key}”", query=focus, key=key),
        message("dimension"),
        (*map(str, hand.dimensions), message("sum"), f"÷ {divisor}"),
        (*given, (message("product"), worked)),
        own=((message("in the model"), (*own, *map(number, scores))),),
    )
    words = lesson("worksheet/dot-product", query=word(focus), key=word(key), d=scene.d_head, divisor=divisor)
    if scene.d_head > len(hand.dimensions):
        words += lesson("worksheet/dot-product-zeros")
    return Task(message("A dot product"), words, (product,), "")


def _columns(hand: Hand) -> tuple[str, ...]:
    names, n = hand.scene.key_names, len(hand.others)
    together = (messages("{n} other", "{n} others", n),) if n else ()
    return (*(names[key] for key in hand.keys), *together, message("sum"))


def _softmax(hand: Hand) -> Task:
    scene, focus = hand.scene, hand.scene.names[hand.scene.word]
    scores = {key: each for key, each in hand.scaled.items() if each is not None}

    def row(name: str, found: Mapping[int, Decimal], hidden: str, *rest: str | Blank) -> Row:
        cells = (Blank(written(found[key])) if key in scores else hidden for key in hand.keys)
        return name, (*cells, *rest)

    given = (
        f"{MINUS}∞" if key not in scores else Blank(written(scores[key])) if key == hand.pair else written(scores[key])
        for key in hand.keys
    )
    # The other keys' column; a text of few tokens has none.
    rest = ("",) if hand.others else ()
    rest_power = (written(hand.rest),) if hand.others else ()
    rest_weight = (Blank(written(hand.rest_weight)),) if hand.others else ()
    largest = {key: each - hand.largest for key, each in scores.items()}
    own = scene.steps.weights[scene.word].astype(np.float64)
    own_rest = (number(float(own[list(hand.others)].sum())),) if hand.others else ()
    grid = Grid(
        message("The row of “{name}”", name=focus),
        "",
        _columns(hand),
        (
            (message("scaled score"), (*given, *rest, "")),
            row(message("minus the largest"), largest, f"{MINUS}∞", *rest, ""),
            row(message("exp of that"), hand.exponentials, "0", *rest_power, Blank(written(hand.total))),
            row(message("weight"), hand.weights, "0", *rest_weight, "≈ 1"),
        ),
        own=((message("weight in the model"), (*(number(float(own[key])) for key in hand.keys), *own_rest, "1")),),
    )
    words = lesson("worksheet/softmax-row", pair=word(scene.key_names[hand.pair]))
    if hand.others:
        words += lesson("worksheet/softmax-row-others")
    told = lesson("worksheet/softmax-row-told", largest=_bold(hand.largest), total=_bold(hand.total))
    return Task(message("A row of softmax"), words, (grid, _exponentials()), told)


def _exponentials() -> Grid:
    tenths = [Decimal(tenth).scaleb(-1) for tenth in range(10)]
    rows: list[Row] = [
        (f"{MINUS}{whole}", tuple(written(exponential(-whole - tenth)) for tenth in tenths)) for whole in range(_LOWEST)
    ]
    columns = tuple(f".{tenth}" for tenth in range(10))
    return Grid(message("exp(x) for x from 0 to −5.9; below that, 0.00"), "x", columns, tuple(rows), is_small=True)


def _weighted_sum(hand: Hand) -> Task:
    scene, focus = hand.scene, hand.scene.names[hand.scene.word]
    rows: list[Row] = []
    for dimension in hand.outputs:
        rest = (written(hand.rest_value(dimension)),) if hand.others else ()
        values = (written(hand.value(key, dimension)) for key in hand.keys)
        rows.append((message("v, {name}", name=feature_of(scene, dimension)), (*values, *rest, "")))
        parts = (Blank(written(each)) for each in hand.parts(dimension))
        rows.append((message("weight × v"), (*parts, Blank(written(hand.output(dimension))))))
    own: list[Row] = []
    for dimension in hand.outputs:
        empty = ("",) * (len(_columns(hand)) - 1)
        own.append(
            (feature_of(scene, dimension), (*empty, number(float(scene.steps.head_outputs[scene.word, dimension]))))
        )
    grid = Grid(message("What “{name}” gets", name=focus), "", _columns(hand), tuple(rows), own=tuple(own))
    words = lesson("worksheet/weighted-sum", focus=word(focus), d=scene.steps.values.shape[1], n=len(hand.outputs))
    if hand.others:
        words += lesson("worksheet/weighted-sum-others")
    return Task(message("A weighted sum"), words, (grid,), "")


def _bold(value: Decimal) -> str:
    return f"<b>{written(value)}</b>"
