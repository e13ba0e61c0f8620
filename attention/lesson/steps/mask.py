"""The mask: keys that a query may not attend to get a score of −∞."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.steps import softmax
from attention.figures.matrix import Cell
from attention.lesson import latex
from attention.lesson.cell_explanation import Detail, indexed
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs
from attention.lesson.prose import exact, fact, lesson, listed, word
from attention.lesson.quiz import Guess
from attention.lesson.snippets import Values, shapes
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.tables import full_precision
from attention.lesson.transitions import masking, unmasked_name


def _formula(scene: HeadContext | None) -> str:
    return latex.attention(scene, mask="+ M")


def _words(scene: HeadContext) -> str:
    name = _mask_lesson(scene, bool(np.isneginf(scene.steps.mask).any()))
    told = lesson(
        name,
        unit=scene.info.reading.unit,
        padding=", ".join(dict.fromkeys(word(token.text) for token in scene.key_tokens if token.is_padding)),
    )
    reach = _window_width(scene, scene.layer)
    if reach:
        # Without the model's window, nothing would be hidden by hand.
        told = ("" if name == "mask/painted" else told) + lesson("mask/window", reach=reach)
    return told + _tell_seen(scene) + _tell_window(scene)


def _tell_seen(scene: HeadContext) -> str:
    """Return how many tokens the row in focus may look at; empty if nothing is hidden."""
    hidden = np.isneginf(scene.steps.mask)
    if not hidden.any():
        return ""
    return lesson("mask/seen", focus=scene.focus_word, visible=int((~hidden[scene.word]).sum()), total=hidden.shape[1])


def _tell_window(scene: HeadContext) -> str:
    """Say which layers have a sliding window, if not all or none."""
    reaches = {layer: _window_width(scene, layer) for layer in scene.trace.attended}
    if not any(reaches.values()) or all(reaches.values()):
        return ""
    windows = listed([str(layer + 1) for layer, reach in reaches.items() if reach])
    return lesson("mask/layers", windows=windows, count=len(scene.trace.layers))


def _window_width(scene: HeadContext, layer: int) -> int:
    """Return the width of a layer's sliding window, the token itself included; 0 if it sees all before it.

    A two-sided window is measured backwards.
    """
    if scene.use.looks_elsewhere:
        return 0
    n_tokens = sum(not token.is_padding for token in scene.tokens)
    places = np.arange(n_tokens)
    is_before = places <= places[:, None]
    seen = ~scene.trace.layers[layer].hidden(scene.head)[:n_tokens, :n_tokens] & is_before
    reach = int(seen.sum(axis=1).max(initial=0))
    is_window = np.array_equal(seen, is_before & (places[:, None] - places < reach))
    return reach if is_window and 0 < reach < n_tokens else 0


def _mask_lesson(scene: HeadContext, hides: bool) -> str:
    has_padding = any(token.is_padding for token in scene.key_tokens)
    if scene.hides_later:
        return "mask/decoder-padding" if has_padding else scene.hides_later
    if not hides:
        return scene.use.lesson("mask/none")
    if has_padding:
        return "mask/padding"
    return "mask/causal" if scene.attention.is_causal else "mask/painted"


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    change, title = masking(scene), f"{unmasked_name(scene)} + M"
    # Visible cells keep their colours.
    masked = pairs(scene, "masked", title, scene.steps.masked_scores, change.source.colour_limit)
    return (StepMatrix(replace(masked, later=_LATER if _could_be_causal(scene) else ""), _explain, change),)


_LATER = message("A decoder predicts the next token, so it would hide the hatched cells: later tokens.")


def _could_be_causal(scene: HeadContext) -> bool:
    """Return whether a causal mask could hide something here: self-attention over a text without a mask."""
    is_text = scene.info.reading.takes_sentences and not scene.use.looks_elsewhere
    return is_text and scene.attention.mask is None and not scene.hides_later and len(scene.tokens) > 1


def _explain(scene: HeadContext, cell: Cell) -> Detail:
    scaled = float(scene.steps.unmasked_scores[cell.row, cell.column])
    added = float(scene.steps.mask[cell.row, cell.column])
    names = {"query": scene.query_word(cell.row), "key": scene.key_word(cell.column)}
    title = lesson(
        "mask/cell",
        **names,
        scaled=fact(scaled),
        mask=fact(added),
        value=scene.steps.masked_scores[cell.row, cell.column],
    )
    visible = np.isfinite(scene.steps.masked_scores[cell.row])
    note = lesson(_cell_lesson(scene, cell), **names)
    if np.isneginf(added):
        note += lesson("mask/cell-hidden", visible=int(visible.sum()), total=visible.size)
    elif _could_be_causal(scene) and cell.column > cell.row:
        note += lesson("mask/cell-hatched", key=names["key"])
    row = np.where(visible, scene.steps.masked_scores[cell.row], 0)
    labels, axis = indexed(scene.key_labels), message("this row after masking")
    # The bars cannot show −∞; the table can.
    columns = {
        message("part"): list(labels),
        axis: full_precision(scene.steps.masked_scores[cell.row]),
    }
    return Detail(title, note, labels, row, axis, columns)


def _cell_lesson(scene: HeadContext, cell: Cell) -> str:
    if not np.isneginf(scene.steps.mask[cell.row, cell.column]):
        return "mask/cell-visible"
    if scene.key_tokens[cell.column].is_padding:
        return "mask/cell-padding"
    is_later = scene.attention.is_causal and cell.column > cell.row
    reach = _window_width(scene, scene.layer)
    if reach and not is_later and abs(cell.row - cell.column) >= reach:
        return "mask/cell-window"
    return "mask/cell-later" if is_later else "mask/cell-painted"


def _code(excerpt: CodeContext) -> str:
    steps = excerpt.scene.steps
    rows = excerpt.rows(steps.scores)
    mask = steps.mask[rows]
    return excerpt.fill(
        "mask",
        {
            **excerpt.write(scaled_scores=steps.unmasked_scores[rows]),
            **shapes(scores=mask),
            **_mask_values(mask, excerpt),
            **excerpt.cell(steps.masked_scores, rows),
        },
    )


def _mask_values(mask: Array, excerpt: CodeContext) -> Values:
    """Return the line of code for the mask: a rule if one fits, else its numbers."""
    values: Values = dict.fromkeys(("zeros_shape", "first_hidden", "n_hidden", "causal_shape", "mask"))
    n_keys = mask.shape[1]
    n_hidden = int(np.isneginf(mask[0]).sum())
    first_hidden = n_keys - n_hidden
    if np.array_equal(mask, np.zeros_like(mask)):
        return values | {"zeros_shape": repr(mask.shape)}
    if np.array_equal(mask, np.broadcast_to(np.where(np.arange(n_keys) < first_hidden, 0, -np.inf), mask.shape)):
        hidden: Values = {"first_hidden": str(first_hidden), "n_hidden": str(n_hidden)}
        return values | {"zeros_shape": repr(mask.shape)} | hidden
    if np.array_equal(mask, np.triu(np.full(mask.shape, -np.inf), k=1)):
        return values | {"causal_shape": repr(mask.shape)}
    return values | excerpt.write(mask=mask)


def _shapes(scene: HeadContext) -> str:
    size = f"{len(scene.tokens)}×{len(scene.key_tokens)}"
    return f"S ({size}) + M ({size}) → S ({size})"


def _guess(scene: HeadContext) -> Guess | None:
    """Ask how many cells a causal mask hides: the model's own or, where nothing is hidden, an imagined one."""
    n_queries, n_keys = scene.visible.shape
    n_closed = int((~scene.visible).sum())
    is_triangle = scene.attention.is_causal and not _window_width(scene, scene.layer)
    if n_queries != n_keys or n_queries < 3 or (n_closed and not is_triangle):
        return None
    true = n_closed or n_queries * (n_queries - 1) // 2
    offered = sorted({n_queries, n_queries * (n_queries - 1) // 2, n_queries * (n_queries + 1) // 2, true})
    total = n_queries**2
    because = lesson("guess/mask-because", count=true, rows=n_queries, last=n_queries - 1)
    question = lesson("guess/mask", total=total)
    right = frozenset({offered.index(true)})
    whys = {
        n_queries: lesson("guess/mask-why-rows", rows=n_queries),
        n_queries * (n_queries + 1) // 2: lesson("guess/mask-why-seen"),
    }
    told = tuple(whys.get(count, "") for count in offered)
    return Guess(question, tuple(map(str, offered)), because, right, whys=told)


# A smaller weight is negligible.
LEAST_TOLD = 0.01


def _whys(scene: HeadContext) -> str:
    """Say which weight a score of 0 would get: in the row in focus or, if that is negligible, in that of most."""
    if scene.visible[scene.word].sum() < 2:
        return ""
    # Where a decoder would hide later keys, one of those is taken; the last row has none.
    could_be_causal = _could_be_causal(scene)
    n_rows = len(scene.tokens) - 1 if could_be_causal else len(scene.tokens)
    rows = [row for row in range(n_rows) if scene.visible[row].sum() > 1]
    keys = {row: _hidden_key(scene, row, row + 1 if could_be_causal else 0) for row in rows}
    found = {row: _weight_of_zero(scene.steps.masked_scores[row], key) for row, key in keys.items()}
    row = max(found, key=found.__getitem__)
    if scene.word in found and (found[scene.word] >= LEAST_TOLD or found[row] < LEAST_TOLD):
        row = scene.word
    scores, key = scene.steps.masked_scores[row], keys[row]
    names = {"focus": scene.query_word(row), "key": scene.key_word(key)}
    if found[row] >= LEAST_TOLD:
        return lesson("mask/why-infinity", zero=exact(found[row]), **names)
    # Beside scores this high, 0 gets almost no weight, although softmax depends only on their differences.
    highest = float(np.delete(scores, key).max())
    lowered = exact(_weight_of_zero(scores - highest, key))
    return lesson("mask/why-infinity-shifted", highest=fact(highest), zero=lowered, **names)


def _hidden_key(scene: HeadContext, row: int, first: int) -> int:
    """Return the first hidden key of a row or, without one, that of the lowest score from ``first`` on."""
    hidden = np.flatnonzero(~scene.visible[row])
    return int(hidden[0]) if hidden.size else first + int(scene.steps.masked_scores[row, first:].argmin())


def _weight_of_zero(scores: Float[Array, " K"], key: int) -> float:
    """Return the weight of a key if its score were 0."""
    return float(softmax(np.where(np.arange(scores.size) == key, 0.0, scores))[key])


STEP = Step(
    key="mask",
    name=message("Mask"),
    title=message("Hide tokens that may not be seen"),
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("Why −∞, and not 0?"),
    whys=_whys,
    exhibits=_exhibits,
    code=_code,
    shapes=_shapes,
    unit=message("masked"),
    is_of_pairs=True,
    questions=("first", "after", "sums", "zero", "added"),
    filled_by="hidden",
    made_by="results",
)
