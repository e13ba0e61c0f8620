"""Position biases added to the scores: ALiBi's penalties, and T5's learnt numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core import positions
from attention.core.messages import message
from attention.core.steps import mask_scores, softmax
from attention.figures import charts
from attention.lesson.head_context import HeadContext
from attention.lesson.latex import K_T, Q
from attention.lesson.matrices import pairs, weight_matrix
from attention.lesson.prose import exact, lesson, word
from attention.lesson.tables import full_precision
from attention.page.blocks import Blocks, Formula, Picture, Prose, Row, Setting, as_table
from attention.page.labs.positions.knobs import N_SLOPES, SLOPE, opened
from attention.page.parameters import Values
from attention.page.settings import WORD

FURTHEST = 140  # T5's distances beyond share one number


def alibi(values: Values, scene: HeadContext | None) -> Blocks:
    """Show ALiBi's bias, and the head's weights with it."""
    slopes = positions.alibi_slopes(N_SLOPES)
    options = {index: f"1/{round(1 / slope)}" for index, slope in enumerate(slopes, 1)}
    knob = Setting(SLOPE, message("Slope m, for one of {n} heads", n=N_SLOPES), values[SLOPE], options)
    formula = rf"\mathrm{{softmax}}\!\left(\frac{{{Q}{K_T}}}{{\sqrt{{d_k}}}} - m\,|i-j|\right)"
    begun = (*opened(message("A penalty for distance"), values, knob), Formula(formula))
    if scene is None:
        return begun
    slope = float(slopes[values[SLOPE] - 1])
    bias = positions.alibi(slope, len(scene.tokens))
    steps = scene.steps
    weights = softmax(mask_scores(steps.unmasked_scores + bias, steps.mask))
    away = np.abs(positions.distances(len(scene.tokens)))
    before, after = ((each * away).sum(axis=1) for each in (steps.weights, weights))
    told = lesson("positions/alibi", slope=exact(slope)) + _tell_own(scene)
    drawn = (
        pairs(scene, "alibi", message("added bias"), bias),
        weight_matrix(scene, "own_weights", message("the model's own weights"), steps.weights),
        weight_matrix(scene, "alibi_weights", message("weights with this bias"), weights),
    )
    pictures = tuple((Picture(each.name, each, sets={"row": WORD}, is_selectable=True),) for each in drawn)
    columns = {
        message("from"): list(scene.labels),
        message("mean distance"): full_precision(before),
        message("mean distance with ALiBi"): full_precision(after),
    }
    return (
        *begun,
        Prose(told),
        Row(pictures, gap="small"),
        as_table("away", lambda: columns, file="distances"),
    )


def _tell_own(scene: HeadContext) -> str:
    """Say whether the model itself has such a penalty in this head."""
    own, model = scene.attention.slope(scene.head), word(scene.info.name)
    if own is None:
        return lesson("positions/alibi-not-own", model=model)
    return lesson("positions/alibi-own", model=model, own=exact(own))


def own_numbers(scene: HeadContext) -> Float[Array, "Q K"] | None:
    """Return the head's own position bias; None without one, or if it is linear as ALiBi's."""
    bias = scene.attention.bias
    return None if bias is None or scene.attention.slope(scene.head) is not None else bias[scene.head]


def t5(values: Values, scene: HeadContext | None) -> Blocks:
    """Show which distances share a number in T5 and, if the model has such numbers, this head's."""
    formula = rf"\mathrm{{softmax}}\!\left({Q}{K_T} + b_{{\,\mathrm{{bucket}}(j-i)}}\right)"
    begun = (*opened(message("A number for each distance"), values), Formula(formula))
    steps = np.arange(FURTHEST)
    before, after = (positions.t5_buckets(sign * steps) for sign in (-1, 1))
    stairs = charts.lines(
        [(message("keys before the query"), before.astype(float))],
        message("bucket of a key before the query"),
        message("Bucket of a key before the query, by distance."),
        message("distance"),
    )
    columns = {
        message("distance"): list(map(str, steps)),
        message("keys before the query"): list(map(str, before)),
        message("keys after it"): list(map(str, after)),
    }
    fold = as_table("buckets", lambda: columns, file="buckets")
    if scene is None:
        return (*begun, Picture("stairs", charts.Chart(stairs)), fold)
    bias = own_numbers(scene)
    if bias is not None:
        told = lesson("positions/t5-own", model=word(scene.info.name), head=scene.head + 1)
        picture = Picture("bias", pairs(scene, "bias", message("bias of this head"), bias))
        return (*begun, Prose(told), Row(((picture,), (Picture("stairs", charts.Chart(stairs)),))), fold)
    buckets = positions.t5_buckets(positions.distances(len(scene.tokens)))
    told = lesson(
        "positions/t5",
        cells=buckets.size,
        numbers=len(np.unique(buckets)),
        last=int(np.argmax(before == before[-1])),
    )
    title = message("bucket")
    alt = message("{title}: {n} queries by {n} keys.", title=title, n=len(buckets))
    square = replace(pairs(scene, "buckets", title, buckets.astype(np.float32)), are_counts=True, alt=alt)
    picture = Picture("buckets", square, sets={"row": WORD}, is_selectable=True)
    return (*begun, Prose(told), Row(((picture,), (Picture("stairs", charts.Chart(stairs)),))), fold)
