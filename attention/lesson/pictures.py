"""The matrices that each step shows, in the order in which they are worked out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attention.figures.matrix import Matrix, Role
from attention.lesson.scene import Scene, numbered
from attention.segments import groups

__all__ = ["matrices"]

_ASKS, _ASKED = "queries (who asks)", "keys (who is asked)"


def matrices(step: str, scene: Scene) -> tuple[Matrix, ...]:
    """Return what a step shows, empty for the first step, whose picture is the tokens themselves."""
    return _PICTURES[step](scene) if step in _PICTURES else ()


def _embed(scene: Scene) -> tuple[Matrix, ...]:
    inputs, parts = scene.attention.inputs, scene.trace.embeddings
    pictures = []
    norm = scene.attention.norm
    if inputs is not None:
        title = f"X: what enters layer {scene.layer + 1}" + (f", after {norm.name}" if norm is not None else "")
        pictures.append(_vectors(scene, "inputs", title, inputs, scene.dimensions))
    if scene.is_cross and scene.attention.sources is not None:
        title = "Z: the encoder's output"
        pictures.append(_vectors(scene, "sources", title, scene.attention.sources, scene.dimensions, of_keys=True))
    if norm is not None and scene.layer and scene.stream is not None:
        title = f"Before {norm.name}: what layer {scene.layer} left"
        pictures.append(_vectors(scene, "stream", title, scene.stream, scene.dimensions))
    # The parts are added before the first layer; what enters a deeper one is not made of them alone.
    where = "" if scene.layer == 0 else ", added before layer 1"
    if parts is not None and scene.layer == 0:
        title = "Patch part" if scene.info.reads == "picture" else "Word part"
        pictures.append(_vectors(scene, "words", title, parts.words, scene.dimensions))
    if parts is not None and parts.positions is not None:
        pictures.append(_vectors(scene, "positions", f"Position part{where}", parts.positions, scene.dimensions))
    return tuple(pictures)


def _qkv(scene: Scene) -> tuple[Matrix, ...]:
    steps, is_turned = scene.steps, scene.attention.rotary is not None
    opened, closed = ("turn(", ")") if is_turned else ("", "")
    source = "Z" if scene.is_cross else "X"
    of_q, of_k, of_v = (
        f"{vectors}·W_{symbol}" + (f" + b_{symbol}" if scene.has_bias(symbol) else "")
        for vectors, symbol in zip(("X", source, source), "QKV", strict=True)
    )
    made = (
        _vectors(scene, "queries", f"Q = {opened}{of_q}{closed}", steps.queries, role="query"),
        _vectors(scene, "keys", f"K = {opened}{of_k}{closed}", steps.keys, role="key", of_keys=True),
        _vectors(scene, "values", f"V = {of_v}", steps.values, role="value", of_keys=True),
    )
    if not is_turned:
        return made
    queries, keys = scene.projected
    return (
        *made,
        _vectors(scene, "projected_queries", f"{of_q}, before turning", queries, role="query"),
        _vectors(scene, "projected_keys", f"{of_k}, before turning", keys, role="key", of_keys=True),
    )


def _scores(scene: Scene) -> tuple[Matrix, ...]:
    bias = "" if scene.attention.bias is None else " + B"
    return (_pairs(scene, "scores", f"S = Q·Kᵀ{bias}", scene.steps.scores),)


def _scale(scene: Scene) -> tuple[Matrix, ...]:
    before, after = scene.steps.scores, scene.steps.scaled_scores
    # One colour scale for both, so that the eye sees the spread shrink.
    limit = float(np.abs(before).max()) or 1.0
    return (
        _pairs(scene, "scores", "Before: S", before, limit),
        _pairs(scene, "scaled", f"After: {_scaled(scene)}", after, limit),
    )


def _scaled(scene: Scene) -> str:
    """Name the scaled scores: some models leave them as they are, or divide them by a number of their own."""
    divisor = scene.divisor("√dₖ")
    return f"S / {divisor}" if divisor else "S"


def _mask(scene: Scene) -> tuple[Matrix, ...]:
    return (_pairs(scene, "masked", f"{_scaled(scene)} + M", scene.steps.masked_scores),)


def _softmax(scene: Scene) -> tuple[Matrix, ...]:
    title = f"A = softmax({_scaled(scene)} + M)"
    return (_pairs(scene, "weights", title, scene.steps.weights, palette="weights", hidden=~scene.visible),)


def _sum(scene: Scene) -> tuple[Matrix, ...]:
    steps, word = scene.steps, scene.word
    products = steps.weights[word][:, None] * steps.values
    total = steps.head_outputs[word]
    visible = scene.visible[word]
    rows = tuple(
        f"{f'{weight:.2f}' if is_visible else '0'} × {label}"
        for weight, is_visible, label in zip(steps.weights[word], visible, scene.key_labels, strict=True)
    )
    contributions = Matrix(
        name="contributions",
        title=f"Weight × value, for {scene.focus.text}",
        values=np.vstack([products, total]),
        row_labels=(*rows, "Σ output"),
        column_labels=numbered(total.size),
        row_axis="weight × value of each token, and their sum",
        column_axis="dimensions of the head",
        palette="signed",
        alt=f"Weighted value vectors that add up to the output of {scene.focus.text}.",
        row_role="value",
        title_role="value",
        selected=scene.selected("contributions"),
        has_total_row=True,
        hidden=None if visible.all() else np.repeat(np.append(~visible, False)[:, None], total.size, axis=1),
    )
    outputs = _vectors(scene, "outputs", "O = A·V", steps.head_outputs, role="value")
    return contributions, outputs


def _heads(scene: Scene) -> tuple[Matrix, ...]:
    width = scene.steps.values.shape[-1]
    names = tuple(f"{head + 1}:{i}" for head in range(scene.info.n_heads) for i in range(width))
    concat = _vectors(scene, "joined", "All heads side by side", scene.joined, names, "value", width, "head:dimension")
    if scene.attention.projections is None:
        return (concat,)
    bias = " + b_O" if scene.has_bias("O") else ""
    change = _vectors(scene, "change", f"ΔE = joined·W_O{bias}", scene.change, scene.dimensions)
    return concat, change


def _pairs(
    scene: Scene,
    name: str,
    title: str,
    values: np.ndarray,
    limit: float | None = None,
    palette: str = "signed",
    hidden: np.ndarray | None = None,
) -> Matrix:
    return Matrix(
        name=name,
        title=title,
        values=values,
        row_labels=scene.labels,
        column_labels=scene.key_labels,
        row_axis=_ASKS,
        column_axis=_ASKED,
        palette="weights" if palette == "weights" else "signed",
        alt=f"{title}: {len(scene.labels)} queries by {len(scene.key_labels)} keys, "
        f"layer {scene.layer + 1}, head {scene.head + 1}.",
        row_role="query",
        column_role="key",
        limit=limit,
        focus_row=scene.word,
        selected=scene.selected(name),
        row_groups=groups(scene.tokens),
        column_groups=groups(scene.key_tokens),
        hidden=hidden if hidden is not None and hidden.any() else None,
    )


def _vectors(
    scene: Scene,
    name: str,
    title: str,
    values: np.ndarray,
    columns: tuple[str, ...] | None = None,
    role: Role = "plain",
    block_width: int | None = None,
    column_axis: str = "dimensions",
    *,
    of_keys: bool = False,
) -> Matrix:
    names = numbered(values.shape[1]) if columns is None else columns
    is_other = of_keys and scene.is_cross
    tokens, labels = (scene.key_tokens, scene.key_labels) if is_other else (scene.tokens, scene.labels)
    return Matrix(
        name=name,
        title=title,
        values=values,
        row_labels=labels,
        column_labels=names,
        row_axis="tokens",
        column_axis=column_axis,
        palette="signed",
        alt=f"{title}: one vector of {values.shape[1]} numbers for each of {values.shape[0]} tokens.",
        row_role=role,
        title_role=role,
        focus_row=None if is_other else scene.word,
        selected=scene.selected(name),
        block_width=block_width,
        row_groups=groups(tokens),
    )


_PICTURES: dict[str, Callable[[Scene], tuple[Matrix, ...]]] = {
    "embed": _embed,
    "qkv": _qkv,
    "scores": _scores,
    "scale": _scale,
    "mask": _mask,
    "softmax": _softmax,
    "sum": _sum,
    "heads": _heads,
}
