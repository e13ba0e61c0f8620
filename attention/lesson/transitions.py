"""Transitions between steps: a matrix before and after, with its kept and changed parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attention.core.messages import message, messages
from attention.core.trace import Token
from attention.figures.format import number
from attention.figures.matrix import Change, Matrix
from attention.figures.transition import Joining, Products, Split
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs
from attention.lesson.prose import listed


def scaled_name(scene: HeadContext) -> str:
    """Return the name of the scaled scores; some models do not scale, or use a divisor of their own."""
    divisor = scene.divisor("√dₖ")
    return f"S / {divisor}" if divisor else "S"


def unmasked_name(scene: HeadContext) -> str:
    """Return the name of the scores before masking: the scaled ones or, in a few models, the capped ones."""
    scaled = scaled_name(scene)
    return scaled if scene.attention.softcap is None else message("cap({scores})", scores=scaled)


def unmasked(scene: HeadContext) -> Matrix:
    """Return the scores before masking."""
    name = "scaled" if scene.attention.softcap is None else "capped"
    return pairs(scene, name, unmasked_name(scene), scene.steps.unmasked_scores)


# Some transitions are drawn inside the matrix, and need this many rows.
_LEAST_ROWS = 3


def comparing(scene: HeadContext) -> Products | None:
    """Return how the scores of the word in focus come from its query and all keys; None if there are too few rows."""
    steps, bias = scene.steps, scene.attention.bias
    (rows, width), columns = steps.queries.shape, len(steps.keys)
    if rows < _LEAST_ROWS:
        return None
    told = message(
        "Kept: Q, {rows} × {width}, and K, {columns} × {width}. "
        "Changed: each pair is now one number, the sum of {width} products.",
        rows=rows,
        columns=columns,
        width=width,
    )
    if bias is not None:
        told = " ".join((told, message("A bias is added.")))
    biases = None if bias is None else bias[scene.head, scene.word]
    return Products(told, message("Q and K"), scene.word, rows, steps.queries[scene.word], steps.keys, biases)


def scaling(scene: HeadContext) -> Change:
    """Return how the scores become scaled scores: divided by √d_k, or multiplied if that makes them larger."""
    before = pairs(scene, "scores", "S", scene.steps.scores)
    scale = scene.attention.scale
    if scale == 1:
        done = message("Changed: nothing.")
    elif scale < 1:
        done = message("Changed: each number ÷ {divisor}.", divisor=number(1 / scale))
    else:
        done = message("Changed: each number × {factor}.", factor=number(scale))
    return Change(before, "divide", _kept_and_changed(before, done), 1 / scale)


def masking(scene: HeadContext) -> Change:
    """Return how the mask is added to the scaled scores."""
    before = unmasked(scene)
    hidden = np.isneginf(scene.steps.masked_scores)
    n_hidden, total = int(hidden.sum()), hidden.size
    done = (
        messages(
            "Changed: {n} of {total} cells is now −∞.",
            "Changed: {n} of {total} cells are now −∞.",
            n_hidden,
            total=total,
        )
        if n_hidden
        else message("Changed: nothing.")
    )
    return Change(before, "mask", _kept_and_changed(before, done))


def weighing(scene: HeadContext) -> Change:
    """Return how each row of masked scores becomes weights."""
    limit = unmasked(scene).colour_limit
    before = pairs(scene, "masked", f"{unmasked_name(scene)} + M", scene.steps.masked_scores, limit)
    told = message(
        "Kept: {rows} × {columns} cells, and the order in each row. "
        "Changed: each number x is now eˣ ÷ the sum of eˣ in its row.",
        rows=before.values.shape[0],
        columns=before.values.shape[1],
    )
    return Change(before, "softmax", told)


def adding_up(scene: HeadContext, contributions: Matrix) -> Change:
    """Return how the values are weighted for the word in focus, and added up in the last row."""
    weights, values = scene.steps.weights[scene.word], scene.steps.values
    # The sum's row has no number yet; the colours are those of the weighted values, for comparison.
    before = replace(
        contributions,
        name="V",
        title="V",
        values=np.vstack([values, np.full(values.shape[1], np.nan, values.dtype)]),
        limit=contributions.colour_limit,
        hidden=None,
        selected=None,
    )
    told = message(
        "Kept: V, {rows} × {columns}. Changed: each row × its weight for “{focus}”, and all rows added up.",
        rows=values.shape[0],
        columns=values.shape[1],
        focus=scene.names[scene.word],
    )
    return Change(before, "share", told, weights=weights)


def joining(scene: HeadContext) -> Joining | None:
    """Return how the heads' outputs for the word in focus become ΔE; None if there are too few rows."""
    row, parts, n_heads, title = scene.word, scene.attention.projections, scene.info.n_heads, message("the heads")
    rows, width = scene.joined.shape
    if rows < _LEAST_ROWS:
        return None
    kept = messages(
        "Kept: the output of {n} head, {rows} × {width}.",
        "Kept: the outputs of {n} heads, now side by side, {rows} × {width}.",
        n_heads,
        rows=rows,
        width=width,
    )
    if parts is None:
        done = message("Changed: nothing.")
        return Joining(f"{kept} {done}", title, scene.head, n_heads, scene.joined[row])
    done = message("Changed: W_O, {width} × {d_model}, maps them to ΔE.", width=width, d_model=scene.change.shape[1])
    # The sum is drawn only if ΔE is known to be added without a norm.
    is_added = scene.knows_layers and scene.attention.added_norm is None
    stream = scene.stream[row] if is_added and scene.stream is not None else None
    return Joining(f"{kept} {done}", title, scene.head, n_heads, scene.joined[row], scene.change[row], stream)


def splitting(tokens: Sequence[Token]) -> Split | None:
    """Return how a text became these tokens; None for a picture or an empty text."""
    pieces = [token for token in tokens if _is_typed(token)]
    if not pieces or any(token.start is None for token in pieces):
        return None
    sizes = Counter((token.segment, token.word) for token in pieces)
    n_cut = sum(size > 1 for size in sizes.values())
    added = list(dict.fromkeys(token.text for token in tokens if not _is_typed(token)))
    told = [
        message("Kept: the text, in its order."),
        messages("Changed: now {n} token.", "Changed: now {n} tokens.", len(tokens)),
        messages("{n} word is cut into pieces.", "{n} words are cut into pieces.", n_cut) if n_cut else "",
        message("The model adds {names}.", names=listed(added)) if added else "",
    ]
    found: list[tuple[str, str] | None] = []
    before = None
    for token in tokens:
        found.append((token.typed, _gap(before, token)) if _is_typed(token) else None)
        before = token if _is_typed(token) else before
    return Split(" ".join(filter(None, told)), message("the text"), tuple(found))


def _is_typed(token: Token) -> bool:
    """Return whether a token comes from the text; a special token may have been typed too."""
    return not token.is_padding and (token.word is not None or not token.is_special)


def _gap(before: Token | None, token: Token) -> str:
    if before is None:
        return ""
    if before.segment != token.segment:
        return "\n"
    assert before.start is not None
    assert token.start is not None
    return " " if token.start > before.start + len(before.typed) else ""


def _kept_and_changed(before: Matrix, done: str) -> str:
    rows, columns = before.values.shape
    kept = message("Kept: {name}, {rows} × {columns}.", name=before.title, rows=rows, columns=columns)
    return f"{kept} {done}"
