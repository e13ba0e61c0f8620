"""A step that the course does not have, in one file: how undecided each row of weights is."""

from __future__ import annotations

import numpy as np

from attention.figures.bars import parts_bars
from attention.figures.matrix import Cell
from attention.lesson.cell_explanation import Detail, indexed
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import pairs, vectors
from attention.lesson.prose import fact, word
from attention.lesson.steps.base import Step, StepMatrix


def bits(weights: np.ndarray) -> np.ndarray:
    """Each weight's contribution to its row's entropy, −a·log₂ a, or 0 where it is 0."""
    return -weights * np.log2(np.where(weights > 0, weights, 1))


def _words(scene: HeadContext) -> str:
    total = fact(float(bits(scene.steps.weights[scene.word]).sum()))
    return f"<p>The row of {word(scene.names[scene.word])} is undecided by {total} bits.</p>"


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    parts = bits(scene.steps.weights)
    sums = parts.sum(axis=1, keepdims=True)
    return (
        StepMatrix(vectors(scene, "entropies", "H: one number for each row", sums, ("bits",)), _explain_entropy),
        StepMatrix(pairs(scene, "surprise", "−A·log₂ A", parts), _explain_part),
    )


def _explain_entropy(scene: HeadContext, cell: Cell) -> Detail:
    parts = bits(scene.steps.weights[cell.row])
    note = f"<p>{word(scene.names[cell.row])} has {fact(float(parts.sum()))} bits.</p>"
    return Detail(note, "", indexed(scene.key_labels), parts, "bits of each weight")


def _explain_part(scene: HeadContext, cell: Cell) -> Detail:
    weight = scene.steps.weights[cell.row, cell.column]
    note = f"<p>A weight of {fact(float(weight))} adds {fact(float(bits(weight)))} bits.</p>"
    return Detail(note, "", ("weight", "bits"), np.array([weight, bits(weight)]), "this cell")


def _charts(scene: HeadContext) -> dict:
    parts = bits(scene.steps.weights).sum(axis=1)
    return {"rows": parts_bars(scene.labels, parts, "bits of each row")}


def _code(excerpt: CodeContext) -> str:
    row = excerpt.scene.steps.weights[excerpt.row]
    said = f"{bits(row).sum():.2f}, the bits of {excerpt.label(excerpt.row)}"
    library = {"numpy": "import numpy as np", "pytorch": "import torch as np"}[excerpt.library]
    make = {"numpy": "array", "pytorch": "tensor"}[excerpt.library]
    lines = library, f"a = np.{make}({row.tolist()})", f'print(f"{{-(a * np.log2(a)).sum():.2f}}")  # {said}'
    return "\n".join(lines)


STEP = Step(
    key="entropy",
    name="Entropy",
    title="Ask how undecided a row is",
    own_title=lambda scene: "Ask how undecided a word is" if len(scene.key_tokens) > 1 else None,
    formula=lambda _: r"H = -\sum_k A_k \log_2 A_k",
    words=_words,
    exhibits=_exhibits,
    charts=_charts,
    code=_code,
    shapes=lambda scene: f"A ({len(scene.tokens)}×{len(scene.key_tokens)}) → H ({len(scene.tokens)}×1)",
    main="surprise",
    is_of_pairs=True,
    is_side_by_side=True,
)
