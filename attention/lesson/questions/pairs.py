"""Questions about pairs of tokens: scores both ways, weights, and weighted values."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, listed
from attention.lesson.questions.base import ALIKE, can_choose, choosing, how_many, is_first, pick, several, some_see_one
from attention.lesson.quiz import TIE, Guess, words_of

# Relative to an even share: clearly less, clearly more.
_LESS, _MORE = 0.8, 1.2


def symmetric(scene: HeadContext) -> Guess | None:
    """Ask for the reverse score of the pair whose two scores differ most."""
    others = [key for key in words_of(scene.tokens) if key != scene.word]
    if scene.own_key is None or not others:
        return None
    row, column = scene.steps.scores[scene.word], scene.steps.scores[:, scene.word]
    other = max(others, key=lambda key: abs(float(row[key] - column[key])))
    forth, back = float(row[other]), float(column[other])
    if abs(forth) <= TIE:
        return None
    right = 0 if abs(forth - back) <= ALIKE else 1 if abs(forth + back) <= ALIKE else 2
    names = {"focus": scene.focus_word, "other": scene.query_word(other)}
    answers = (message("the same number"), message("the same number, opposite sign"), message("a different number"))
    reason = lesson("questions/symmetric-because", back=fact(back), **names)
    question = lesson("questions/symmetric", forth=fact(forth), **names)
    return pick(question, reason, lesson("questions/symmetric-why"), answers, right)


def largest(scene: HeadContext) -> Guess | None:
    """Ask whether the highest score of the head has the largest weight."""
    rows = np.flatnonzero(choosing(scene))
    if rows.size < 2:
        return None
    scores, weights = scene.steps.masked_scores[rows], scene.steps.weights[rows]
    row, key = np.unravel_index(int(scores.argmax()), scores.shape)
    top, top_key = np.unravel_index(int(weights.argmax()), weights.shape)
    runner_up = float(np.delete(weights, top, axis=0).max())
    if float(weights[top, top_key]) - runner_up <= ALIKE:
        return None
    place = {
        "query": scene.query_word(rows[row]),
        "key": scene.key_word(key),
        "score": fact(float(scores[row, key])),
    }
    answers = (message("at that pair"), message("in the same row, at another token"), message("in another row"))
    reason = lesson(
        "questions/largest-because-same" if row == top else "questions/largest-because",
        query=place["query"],
        key=place["key"],
        weight=weights[row, key],
        top=scene.query_word(rows[top]),
        top_key=scene.key_word(top_key),
        top_score=scores[top, top_key],
        top_weight=weights[top, top_key],
    )
    question = lesson("questions/largest-of-some" if some_see_one(scene) else "questions/largest", **place)
    return pick(question, reason, lesson("questions/largest-why"), answers, 0 if row == top else 2)


def itself(scene: HeadContext) -> Guess | None:
    """Ask how many tokens give the most weight to themselves."""
    rows = np.flatnonzero(choosing(scene))
    if scene.own_key is None or rows.size < 2:
        return None
    count = sum(is_first(scene.steps.weights[row], int(row)) for row in rows)
    row = scene.word if scene.word in rows else int(rows[-1])
    reason = lesson(
        "questions/itself-because",
        count=count,
        rows=len(rows),
        row=scene.query_word(row),
        own=scene.steps.weights[row, row],
    )
    question = lesson("questions/itself-of-some" if some_see_one(scene) else "questions/itself", rows=len(rows))
    return pick(question, reason, lesson("questions/itself-why"), several(), how_many(count, len(rows)))


def longer(scene: HeadContext) -> Guess | None:
    """Ask which of two keys adds more to the output, where the one with less weight has the longer value."""
    if not can_choose(scene):
        return None
    weights = scene.steps.weights[scene.word].astype(np.float64)
    lengths = np.linalg.norm(scene.steps.values.astype(np.float64), axis=1)
    parts = weights * lengths
    lead, behind = weights[:, None] - weights, parts - parts[:, None]
    clear = np.where((lead > TIE) & (behind > TIE), np.minimum(lead, behind), 0)
    heavy, long = (int(each) for each in np.unravel_index(int(clear.argmax()), clear.shape))
    if not clear[heavy, long]:
        return None
    one, two = sorted((heavy, long))
    answers = (scene.key_names[one], scene.key_names[two], message("both the same"))
    reason = lesson(
        "questions/longer-because",
        heavy=scene.key_word(heavy),
        heavy_part=parts[heavy],
        long=scene.key_word(long),
        long_part=parts[long],
    )
    question = lesson(
        "questions/longer",
        focus=scene.focus_word,
        one=scene.key_word(one),
        one_weight=weights[one],
        one_length=lengths[one],
        two=scene.key_word(two),
        two_weight=weights[two],
        two_length=lengths[two],
    )
    return pick(question, reason, lesson("questions/longer-why"), answers, int(long == two))


def special(scene: HeadContext) -> Guess | None:
    """Ask how much weight goes to special tokens, or to the first token, compared with an even share."""
    marks = [token.position for token in scene.key_tokens if token.is_special and not token.is_padding]
    idle = marks or ([0] if scene.attention.is_causal else [])
    rows = choosing(scene)
    if not idle or not rows.any():
        return None
    share = float(scene.steps.weights[rows][:, idle].sum(axis=1).mean())
    seen = scene.visible[rows]
    fair = float((seen[:, idle].sum(axis=1) / seen.sum(axis=1)).mean())
    low, high = _LESS * fair, _MORE * fair
    if high > 1 - TIE or min(abs(share - low), abs(share - high)) <= ALIKE:
        return None
    right = 0 if share < low else 1 if share <= high else 2
    low_told, high_told = f"{low:.2f}", f"{high:.2f}"
    answers = (
        message("less than {low}", low=low_told),
        message("between {low} and {high}", low=low_told, high=high_told),
        message("more than {high}", high=high_told),
    )
    names = listed([f"“{scene.key_word(key)}”" for key in idle])
    question = lesson("questions/special", names=names, fair=fact(fair))
    return pick(
        question,
        lesson("questions/special-because", share=fact(share)),
        lesson("questions/special-why"),
        answers,
        right,
    )


def first(scene: HeadContext) -> Guess | None:
    """Ask what the first token can see under a causal mask."""
    scores = scene.steps.unmasked_scores
    if scene.own_key is None or len(scores) < 2 or not scene.visible[0, 0]:
        return None
    answers = (
        message("nothing: its row is empty"),
        message("all tokens, as before"),
        message("only itself, with weight 1"),
        message("itself and the next one"),
    )
    token = scene.query_word(0)
    reason = lesson("questions/first-because", token=token, score=scores[0, 0])
    return pick(lesson("questions/first", token=token), reason, lesson("questions/first-why"), answers, 2)
