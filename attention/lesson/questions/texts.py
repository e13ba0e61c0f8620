"""Questions about a text: its words, their order, and its length."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.experiments.shuffled import can_be_reordered, first_head
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, length, lesson
from attention.lesson.questions.base import NEAR, pick
from attention.lesson.quiz import TIE, Guess, repeated, words_of


def rows(scene: HeadContext) -> Guess | None:
    """Ask which has more rows, Q or K."""
    n_queries, n_keys = len(scene.steps.queries), len(scene.steps.keys)
    answers = ("Q", "K", message("both the same"))
    reason = lesson("questions/rows-because", queries=n_queries, keys=n_keys)
    right = 2 if n_queries == n_keys else int(n_keys > n_queries)
    return pick(lesson("questions/rows"), reason, lesson("questions/rows-why"), answers, right)


def equal(scene: HeadContext) -> Guess | None:
    """Ask whether a repeated token has the same vector both times, before positions are added."""
    parts, inputs = scene.trace.embeddings, scene.attention.inputs
    if parts is None or inputs is None or scene.own_key is None:
        return None
    twice = repeated(scene.tokens)
    if twice is None or not np.array_equal(parts.words[twice[0]], parts.words[twice[1]]):
        return None
    one, other = twice
    answers = (
        message("no: it contains the position"),
        message("yes, number for number"),
        message("no: it contains the neighbours"),
    )
    reason = lesson(
        "questions/equal-because",
        layer=scene.layer + 1,
        difference=length(inputs[one] - inputs[other]),
    )
    question = lesson("questions/equal", one=scene.query_word(one), other=scene.query_word(other))
    return pick(question, reason, lesson("questions/equal-why"), answers, 1)


def turned(scene: HeadContext) -> Guess | None:
    """Ask what happens to a weight in the first layer if the words are reversed and positions are left out."""
    words = words_of(scene.tokens)
    if len(words) < 3 or scene.own_key is None or not can_be_reordered(scene.trace):
        return None
    order = np.arange(len(scene.tokens))
    order[words] = words[::-1]
    before = first_head(scene.trace, scene.head, range(len(order)), with_positions=False).weights
    after = first_head(scene.trace, scene.head, order.tolist(), with_positions=False).weights
    one = scene.word if scene.word in words else words[0]
    # Each token's new position. A weight may follow its two tokens, or stay with the key's old position.
    place = np.argsort(order)
    weights, follows, stays = before[one], after[place[one]][place], after[place[one]]
    change, is_apart = np.abs(follows - weights), np.abs(stays - weights) > TIE
    others = [key for key in words if key != one and is_apart[key] and (change[key] <= NEAR or change[key] > TIE)]
    if not others:
        return None
    other = max(others, key=lambda key: float(max(weights[key], follows[key])))
    is_same = bool(change[other] <= NEAR)
    answers = (
        message("a different number: the positions differ"),
        message("the same number"),
        message("it goes to the token now in that position"),
    )
    shown = fact(float(weights[other]))
    reason = lesson("questions/turned-because", before=shown, after=follows[other])
    question = lesson(
        "questions/turned", head=scene.head + 1, before=shown, one=scene.query_word(one), other=scene.query_word(other)
    )
    return pick(question, reason, lesson("questions/turned-why"), answers, int(is_same))


def cost(scene: HeadContext) -> Guess | None:
    """Ask how many scores a head would have for a text twice as long."""
    if scene.own_key is None:
        return None
    count = len(scene.tokens)
    scores = count**2
    answers = tuple(f"{factor * scores:,}" for factor in (1, 2, 4, 8))
    reason = lesson("questions/cost-because", twice=2 * count, scores=f"{4 * scores:,}")
    question = lesson("questions/cost", count=count, scores=f"{scores:,}")
    return pick(question, reason, lesson("questions/cost-why"), answers, 2)
