"""The heads' outputs, concatenated and multiplied by W_O: ΔE, the layer's addition to each token's vector."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.steps import output_projection
from attention.experiments.head_resplit import contributions
from attention.figures.matrix import Cell
from attention.lesson.cell_explanation import Detail, tell_largest
from attention.lesson.code_context import CodeContext
from attention.lesson.factors import joined_names, weights_of
from attention.lesson.head_context import HeadContext
from attention.lesson.matrices import vectors
from attention.lesson.prose import length, lesson, word
from attention.lesson.quiz import Guess
from attention.lesson.snippets import Values, cut_note, shapes
from attention.lesson.steps.base import Step, StepMatrix
from attention.lesson.transitions import joining


def _formula(scene: HeadContext | None) -> str:
    is_plain = scene is not None and scene.attention.projections is not None and not scene.has_bias("O")
    bias = "" if is_plain else " + b_O"
    joined = r"\mathrm{Concat}(\mathrm{head}_1, \dots, \mathrm{head}_H)"
    if scene is not None and scene.attention.projections is None:
        return rf"\Delta E = f_O({joined})"
    return rf"\Delta E = {joined} \allowbreak \, W_O{bias}"


def _words(scene: HeadContext) -> str:
    layer, row = scene.attention, scene.word
    if layer.projections is None:
        return lesson("heads/words-unknown", n_heads=scene.info.n_heads)
    lengths = _lengths(scene)
    largest = int(lengths.argmax())
    changed = lesson(
        "heads/words",
        focus=scene.focus_word,
        change=length(scene.change[row]),
        largest=largest + 1,
        largest_length=lengths[largest],
    )
    return _tell_joining(scene) + _tell_several(scene) + changed


def _lengths(scene: HeadContext) -> Array:
    """Return the norm of each head's part of ΔE for the word in focus, if W_O is known."""
    assert scene.attention.projections is not None
    return contributions(scene.all_outputs[:, [scene.word]], scene.attention.projections).lengths[0]


def _tell_joining(scene: HeadContext) -> str:
    matrix = "W<sub>O</sub>"
    if scene.has_bias("O"):
        matrix = message("{matrix}, with a bias {bias}", matrix=matrix, bias="b<sub>O</sub>")
    info = scene.info
    if info.group_size == 1:
        return lesson("heads/joining", n_heads=info.n_heads, matrix=matrix) + _tell_added(scene)
    joining = lesson(
        "heads/joining-shared",
        n_heads=info.n_heads,
        size=info.group_size,
        matrix=matrix,
    )
    return joining + _tell_added(scene)


def _tell_added(scene: HeadContext) -> str:
    layer = scene.attention
    if scene.info.beside:
        return lesson("heads/added-beside", beside=scene.info.beside)
    if not scene.knows_layers:
        return lesson("heads/added-unknown")
    if layer.added_norm is None:
        return lesson("heads/added")
    return lesson("heads/added-normed", norm=layer.added_norm.name)


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    width, names = scene.steps.values.shape[-1], joined_names(scene)
    title, axis = message("All heads side by side"), message("head:dimension")
    concat = vectors(scene, "joined", title, scene.joined, names, "value", width, axis)
    joined = StepMatrix(concat, _explain_joined, joining(scene))
    if scene.attention.projections is None:
        return (joined,)
    bias = " + b_O" if scene.has_bias("O") else ""
    change = vectors(scene, "change", f"ΔE = joined·W_O{bias}", scene.change, scene.dimensions)
    return joined, StepMatrix(change, _explain_change)


def _factors(scene: HeadContext) -> Mapping[str, tuple[StepMatrix, ...]]:
    """Return the factors of ΔE, and ΔE itself; {} if W_O is unknown."""
    weights = weights_of(scene, "O", ["change"])
    if not weights:
        return {}
    joined, change = _exhibits(scene)
    return {"O": (joined, *(StepMatrix(*each) for each in weights), change)}


def _explain_change(scene: HeadContext, cell: Cell) -> Detail:
    projections = scene.attention.projections
    assert projections is not None
    outputs = scene.all_outputs[:, cell.row]
    weight = projections.W_O[:, cell.column].reshape(outputs.shape)
    parts = (outputs * weight).sum(axis=1)
    labels = tuple(message("head {head}", head=head + 1) for head in range(len(parts)))
    if projections.b_O is not None:
        parts = np.append(parts, projections.b_O[cell.column])
        labels += (message("bias"),)
    title = lesson(
        "heads/cell",
        word=scene.query_word(cell.row),
        dimension=word(scene.dimension_names[cell.column]),
        value=parts.sum(),
    )
    note = lesson("heads/cell-heads" if projections.b_O is None else "heads/cell-heads-bias", count=len(outputs))
    return Detail(title, note + tell_largest(parts, labels), labels, parts, message("contribution of each head"))


def _explain_joined(scene: HeadContext, cell: Cell) -> Detail:
    head, dimension = divmod(cell.column, scene.steps.values.shape[-1])
    output = scene.all_outputs[head, cell.row]
    title = lesson(
        "heads/cell-joined",
        word=scene.query_word(cell.row),
        head=head + 1,
        dimension=dimension,
        value=output[dimension],
    )
    labels = tuple(message("dimension {dimension}", dimension=i) for i in range(output.size))
    return Detail(title, "", labels, output, message("the output of head {head}", head=head + 1))


def _code(excerpt: CodeContext) -> str:
    scene = excerpt.scene
    layer, parts = scene.attention, scene.attention.projections
    joined = layer.joined()
    n_heads = layer.queries.shape[0]
    rows = excerpt.recorded_rows(joined)
    head_outputs = joined[rows].reshape(-1, n_heads, joined.shape[1] // n_heads).swapaxes(0, 1)
    values: Values = {"place": f"layer {scene.layer + 1}", **shapes(joined=joined[rows]), **_own_output(excerpt, rows)}
    if parts is None:
        note = "Here the code stops at the joined heads: the W_O of this model is not known."
        unknown = excerpt.write(head_outputs=head_outputs, W_O=None, b_O=None, delta=None)
        return excerpt.fill(
            "heads",
            {
                **values,
                **unknown,
                "result": "joined",
                "cut_columns": note,
                **excerpt.vector(joined, rows),
            },
        )

    columns = excerpt.columns(parts.W_O, is_last=True)
    delta = output_projection(joined, parts.W_O, parts.b_O)[:, columns]
    return excerpt.fill(
        "heads",
        {
            **values,
            **excerpt.write(head_outputs=head_outputs, W_O=parts.W_O[:, columns]),
            **shapes(delta=delta[rows]),
            **excerpt.write_bias("b_O", None if parts.b_O is None else parts.b_O[columns]),
            "result": "delta",
            "cut_columns": cut_note(columns, parts.W_O.shape[1], "columns of W_O"),
            **excerpt.vector(delta, rows),
        },
    )


def _own_output(excerpt: CodeContext, rows: slice) -> Values:
    """Return the line that inserts this head's output among the others', if the code has computed it."""
    is_computed = excerpt.continued is not None and "output" in excerpt.continued.made
    which = "" if rows == slice(None) else f"[{rows.start}:{rows.stop}]"
    return {"head": str(excerpt.scene.head), "own": f"output{which}" if is_computed else None}


def _shapes(scene: HeadContext) -> str:
    T, M, H, Dv = len(scene.tokens), scene.info.d_model, scene.info.n_heads, scene.steps.values.shape[-1]
    b_O = f" + b_O ({M})" if scene.has_bias("O") else ""
    heads = messages("{n} head", "{n} heads", H)
    joined = message("{heads} × ({one}) → joined ({all})", heads=heads, one=f"{T}×{Dv}", all=f"{T}×{H * Dv}")
    by_weights = "" if scene.attention.projections is None else f" · W_O ({H * Dv}×{M}){b_O}"
    return f"{joined}{by_weights} → ΔE ({T}×{M})"


def _guess(scene: HeadContext) -> Guess | None:
    """Ask whether the head with the largest weight in the row in focus also adds the longest vector."""
    if scene.attention.projections is None or scene.info.n_heads < 2:
        return None
    lengths = _lengths(scene)
    rows = np.stack([scene.attention.head(head).weights[scene.word] for head in range(scene.info.n_heads)])
    sharpest, largest = int(rows.max(axis=1).argmax()), int(lengths.argmax())
    best, is_same = int(rows[sharpest].argmax()), sharpest == largest
    head = sharpest + 1
    because = lesson(
        "guess/heads-because-same" if is_same else "guess/heads-because",
        length=lengths[sharpest],
        largest=largest + 1,
        largest_length=lengths[largest],
        largest_weight=rows[largest].max(),
        head=head,
    )
    question = lesson(
        "guess/heads",
        count=len(lengths),
        layer=scene.layer + 1,
        head=head,
        focus=scene.focus_word,
        best=scene.key_word(best),
        weight=rows[sharpest, best],
    )
    answers = (message("yes"), message("no, another head adds a larger vector"))
    why = lesson("guess/heads-why")
    whys = ("", why) if is_same else (why, "")
    return Guess(question, answers, because, frozenset({int(not is_same)}), whys=whys)


def _tell_several(scene: HeadContext) -> str:
    """Say how two heads differ in the row in focus: those with the largest weights on different keys."""
    if scene.info.n_heads < 2 or scene.visible[scene.word].sum() < 2:
        return ""
    rows = np.stack([scene.attention.head(head).weights[scene.word] for head in range(scene.info.n_heads)])
    best, order = rows.argmax(axis=1), np.argsort(-rows.max(axis=1), kind="stable")
    one = int(order[0])
    focus, other = scene.focus_word, next((int(head) for head in order if best[head] != best[one]), None)
    if other is None:
        least = int(order[-1])
        return lesson(
            "heads/why-several-alike",
            focus=focus,
            best=scene.key_word(best[one]),
            least=rows[least].max(),
            least_head=least + 1,
            most=rows[one].max(),
            most_head=one + 1,
        )
    mean = rows.mean(axis=0)
    return lesson(
        "heads/why-several",
        focus=focus,
        one=one + 1,
        one_best=scene.key_word(best[one]),
        one_weight=rows[one].max(),
        one_mean=mean[best[one]],
        other=other + 1,
        other_best=scene.key_word(best[other]),
        other_weight=rows[other].max(),
        other_mean=mean[best[other]],
    )


STEP = Step(
    key="heads",
    name=message("Heads"),
    title=message("Join the heads"),
    formula=_formula,
    words=_words,
    guess=_guess,
    exhibits=_exhibits,
    factors=_factors,
    code=_code,
    shapes=_shapes,
    main="change",
    extras=frozenset({"onward", "what now", "next token"}),
    where="sum",
    questions=("mean", "mixed", "shape", "namesake", "longer"),
)
