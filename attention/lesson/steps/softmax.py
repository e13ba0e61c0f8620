"""Softmax: each row of scores becomes weights that add up to 1."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.figures import colours
from attention.figures.format import number
from attention.figures.matrix import Cell
from attention.lesson import latex
from attention.lesson.cell_explanation import Detail, indexed
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs
from attention.lesson.prose import SMALLEST_TOLD, exact, fact, lesson, listed, word
from attention.lesson.quiz import Guess, words_of, words_seen
from attention.lesson.snippets import shapes
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.tables import MASKED
from attention.lesson.transitions import scaled_name, weighing

# The least share of a head's weight on an attention sink.
MOST = 0.5
MAX_TIED = 5  # tokens with equal weight that are named
_OF_ROW = message("the weights of this row")


def _formula(scene: HeadContext | None) -> str:
    return latex.attention(scene, softmax=latex.coloured(colours.WEIGHT, r"\mathrm{softmax}"))


def _words(scene: HeadContext) -> str:
    masked = "" if scene.visible.all() else lesson("softmax/masked")
    return lesson("softmax/words") + masked + tell_weights(scene) + _tell_next(scene) + _tell_sink(scene)


def _tell_next(scene: HeadContext) -> str:
    """Say which word a row of the decoder predicts: the next one."""
    name = scene.use.asides.get("softmax")
    if name is None:
        return ""
    following = scene.names[scene.word + 1 : scene.word + 2]
    told = f"“{word(following[0])}”" if following else message("the end")
    return lesson(name, focus=scene.focus_word, next=told)


def _tell_sink(scene: HeadContext) -> str:
    """Return the text on attention sinks if the word in focus attends most to one; sinks are known for texts only."""
    if not scene.info.reading.has_sinks:
        return ""
    row = scene.steps.weights[scene.word]
    best, is_free = int(row.argmax()), scene.visible[scene.word].sum() > 1
    is_first = bool(scene.hides_later) and best == 0 and scene.word > 0
    if is_first and (_share(scene, 0) > MOST or (is_free and row[best] > MOST)):
        return _sink("softmax/sink-first", scene, best)
    why = tell_special(scene)
    return _sink("softmax/sink", scene, best, why) if why else ""


def tell_special(scene: HeadContext) -> str:
    """Say why a special token may get the most weight of the word in focus; empty if another token does."""
    best = int(scene.steps.weights[scene.word].argmax())
    is_sink = scene.info.reading.has_sinks and scene.key_tokens[best].is_special
    return lesson("softmax/sink-why") if is_sink else ""


def _sink(name: str, scene: HeadContext, best: int, why: str = "") -> str:
    """Return the text on a sink, why it may be one, and which word gets most of the rest, if that is still untold."""
    row = scene.steps.weights[scene.word]
    words = [position for position in words_of(scene.key_tokens) if position not in (scene.own_key, best)]
    facts = {"special": scene.key_word(best), "share": fact(_share(scene, best)), "rows": _rows_that_choose(scene)}
    text = lesson(name, **facts) + why
    second = max(words, key=row.__getitem__, default=best)
    is_told = second in np.argsort(-row, kind="stable")[:2]
    if is_told or row[second] < SMALLEST_TOLD or scene.word not in words_of(scene.tokens):
        return text
    return text + lesson(
        "softmax/sink-others", focus=scene.focus_word, best_word=scene.key_word(second), best_word_weight=row[second]
    )


def _rows_that_choose(scene: HeadContext) -> str:
    if _choosing(scene).all():
        return message("all rows")
    return message("the rows with more than one visible token")


def _share(scene: HeadContext, key: int) -> float:
    """Return the mean weight of a key over the rows that see more than one."""
    free = _choosing(scene)
    return float(scene.steps.weights[free, key].mean()) if free.any() else 0.0


def _choosing(scene: HeadContext) -> Bool[Array, " Q"]:
    return scene.visible.sum(axis=1) > 1


def tell_weights(scene: HeadContext) -> str:
    """Return as HTML which tokens the word in focus attends to."""
    row = scene.steps.weights[scene.word]
    order = np.argsort(-row, kind="stable")
    facts = {"focus": scene.focus_word, "best_weight": fact(float(row[order[0]]))}
    best = scene.key_word(order[0])
    visible = int(scene.visible[scene.word].sum())
    if visible < 2:
        return lesson("softmax/weights-one" if visible else "softmax/weights-none", best=best, **facts)
    second = float(row[order[1]])
    if second < SMALLEST_TOLD:
        rest = float(row[order[1:]].sum())
        return lesson(
            "softmax/weights-alone",
            best=best,
            rest=fact(rest) if rest >= SMALLEST_TOLD else message("less than {smallest}", smallest=SMALLEST_TOLD),
            **facts,
        )
    alike = [key for key in order if number(float(row[key])) == number(float(row[order[0]]))]
    if len(alike) > 1:
        return lesson("softmax/weights-tied", tied=_tied([scene.key_names[key] for key in alike]), **facts)
    runner_up = scene.key_word(order[1])
    return lesson("softmax/weights", best=best, second=runner_up, second_weight=fact(second), **facts)


def _tied(names: list[str]) -> str:
    named = [f"“{word(name)}”" for name in names[:MAX_TIED]]
    more = len(names) - MAX_TIED
    return listed([*named, messages("{n} more", "{n} more", more)]) if more > 0 else listed(named)


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    title = f"A = softmax({scaled_name(scene)} + M)"
    weights = pairs(scene, "weights", title, scene.steps.weights, palette="weights", hidden=~scene.visible)
    return (StepMatrix(weights, _explain, weighing(scene)),)


def _explain(scene: HeadContext, cell: Cell) -> Detail:
    scores, weights = scene.steps.masked_scores[cell.row], scene.steps.weights[cell.row]
    highest = float(scores.max())
    names = {"query": scene.query_word(cell.row), "key": scene.key_word(cell.column)}
    value = float(weights[cell.column])
    title = lesson("softmax/cell", **names, value=fact(value))
    if np.isneginf(highest):
        note = lesson("softmax/cell-no-row", query=names["query"])
        return Detail(title, note, indexed(scene.key_labels), weights, _OF_ROW, are_weights=True)
    shifted, visible = scores - highest, scene.visible[cell.row]
    exponentials = np.exp(shifted)
    if visible[cell.column]:
        note = lesson(
            "softmax/cell-sum",
            key=names["key"],
            exponential=exact(float(exponentials[cell.column])),
            total=exact(float(exponentials.sum())),
            highest=fact(highest),
            value=exact(value),
        )
    else:
        note = lesson("softmax/cell-hidden-note", visible=int(visible.sum()), total=visible.size)
    labels = indexed(scene.key_labels)
    columns = {
        message("key"): list(labels),
        message("score"): [number(float(s)) for s in scores],
        message("− maximum"): [number(float(s)) for s in shifted],
        "exp": [number(float(e), 4) if seen else "0" for e, seen in zip(exponentials, visible, strict=True)],
        message("weight"): [number(float(w), 4) if seen else MASKED for w, seen in zip(weights, visible, strict=True)],
    }
    return Detail(title, note, labels, weights, _OF_ROW, columns, are_weights=True)


def _code(excerpt: CodeContext) -> str:
    steps = excerpt.scene.steps
    rows = excerpt.rows(steps.scores)
    scores = steps.masked_scores[rows]
    is_guarded = bool(np.isneginf(scores).all(axis=-1).any())
    return excerpt.fill(
        "softmax",
        {
            **excerpt.write(masked_scores=scores),
            **shapes(scores=scores, column=scores[:, :1]),
            "zeros": ", 0 where a key is masked," if np.isneginf(scores).any() else "",
            "all_masked": "a row of nothing but -inf gives weights of 0, not nan" if is_guarded else None,
            **excerpt.cell(steps.weights, rows),
        },
    )


def _shapes(scene: HeadContext) -> str:
    size = f"{len(scene.tokens)}×{len(scene.key_tokens)}"
    return f"S ({size}) → A ({size})"


MAX_BARS = 8  # that can still be dragged precisely


def _guess(scene: HeadContext) -> Guess | None:
    """Ask for the weights of the row in focus, given its scores; in a long row, for the highest scores and the rest."""
    scores, weights = scene.steps.masked_scores[scene.word], scene.steps.weights[scene.word]
    order = [int(key) for key in np.argsort(-scores, kind="stable") if scene.visible[scene.word, key]]
    if len(order) < 2:
        return None
    is_long = len(order) > MAX_BARS
    shown = sorted(order[: MAX_BARS - 1] if is_long else order)
    names = [
        message("{name}, score {score}", name=scene.key_names[key], score=number(float(scores[key]))) for key in shown
    ]
    shares = [float(weights[key]) for key in shown]
    if is_long:
        others = [key for key in order if key not in shown]
        most = number(float(scores[others].max()))
        names.append(message("the other {count} together, each score at most {score}", count=len(others), score=most))
        shares.append(float(weights[others].sum()))
    best = order[0]
    because = lesson(
        "guess/softmax-because",
        best=scene.key_word(best),
        exponential=exact(1.0),
        second=scene.key_word(order[1]),
        second_exponential=exact(float(np.exp(scores[order[1]] - scores[best]))),
        weight=exact(float(weights[best])),
        second_weight=exact(float(weights[order[1]])),
    )
    question = lesson("guess/softmax", focus=scene.focus_word)
    return Guess(question, tuple(names), because, shares=tuple(shares))


def _whys(scene: HeadContext) -> str:
    weights, row = scene.steps.weights, scene.word
    if scene.visible[row].sum() < 2:
        return ""
    idle = [token.position for token in scene.key_tokens if token.is_special or token.position == 0]
    focus, text = scene.query_word(row), lesson("softmax/why-one")
    count = _n_idle(scene, idle)
    if count:
        text += lesson(
            "softmax/why-one-idle",
            focus=focus,
            idle=exact(float(weights[row, idle].sum())),
            count=count,
            heads=len(scene.attention.queries),
        )
    others = [key for key in words_seen(scene) if key != row]
    if scene.own_key is None or not others:
        return text
    other = max(others, key=weights[row].__getitem__)
    scores = scene.steps.scores
    return text + lesson(
        "softmax/why-asymmetric" if scene.visible[other, row] else "softmax/why-asymmetric-hidden",
        focus=focus,
        other=scene.query_word(other),
        forth=weights[row, other],
        back=weights[other, row],
        forth_score=scores[row, other],
        back_score=scores[other, row],
        column=weights[:, other].sum(),
    )


def _n_idle(scene: HeadContext, idle: list[int]) -> int:
    """Return how many of the layer's heads give these keys more than half of their weight, averaged over rows."""
    free = _choosing(scene)
    shares = (scene.attention.head(head).weights[free][:, idle] for head in range(len(scene.attention.queries)))
    return sum(float(share.sum(axis=1).mean()) > MOST for share in shares)


STEP = Step(
    key="softmax",
    name=message("Softmax"),
    title=message("Turn scores into weights"),
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("Why do rows add up to 1? Is attention symmetric?"),
    whys=_whys,
    exhibits=_exhibits,
    code=_code,
    shapes=_shapes,
    unit=message("weights"),
    is_of_pairs=True,
    questions=("sums", "zero", "added", "even", "largest"),
    filled_by="rest",
    made_by="shares",
)
