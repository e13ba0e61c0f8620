"""Questions about pairs of tokens: scores both ways, weights, and weighted values."""

from __future__ import annotations

import numpy as np

from attention.core.masks import causal
from attention.core.messages import message
from attention.core.steps import mask_scores, softmax
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, listed, word
from attention.lesson.questions.base import ALIKE, NEAR, can_choose, choosing, how_many, is_first, pick, several
from attention.lesson.quiz import TIE, Guess, words_of

# Relative to an even share: clearly less, clearly more.
_LESS, _MORE = 0.8, 1.2


def symmetric(scene: HeadContext) -> Guess | None:
    """Ask for the score of a pair the other way round: the pair whose two scores differ most."""
    others = [key for key in words_of(scene.tokens) if key != scene.word]
    if scene.own_key is None or not others:
        return None
    row, column = scene.steps.scores[scene.word], scene.steps.scores[:, scene.word]
    other = max(others, key=lambda key: abs(float(row[key] - column[key])))
    forth, back = float(row[other]), float(column[other])
    if abs(forth) <= TIE:
        return None
    right = 0 if abs(forth - back) <= ALIKE else 1 if abs(forth + back) <= ALIKE else 2
    names = {"focus": word(scene.names[scene.word]), "other": word(scene.names[other])}
    others_meet = lesson("questions/symmetric-why")
    answers = (
        (message("the same number"), others_meet),
        (message("the same number, opposite sign"), others_meet),
        (message("a different number"), lesson("questions/symmetric-another")),
    )
    because = "questions/symmetric-because" if right else "questions/symmetric-because-same"
    reason = lesson(because, back=fact(back), **names)
    return pick(lesson("questions/symmetric", forth=fact(forth), **names), reason, answers, right)


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
        "query": word(scene.names[rows[row]]),
        "key": word(scene.key_names[key]),
        "score": fact(float(scores[row, key])),
    }
    answers = (
        (message("at that pair"), lesson("questions/largest-same")),
        (message("in the same row, at another token"), lesson("questions/largest-row")),
        (message("in another row"), lesson("questions/largest-other")),
    )
    if row == top:
        reason = lesson("questions/largest-because-same", weight=fact(float(weights[row, key])), **place)
    else:
        reason = lesson(
            "questions/largest-because",
            weight=fact(float(weights[row, key])),
            top=word(scene.names[rows[top]]),
            top_key=word(scene.key_names[top_key]),
            top_score=fact(float(scores[top, top_key])),
            top_weight=fact(float(weights[top, top_key])),
            **place,
        )
    question = lesson("questions/largest" if rows.size == len(scene.tokens) else "questions/largest-some", **place)
    return pick(question, reason, answers, 0 if row == top else 2)


def itself(scene: HeadContext) -> Guess | None:
    """Ask how many tokens give the most weight to themselves."""
    rows = np.flatnonzero(choosing(scene))
    if scene.own_key is None or rows.size < 2:
        return None
    count = sum(is_first(scene.steps.weights[row], int(row)) for row in rows)
    row = scene.word if scene.word in rows else int(rows[-1])
    given = row if is_first(scene.steps.weights[row], row) else int(scene.steps.weights[row].argmax())
    all_of_them, more, fewer, none = several()
    differ, counted = lesson("questions/itself-many"), lesson("questions/itself-few")
    answers = (
        (all_of_them, differ),
        (more, differ),
        (fewer, counted),
        (none, counted),
    )
    facts: dict[str, str | int] = {
        "count": count,
        "rows": len(rows),
        "row": word(scene.names[row]),
        "own": fact(float(scene.steps.weights[row, row])),
    }
    if given == row:
        reason = lesson("questions/itself-because-own", **facts)
    else:
        best_weight = fact(float(scene.steps.weights[row, given]))
        reason = lesson("questions/itself-because", best=word(scene.key_names[given]), weight=best_weight, **facts)
    question = "questions/itself" if rows.size == len(scene.tokens) else "questions/itself-some"
    return pick(lesson(question, rows=len(rows)), reason, answers, how_many(count, len(rows)))


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
    heavy_why = lesson("questions/longer-heavy", key=word(scene.key_names[heavy]))
    answers = (
        (scene.key_names[one], heavy_why),
        (scene.key_names[two], heavy_why),
        (message("both the same"), lesson("questions/longer-same")),
    )
    reason = lesson(
        "questions/longer-because",
        heavy=word(scene.key_names[heavy]),
        heavy_part=fact(float(parts[heavy])),
        long=word(scene.key_names[long]),
        long_part=fact(float(parts[long])),
    )
    question = lesson(
        "questions/longer",
        focus=word(scene.names[scene.word]),
        one=word(scene.key_names[one]),
        one_weight=fact(float(weights[one])),
        one_length=fact(float(lengths[one])),
        two=word(scene.key_names[two]),
        two_weight=fact(float(weights[two])),
        two_length=fact(float(lengths[two])),
    )
    return pick(question, reason, answers, int(long == two))


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
    why = lesson("questions/special-why")
    answers = (
        (message("less than {low}", low=low_told), why),
        (message("between {low} and {high}", low=low_told, high=high_told), why),
        (message("more than {high}", high=high_told), why),
    )
    names = listed([f"“{word(scene.key_names[key])}”" for key in idle])
    because = "questions/special-because" if marks else "questions/special-because-first"
    reason = lesson(because, share=fact(share), fair=fact(fair), names=names)
    question = lesson("questions/special", names=names, fair=fact(fair))
    return pick(question, reason, answers, right)


def first(scene: HeadContext) -> Guess | None:
    """Ask what the first token can see under a causal mask, the model's own or an imagined one."""
    scores = scene.steps.unmasked_scores
    if scene.own_key is None or len(scores) < 2 or not scene.visible[0, 0]:
        return None
    is_there = scene.attention.is_causal
    row = scene.steps.weights[0] if is_there else softmax(mask_scores(scores, causal(len(scores))))[0]
    if abs(float(row[0]) - 1) > NEAR:
        return None
    why = lesson("questions/first-why")
    answers = (
        (message("nothing: its row is empty"), why),
        (message("all tokens, as before"), why),
        (message("only itself, with weight 1"), ""),
        (message("itself and the next one"), why),
    )
    token = word(scene.names[0])
    reason = lesson("questions/first-because", token=token, score=fact(float(scores[0, 0])), weight=fact(float(row[0])))
    question = lesson("questions/first" if is_there else "questions/first-if", token=token)
    return pick(question, reason, answers, 2)
