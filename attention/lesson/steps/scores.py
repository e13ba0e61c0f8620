"""The scores: every query times every key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.format import number
from attention.figures.matrix import Cell
from attention.lesson import latex
from attention.lesson.cell_explanation import Detail, tell_largest
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs
from attention.lesson.prose import exact, fact, lesson, word
from attention.lesson.quiz import Guess, highest
from attention.lesson.snippets import cut_note, shapes
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.transitions import comparing

# So many products fit into a sentence.
MOST_WRITTEN = 8


def _formula(scene: HeadContext | None) -> str:
    return latex.attention(scene, scores=latex.product(scene, latex.Q + latex.K_T))


def _words(scene: HeadContext) -> str:
    row = scene.steps.scores[scene.word]
    best, worst = int(row.argmax()), int(row.argmin())
    text = lesson(
        "scores/words",
        focus=scene.focus_word,
        best=scene.key_word(best),
        best_score=row[best],
        worst=scene.key_word(worst),
        worst_score=row[worst],
    )
    return text + _tell_bias(scene, best) + _tell_hidden_best(scene, best)


def _tell_bias(scene: HeadContext, best: int) -> str:
    layer = scene.attention
    if layer.bias is None:
        return ""
    if scene.has_sink:
        return lesson("scores/sink", score=fact(float(layer.bias[scene.head, scene.word, -1]) * layer.scale))
    facts = {
        "focus": scene.focus_word,
        "best": scene.key_word(best),
        "bias": fact(float(layer.bias[scene.head, scene.word, best])),
    }
    if (slope := layer.slope(scene.head)) is None:
        return lesson("scores/bias", **facts)
    return lesson("scores/bias-of-keys", step=exact(slope / layer.scale), **facts)


def _tell_hidden_best(scene: HeadContext, best: int) -> str:
    """Say that the mask will hide the highest-scoring key, if it will, and which visible key scores highest."""
    seen = scene.visible[scene.word]
    if seen[best] or not seen.any():
        return ""
    left = int(scene.steps.masked_scores[scene.word].argmax())
    return lesson(
        "scores/hidden",
        best=scene.key_word(best),
        left=scene.key_word(left),
        score=scene.steps.scores[scene.word, left],
    )


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    bias = "" if scene.attention.bias is None else " + B"
    scores = pairs(scene, "scores", f"S = Q·Kᵀ{bias}", scene.steps.scores)
    return (StepMatrix(scores, explain_score, comparing(scene)),)


def explain_score(scene: HeadContext, cell: Cell) -> Detail:
    """Explain a score by the products of query and key, and the position bias if there is one."""
    query, key = scene.steps.queries[cell.row], scene.steps.keys[cell.column]
    products = query * key
    labels = tuple(message("dimension {dimension}", dimension=i) for i in range(products.size))
    bias = scene.attention.bias
    title = lesson(
        "scores/cell" if bias is None else "scores/cell-biased",
        query=scene.query_word(cell.row),
        key=scene.key_word(cell.column),
        value=scene.steps.scores[cell.row, cell.column],
    )
    largest = tell_largest(products, labels)
    if bias is None:
        note = _products(query, key) + largest
        return Detail(title, note, labels, products, message("q × k, by dimension"))
    added = bias[scene.head, cell.row, cell.column]
    note = lesson(
        "scores/cell-products-bias", count=products.size, sum=exact(float(products.sum())), bias=exact(float(added))
    )
    parts = np.append(products, added)
    axis = message("q × k, by dimension, and the bias")
    return Detail(title, note + largest, (*labels, message("bias")), parts, axis)


def _products(query: Array, key: Array) -> str:
    """Return as HTML the products that add up to a score, written out if there are few."""
    if query.size > MOST_WRITTEN:
        return lesson("scores/cell-products", count=query.size)
    terms = [(_factor(q), _factor(k)) for q, k in zip(query, key, strict=True)]
    written = [f'<b class="q">{q}</b>&nbsp;·&nbsp;<b class="k">{k}</b>' for q, k in terms]
    return lesson("scores/cell-written", products=" + ".join(written))


def _factor(value: np.floating[Any]) -> str:
    return f"({number(float(value))})" if value < 0 else number(float(value))


def _code(excerpt: CodeContext) -> str:
    scene, steps = excerpt.scene, excerpt.scene.steps
    keys = excerpt.leading_rows(steps.keys)
    K, scores = steps.keys[keys], steps.scores[:, keys]
    rows = excerpt.rows(steps.queries, steps.scores)
    bias = scene.attention.bias
    return excerpt.fill(
        "scores",
        {
            **excerpt.write(Q=steps.queries[rows], K=K, B=None if bias is None else bias[scene.head, rows, keys]),
            **shapes(K_T=K.T, scores=scores[rows]),
            "cut_keys": cut_note(keys, steps.keys.shape[0], "keys"),
            **excerpt.cell(scores, rows),
        },
    )


def _shapes(scene: HeadContext) -> str:
    T, K, D = len(scene.tokens), len(scene.key_tokens), scene.d_head
    return f"Q ({T}×{D}) · Kᵀ ({D}×{K}) → S ({T}×{K})"


def _guess(scene: HeadContext) -> Guess | None:
    names, row = scene.key_names, scene.steps.scores[scene.word]
    return highest(
        scene,
        row,
        lesson("guess/scores", focus=scene.focus_word),
        lambda key: lesson("guess/scores-because", best=word(names[key]), score=row[key]),
    )


def _whys(scene: HeadContext) -> str:
    queries, keys = scene.steps.scores.shape
    return lesson(
        "scores/why-cost",
        queries=queries,
        keys=keys,
        scores=f"{queries * keys:,}",
        heads=scene.info.n_heads,
        doubled=f"{4 * queries * keys:,}",
    )


STEP = Step(
    key="scores",
    name=message("Scores"),
    title=message("Compare every query with every key"),
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("What does this cost?"),
    whys=_whys,
    exhibits=_exhibits,
    code=_code,
    shapes=_shapes,
    unit=message("scores"),
    is_of_pairs=True,
    questions=("symmetric", "cost", "turned", "negative", "largest"),
    made_by="products",
)
