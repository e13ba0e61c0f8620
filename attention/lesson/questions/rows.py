"""Questions about softmax over a row of scores."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import softmax
from attention.figures.format import number
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import exact, fact, lesson, nonzero
from attention.lesson.questions.base import ALIKE, NEAR, can_choose, choosing, pick
from attention.lesson.quiz import TIE, Guess
from attention.measures.entropies import entropy, normalised_entropy

_ADDED = 5.0
# The least difference of two rows' normalised entropies.
_MORE_EVEN = 0.1


def sums(scene: HeadContext) -> Guess | None:
    """Ask what adds up to 1: each row, each column, both, or all weights together."""
    weights = scene.steps.weights
    rows, columns = weights.sum(axis=1), weights.sum(axis=0)
    if min(weights.shape) < 2 or float(np.abs(rows - 1).max()) > NEAR:
        return None
    is_padding = np.array([token.is_padding for token in scene.key_tokens])
    farthest = int(np.where(is_padding, 0, np.abs(columns - 1)).argmax())
    answers = (
        message("those of each column"),
        message("those of each row"),
        message("those of each row, and those of each column"),
        message("all of them together"),
    )
    reason = lesson(
        "questions/sums-because",
        focus=scene.focus_word,
        sum=rows[scene.word],
        key=scene.key_word(farthest),
        total=columns[farthest],
    )
    right = 2 if abs(float(columns[farthest]) - 1) <= TIE else 1
    return pick(lesson("questions/sums"), reason, lesson("questions/sums-why"), answers, right)


def zero(scene: HeadContext) -> Guess | None:
    """Ask for the weight that a score of 0 would get, for the key whose weight it would change most."""
    if not can_choose(scene):
        return None
    scores, weights = _scores(scene), scene.steps.weights[scene.word]
    keys = np.flatnonzero(scene.visible[scene.word])
    new = np.zeros(scores.size)
    for each in keys:
        new[each] = softmax(np.where(np.arange(scores.size) == each, 0.0, scores))[each]
    change = np.where(new >= ALIKE, new - weights, 0)
    key = int(np.abs(change).argmax())
    if abs(change[key]) <= TIE:
        return None
    answers = (message("none at all"), message("less than now, but some"), message("more than now"))
    weight = fact(float(weights[key]))
    reason = lesson("questions/zero-because", new=new[key], weight=weight)
    question = lesson(
        "questions/zero", focus=scene.focus_word, key=scene.key_word(key), score=scores[key], weight=weight
    )
    return pick(question, reason, lesson("questions/zero-why"), answers, 2 if change[key] > 0 else 1)


def added(scene: HeadContext) -> Guess | None:
    """Ask what happens to a row's weights if the same number is added to all its scores."""
    if not can_choose(scene):
        return None
    before, after_ = softmax(_scores(scene)), softmax(_scores(scene) + _ADDED)
    best = int(before.argmax())
    if float(np.abs(after_ - before).max()) > NEAR:
        return None
    answers = (
        message("they all grow"),
        message("the largest grows, the others shrink"),
        message("nothing"),
        message("they become more equal"),
    )
    reason = lesson(
        "questions/added-because", factor=np.exp(_ADDED), best=scene.key_word(best), before=exact(float(before[best]))
    )
    question = lesson("questions/added", focus=scene.focus_word)
    return pick(question, reason, lesson("questions/added-why"), answers, 2)


def doubled(scene: HeadContext) -> Guess | None:
    """Ask what happens to a row's weights if all its scores are doubled."""
    if not can_choose(scene):
        return None
    before, after_ = softmax(_scores(scene)), softmax(2 * _scores(scene))
    best = int(before.argmax())
    if after_[best] - before[best] <= TIE:
        return None
    answers = (
        message("nothing: their order stays"),
        message("the largest grows at the cost of others"),
        message("each weight is doubled"),
        message("they become more equal"),
    )
    reason = lesson("questions/doubled-because", best=scene.key_word(best), before=before[best], after=after_[best])
    question = lesson("questions/doubled", focus=scene.focus_word)
    return pick(question, reason, lesson("questions/doubled-why"), answers, 1)


def scaled(scene: HeadContext) -> Guess | None:
    """Ask what the division by √d does to the order and the weights of a row."""
    if not can_choose(scene) or scene.attention.scale == 1:
        return None
    scores = scene.attention.capped(scene.steps.scores[scene.word].astype(np.float64))
    plain = softmax(np.where(scene.visible[scene.word], scores, -np.inf))
    now = scene.steps.weights[scene.word]
    best = int(now.argmax())
    change = float(now[best] - plain[best])
    if abs(change) <= TIE or int(plain.argmax()) != best:
        return None
    answers = (
        message("another token may come first"),
        message("the order and the weights stay"),
        message("the order stays; the largest weight grows"),
        message("the order stays; the largest weight shrinks"),
    )
    reason = lesson("questions/scaled-because", best=scene.key_word(best), plain=plain[best], now=now[best])
    question = lesson("questions/scaled", focus=scene.focus_word, divisor=scene.divisor(f"√{scene.d_head}"))
    return pick(question, reason, lesson("questions/scaled-why"), answers, 2 if change > 0 else 3)


def negative(scene: HeadContext) -> Guess | None:
    """Ask for the weight of a negative score: the lowest visible one."""
    is_seen = scene.visible & choosing(scene)[:, None]
    scores = np.where(is_seen, scene.steps.masked_scores, np.inf)
    row, key = (int(each) for each in np.unravel_index(int(scores.argmin()), scores.shape))
    weight = float(scene.steps.weights[row, key])
    if scores[row, key] > -ALIKE or not weight:
        return None
    names = {"query": scene.query_word(row), "key": scene.key_word(key)}
    score = fact(float(scores[row, key]))
    answers = (message("a negative one"), message("exactly 0"), message("one above 0"))
    reason = lesson("questions/negative-because", weight=nonzero(weight))
    question = lesson("questions/negative", score=score, **names)
    return pick(question, reason, lesson("questions/negative-why"), answers, 2)


def after(scene: HeadContext) -> Guess | None:
    """Ask what a row adds up to if a weight is set to 0 after softmax instead of masked before it."""
    if not can_choose(scene):
        return None
    weights = scene.steps.weights[scene.word].astype(np.float64)
    best = int(weights.argmax())
    rest = float(weights.sum() - weights[best])
    if rest < TIE or weights[best] < TIE:
        return None
    other = int(np.where(np.arange(weights.size) == best, -1, weights).argmax())
    answers = (message("to 1, as before"), message("to less than 1"), message("to more than 1"))
    weight, key = fact(float(weights[best])), scene.key_word(best)
    reason = lesson(
        "questions/after-because",
        rest=fact(rest),
        other=scene.key_word(other),
        other_weight=weights[other],
        shared=fact(float(weights[other]) / rest),
    )
    question = lesson("questions/after", focus=scene.focus_word, key=key, weight=weight)
    return pick(question, reason, lesson("questions/after-why"), answers, 1)


def even(scene: HeadContext) -> Guess | None:
    """Ask which of two rows has the more even weights, given the range of their scores: the extremes of this head."""
    n_visible = scene.visible.sum(axis=1)
    rows = np.flatnonzero(choosing(scene) & (n_visible > 2))
    if rows.size < 2:
        return None
    evenness = normalised_entropy(entropy(scene.steps.weights), n_visible)
    sharp, level = int(rows[evenness[rows].argmin()]), int(rows[evenness[rows].argmax()])
    if evenness[level] - evenness[sharp] <= _MORE_EVEN:
        return None
    one, two = sorted((sharp, level))
    answers = (
        message("those of {name}", name=scene.names[one]),
        message("those of {name}", name=scene.names[two]),
        message("both alike: each row sums to 1"),
    )
    reason = lesson(
        "questions/even-because",
        level=scene.query_word(level),
        level_entropy=evenness[level],
        sharp=scene.query_word(sharp),
        sharp_entropy=evenness[sharp],
    )
    (one_low, one_high), (two_low, two_high) = (_range(scene, row) for row in (one, two))
    question = lesson(
        "questions/even",
        one=scene.query_word(one),
        one_low=one_low,
        one_high=one_high,
        two=scene.query_word(two),
        two_low=two_low,
        two_high=two_high,
    )
    return pick(question, reason, lesson("questions/even-why"), answers, int(level == two))


def _range(scene: HeadContext, row: int) -> tuple[str, str]:
    scores = scene.steps.masked_scores[row][scene.visible[row]]
    return f"<b>{number(float(scores.min()))}</b>", f"<b>{number(float(scores.max()))}</b>"


def _scores(scene: HeadContext) -> Float[Array, " K"]:
    scores: Float[Array, " K"] = scene.steps.masked_scores[scene.word].astype(np.float64)
    return scores
