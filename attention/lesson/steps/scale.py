"""The scores are divided by √d_k, which keeps softmax from saturating."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.core.steps import softmax
from attention.figures.bars import Bars, spread_bars
from attention.figures.format import number
from attention.figures.matrix import Cell
from attention.lesson import latex
from attention.lesson.cell_explanation import Detail
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs
from attention.lesson.prose import exact, fact, lesson
from attention.lesson.quiz import TIE, Guess
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.steps.scores import explain_score
from attention.lesson.transitions import scaled_name, scaling, unmasked


def _own_title(scene: HeadContext) -> str | None:
    if scene.attention.scale < 1:
        return None
    is_plain = scene.attention.scale == 1
    return message("Leave the scores unchanged") if is_plain else message("Make the scores larger")


def _formula(scene: HeadContext | None) -> str:
    return latex.attention(scene, scale=f"/ {latex.divisor(scene) or 1}")


def _words(scene: HeadContext) -> str:
    divisor = f"<b>{scene.divisor(number(scene.d_head**0.5))}</b>"
    text = lesson(_words_lesson(scene), divisor=divisor, d_head=scene.d_head) + _tell_spread(scene)
    text = text if scene.attention.scale == 1 else text + _tell_unscaled(scene)
    return text + _tell_cap(scene)


def _tell_cap(scene: HeadContext) -> str:
    steps, cap = scene.steps, scene.attention.softcap
    if cap is None:
        return ""
    row, column = np.unravel_index(int(np.abs(steps.scaled_scores).argmax()), steps.scaled_scores.shape)
    return lesson(
        "scale/cap",
        cap=f"<b>{number(cap)}</b>",
        query=scene.query_word(row),
        key=scene.key_word(column),
        before=steps.scaled_scores[row, column],
        after=steps.unmasked_scores[row, column],
    )


def _tell_spread(scene: HeadContext) -> str:
    steps = scene.steps
    if steps.scores.size < 2 or scene.attention.scale == 1:
        return ""
    return lesson("scale/spread", before=steps.scores.std(), after=steps.scaled_scores.std())


def _words_lesson(scene: HeadContext) -> str:
    if scene.attention.has_usual_scale:
        return "scale/words"
    return "scale/words-none" if scene.attention.scale == 1 else "scale/words-own"


def _tell_unscaled(scene: HeadContext) -> str:
    """State the row's largest weight without scaling; the mask applies in both cases."""
    steps, row = scene.steps, scene.word
    focus, n_visible = scene.query_word(row), int(scene.visible[row].sum())
    best = int(steps.masked_scores[row].argmax())
    if n_visible < 2:
        return lesson("scale/weight-lone", focus=focus)
    return lesson(
        "scale/weight",
        focus=focus,
        best=scene.key_word(best),
        weight_unscaled=softmax(scene.attention.capped(steps.scores[row]) + steps.mask[row])[best],
        weight_scaled=steps.weights[row, best],
    )


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    change = scaling(scene)
    scaled = pairs(scene, "scaled", scaled_name(scene), scene.steps.scaled_scores)
    made = StepMatrix(change.source, explain_score), StepMatrix(scaled, _explain, change)
    if scene.attention.softcap is None:
        return made
    return (*made, StepMatrix(unmasked(scene), _explain_capped))


def _explain_capped(scene: HeadContext, cell: Cell) -> Detail:
    before = float(scene.steps.scaled_scores[cell.row, cell.column])
    after = float(scene.steps.unmasked_scores[cell.row, cell.column])
    title = lesson(
        "scale/cell-capped",
        query=scene.query_word(cell.row),
        key=scene.key_word(cell.column),
        cap=exact(float(scene.attention.softcap or np.inf)),
        before=exact(before),
        value=fact(after),
    )
    labels = (message("before"), message("after"))
    return Detail(title, "", labels, np.array([before, after]), message("score"))


def _explain(scene: HeadContext, cell: Cell) -> Detail:
    before = float(scene.steps.scores[cell.row, cell.column])
    after = float(scene.steps.scaled_scores[cell.row, cell.column])
    title = lesson(
        "scale/cell",
        query=scene.query_word(cell.row),
        key=scene.key_word(cell.column),
        before=fact(before),
        divisor=exact(1 / scene.attention.scale),
        value=fact(after),
    )
    labels = (message("before"), message("after"))
    return Detail(title, "", labels, np.array([before, after]), message("score"))


def _charts(scene: HeadContext) -> dict[str, Bars]:
    return {"spread": spread_bars(scene.steps.scores, scene.steps.scaled_scores)}


def _code(excerpt: CodeContext) -> str:
    steps, layer, d_k = excerpt.scene.steps, excerpt.scene.attention, excerpt.scene.d_head
    rows, scale = excerpt.rows(steps.scores), layer.scale
    is_usual = layer.has_usual_scale
    return excerpt.fill(
        "scale",
        {
            **excerpt.write(scores=steps.scores[rows]),
            "d_k": str(d_k) if is_usual else None,
            "scale": f"1 / d_k**0.5  # 1 / √{d_k} = {scale:.4f}" if is_usual else f"{scale!r}  # this model's own",
            "softcap": None if layer.softcap is None else repr(layer.softcap),
            **excerpt.cell(steps.unmasked_scores, rows),
        },
    )


def _shapes(scene: HeadContext) -> str:
    scores, divisor = f"S ({len(scene.tokens)}×{len(scene.key_tokens)})", scene.divisor(f"√{scene.d_head}")
    return f"{scores}{f' / {divisor}' if divisor else ''} → {scores}"


# The least weight that leaves next to nothing for the others.
NEARLY_ALL = 0.9


def _guess(scene: HeadContext) -> Guess | None:
    """Ask what happens to the row's largest weight if the scores are not divided."""
    if scene.attention.scale == 1 or scene.visible[scene.word].sum() < 2:
        return None
    key, scaled, plain = _largest(scene)
    names = {"focus": scene.focus_word, "best": scene.key_word(key)}
    answers = (
        message("it shrinks"),
        message("it stays the same, within {tie}", tie=TIE),
        message("it grows, but stays below {most}", most=NEARLY_ALL),
        message("it grows to {most} or more", most=NEARLY_ALL),
    )
    right = 1 if abs(plain - scaled) <= TIE else 0 if plain < scaled else 3 if plain >= NEARLY_ALL else 2
    close = {2: {3}, 3: {2}}.get(right, set())
    because = lesson("guess/scale-because", best=names["best"], scaled=exact(scaled), plain=exact(plain))
    question = lesson("guess/scale", **names, scaled=exact(scaled), divisor=scene.divisor(f"√{scene.d_head}"))
    apart = lesson("guess/scale-why-apart", times=fact(1 / scene.attention.scale))
    whys = (
        lesson("guess/scale-why-all"),
        lesson("guess/scale-why-order"),
        lesson("guess/scale-why-others"),
        apart if scene.attention.scale < 1 else "",
    )
    return Guess(question, answers, because, frozenset({right}), frozenset(close), whys=whys)


def _whys(scene: HeadContext) -> str:
    """Say why the divisor is a root, where it is one, and how the division affects softmax's slope."""
    text = lesson("scale/why-root", root=exact(scene.d_head**0.5)) if scene.attention.has_usual_scale else ""
    if scene.attention.scale == 1 or scene.visible[scene.word].sum() < 2:
        return text
    key, scaled, plain = _largest(scene)
    return text + lesson(
        "scale/why-gradient",
        focus=scene.focus_word,
        best=scene.key_word(key),
        scaled_slope=exact(scaled * (1 - scaled)),
        plain_slope=exact(plain * (1 - plain)),
    )


def _largest(scene: HeadContext) -> tuple[int, float, float]:
    """Return the key with the largest weight in the row in focus, that weight, and the weight without division."""
    steps, row = scene.steps, scene.word
    key = int(steps.weights[row].argmax())
    plain = softmax(np.where(scene.visible[row], scene.attention.capped(steps.scores[row]), -np.inf))
    return key, float(steps.weights[row, key]), float(plain[key])


STEP = Step(
    key="scale",
    name=message("Scale"),
    title=message("Make the scores smaller"),
    own_title=_own_title,
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("Why divide, and by a root?"),
    whys=_whys,
    exhibits=_exhibits,
    charts=_charts,
    code=_code,
    shapes=_shapes,
    main="scaled",
    unit=message("scaled"),
    is_of_pairs=True,
    is_side_by_side=True,
    questions=("scaled", "doubled", "added", "largest", "even"),
    filled_by="divided",
    made_by="results",
)
