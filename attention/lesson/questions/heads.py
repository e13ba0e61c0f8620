"""Questions about several heads: their mean, their numbers, and how they are mixed."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, nonzero, word
from attention.lesson.questions.base import can_choose, how_many, is_first, leads, pick, several
from attention.lesson.quiz import Guess, words_seen

# Relative to the largest share; anything smaller counts as 0.
_NOTHING = 1e-6


def mean(scene: HeadContext) -> Guess | None:
    """Ask how many heads agree with the mean of all heads on the key with the largest weight."""
    n_heads = scene.info.n_heads
    if n_heads < 3 or not can_choose(scene):
        return None
    rows = np.stack([scene.attention.head(head).weights[scene.word] for head in range(n_heads)])
    average = rows.mean(axis=0)
    best = int(average.argmax())
    if not leads(average, best):
        return None
    count = sum(is_first(row, best) for row in rows)
    head, key = (int(each) for each in np.unravel_index(int((rows - average).argmax()), rows.shape))
    reason = lesson(
        "questions/mean-because",
        count=count,
        heads=n_heads,
        head=head + 1,
        key=scene.key_word(key),
        weight=rows[head, key],
        mean=average[key],
    )
    question = lesson(
        "questions/mean", heads=n_heads, focus=scene.focus_word, best=scene.key_word(best), weight=average[best]
    )
    return pick(question, reason, lesson("questions/mean-why"), several(), how_many(count, n_heads))


def namesake(scene: HeadContext) -> Guess | None:
    """Ask in how many other layers the head with the same number gives most to the same word."""
    layers, words = scene.trace.layers, words_seen(scene)
    if len(layers) < 3 or len(words) < 2 or scene.info.layer_kinds:
        return None
    rows = [layer.head(scene.head).weights[scene.word][words] for layer in layers]
    best = int(rows[scene.layer].argmax())
    if not leads(rows[scene.layer], best):
        return None
    others = [index for index in range(len(layers)) if index != scene.layer]
    count = sum(is_first(rows[index], best) for index in others)
    least = min(others, key=lambda index: float(rows[index][best]))
    names: dict[str, str | int] = {
        "head": scene.head + 1,
        "best": scene.key_word(words[best]),
        "others": len(others),
    }
    reason = lesson("questions/namesake-because", count=count, least=least + 1, least_weight=rows[least][best], **names)
    question = lesson("questions/namesake", focus=scene.focus_word, layer=scene.layer + 1, **names)
    return pick(question, reason, lesson("questions/namesake-why"), several(), how_many(count, len(others)))


def mixed(scene: HeadContext) -> Guess | None:
    """Ask how many heads contribute to one number of ΔE: the largest of the token in focus."""
    parts = scene.attention.projections
    n_heads = scene.info.n_heads
    if parts is None or n_heads < 2:
        return None
    change = scene.change[scene.word]
    dimension = int(np.abs(change).argmax())
    products = scene.joined[scene.word].astype(np.float64) * parts.W_O[:, dimension]
    shares = products.reshape(n_heads, -1).sum(axis=1)
    size = float(np.abs(shares).max())
    count = int((np.abs(shares) > _NOTHING * size).sum()) if size else 0
    if not count:
        return None
    right = 2 if count == n_heads else 0 if count == 1 else 1
    answers = (
        message("one: each head fills its own numbers"),
        message("several, but not all"),
        message("all {heads}", heads=n_heads),
    )
    order = np.argsort(-np.abs(shares), kind="stable")
    reason = lesson(
        "questions/mixed-because",
        count=count,
        heads=n_heads,
        head=int(order[0]) + 1,
        share=nonzero(float(shares[order[0]])),
        other=int(order[1]) + 1,
        other_share=nonzero(float(shares[order[1]])),
    )
    question = lesson(
        "questions/mixed",
        focus=scene.focus_word,
        dimension=word(scene.dimension_names[dimension]),
        value=change[dimension],
    )
    return pick(question, reason, lesson("questions/mixed-why"), answers, right)


def shape(scene: HeadContext) -> Guess | None:
    """Ask for the shape of a head's output."""
    n_queries, n_keys = scene.steps.weights.shape
    width, d_model = scene.steps.head_outputs.shape[-1], scene.info.d_model
    right = (n_queries, width)
    # Sorted, so that the right answer's position reveals nothing.
    shapes = sorted({right, (1, width), (n_queries, n_keys), (n_queries, d_model)})
    answers = [f"{n_rows} × {n_columns}" for n_rows, n_columns in shapes]
    reason = lesson("questions/shape-because", queries=n_queries, keys=n_keys, width=width)
    question = lesson("questions/shape", d_model=d_model)
    return pick(question, reason, lesson("questions/shape-why"), answers, shapes.index(right))
