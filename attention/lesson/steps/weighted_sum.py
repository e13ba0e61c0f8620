"""The weighted sum: the values are added up, each multiplied by its weight."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.figures.matrix import Cell, Matrix
from attention.lesson import latex
from attention.lesson.cell_explanation import Detail, indexed, tell_largest
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext, numbered
from attention.lesson.matrices import vectors
from attention.lesson.prose import exact, lesson, word
from attention.lesson.quiz import TIE, Guess
from attention.lesson.snippets import cut_note, shapes
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.transitions import adding_up


def _formula(scene: HeadContext | None) -> str:
    return latex.attention(scene, value=latex.V)


def _words(scene: HeadContext) -> str:
    weights = scene.steps.weights[scene.word]
    lengths = weights * np.linalg.norm(scene.steps.values, axis=1)
    best, largest = int(weights.argmax()), int(lengths.argmax())
    return lesson("sum/words", unit=scene.info.reading.unit) + lesson(
        "sum/most" if best == largest else "sum/most-other",
        focus=scene.focus_word,
        share=f"<b>{100 * float(weights[best]):.0f}</b>",
        best=scene.key_word(best),
        largest=scene.key_word(largest),
        largest_length=lengths[largest],
    )


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    steps, row = scene.steps, scene.word
    total = steps.head_outputs[row]
    values = np.vstack([steps.weights[row][:, None] * steps.values, total])
    visible = scene.visible[row]
    rows = tuple(
        f"{f'{weight:.2f}' if is_visible else '0'} × {label}"
        for weight, is_visible, label in zip(steps.weights[row], visible, scene.key_labels, strict=True)
    )
    contributions = Matrix(
        name="contributions",
        title=message("Weight × value, for “{text}”", text=scene.names[row]),
        values=values,
        row_labels=(*rows, message("Σ output")),
        column_labels=numbered(total.size),
        row_axis=message("weight × value of each token, and their sum"),
        column_axis=message("dimensions of the head"),
        palette="signed",
        alt=message("Weighted value vectors that sum to the output of “{text}”.", text=scene.names[row]),
        # A row that makes up nearly all of the sum is the point, not an outlier to clip.
        limit=float(np.abs(values).max()) or 1.0,
        row_role="value",
        title_role="value",
        selected=scene.selected("contributions"),
        has_total_row=True,
        hidden=None if visible.all() else np.repeat(np.append(~visible, False)[:, None], total.size, axis=1),
    )
    outputs = vectors(scene, "outputs", "O = A·V", steps.head_outputs, role="value")
    return StepMatrix(contributions, _explain, adding_up(scene, contributions)), StepMatrix(outputs, _explain)


def _explain(scene: HeadContext, cell: Cell) -> Detail:
    query = scene.word if cell.matrix == "contributions" else cell.row
    weights, values = scene.steps.weights[query], scene.steps.values
    if cell.matrix == "contributions" and cell.row < len(weights):
        weight, value = float(weights[cell.row]), float(values[cell.row, cell.column])
        title = lesson(
            "sum/cell-contribution",
            query=scene.query_word(query),
            key=scene.key_word(cell.row),
            weight=exact(weight),
            value=exact(value),
            dimension=cell.column,
            product=exact(weight * value),
        )
    else:
        title = lesson(
            "sum/cell",
            query=scene.query_word(query),
            dimension=cell.column,
            value=scene.steps.head_outputs[query, cell.column],
        )
    products = weights * values[:, cell.column]
    labels = indexed(scene.key_labels)
    note = lesson("sum/cell-products", count=products.size) + tell_largest(products, labels)
    return Detail(title, note, labels, products, message("weight × value, by token"))


def _code(excerpt: CodeContext) -> str:
    steps = excerpt.scene.steps
    columns = excerpt.columns(steps.values)
    rows = excerpt.rows(steps.weights)
    return excerpt.fill(
        "sum",
        {
            **excerpt.write(weights=steps.weights[rows], V=steps.values[:, columns]),
            **shapes(output=steps.head_outputs[rows, columns]),
            "cut_columns": cut_note(columns, steps.values.shape[1], "columns of V"),
            **excerpt.vector(steps.head_outputs[:, columns], rows),
        },
    )


def _shapes(scene: HeadContext) -> str:
    T, K, Dv = len(scene.tokens), len(scene.key_tokens), scene.steps.values.shape[-1]
    return f"A ({T}×{K}) · V ({K}×{Dv}) → O ({T}×{Dv})"


def _guess(scene: HeadContext) -> Guess | None:
    """Ask whether the token with the most weight also contributes the longest vector."""
    weights = scene.steps.weights[scene.word]
    if scene.visible[scene.word].sum() < 2:
        return None
    lengths = weights * np.linalg.norm(scene.steps.values, axis=1)
    best, (largest, second) = int(weights.argmax()), (int(key) for key in np.argsort(-lengths, kind="stable")[:2])
    other = second if best == largest else largest
    is_level = lengths[best] >= lengths[largest] - TIE
    focus, name = scene.focus_word, scene.key_word(best)
    because = lesson(
        "guess/sum-because" if best == largest else "guess/sum-because-other",
        length=lengths[best],
        other=scene.key_word(other),
        other_weight=weights[other],
        other_length=lengths[other],
        best=name,
    )
    right = {index for index, is_right in enumerate((is_level, best != largest)) if is_right}
    question = lesson("guess/sum", focus=focus, best=name, weight=weights[best])
    norms = np.linalg.norm(scene.steps.values, axis=1)
    longest = int(np.where(scene.visible[scene.word], norms, 0).argmax())
    longer = lesson(
        "guess/sum-why-longer",
        other=scene.key_word(longest),
        other_length=norms[longest],
        best=name,
        length=norms[best],
    )
    whys = (lesson("guess/sum-why-most", best=name), longer if longest != best else "")
    return Guess(question, (message("yes"), message("no, another does")), because, frozenset(right), whys=whys)


def _whys(scene: HeadContext) -> str:
    weights, own = scene.steps.weights, scene.word
    if scene.visible[own].sum() < 2:
        return ""
    lengths = weights * np.linalg.norm(scene.steps.values, axis=1)
    heaviest, longest = weights.argmax(axis=1), lengths.argmax(axis=1)
    # The word in focus, or the row in which weight and contribution disagree most.
    is_word = np.array([not token.is_padding for token in scene.tokens])
    missed = is_word * (lengths.max(axis=1) - lengths[np.arange(len(lengths)), heaviest])
    row = own if heaviest[own] != longest[own] else int(missed.argmax())
    names = scene.key_names
    beyond = lesson("sum/why-importance-beyond", unit=scene.info.reading.unit)
    if heaviest[row] == longest[row]:
        told = lesson(
            "sum/why-importance-agreed",
            focus=scene.query_word(own),
            best=word(names[heaviest[own]]),
            weight=weights[own, heaviest[own]],
            length=lengths[own, heaviest[own]],
        )
        return told + beyond
    told = lesson(
        "sum/why-importance",
        focus=scene.query_word(row),
        best=word(names[heaviest[row]]),
        weight=weights[row, heaviest[row]],
        length=lengths[row, heaviest[row]],
        largest=word(names[longest[row]]),
        largest_weight=weights[row, longest[row]],
        largest_length=lengths[row, longest[row]],
    )
    return told + beyond


STEP = Step(
    key="sum",
    name=message("Weighted sum"),
    title=message("Add up the values"),
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("Is the largest weight the most important?"),
    whys=_whys,
    exhibits=_exhibits,
    code=_code,
    shapes=_shapes,
    is_side_by_side=True,
    questions=("longer", "shape", "after", "itself", "special"),
    made_by="outputs",
)
