"""One head in plain NumPy, from the tokens to ΔE, with a page's numbers.

Each step's code is the step's own (see :mod:`attention.lesson.steps`), continued from the one before. The end compares
the results with the model's own.
"""

from __future__ import annotations

import io
import textwrap
from base64 import b64encode
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.export.notebook.cells import Cell, Code, Text, formula, headed, plain, told
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, typed, word
from attention.lesson.snippets import Continued, Values, fill, shapes
from attention.lesson.steps import STEPS, number_of
from attention.lesson.steps.base import Step

MAX_RECORDED_BYTES = 2**18  # of an array with a row per token; a longer text keeps the rows around the focus
TOLERANCE = 1e-4  # for float32 sums in another order, relative to the largest number
PACKED_WIDTH = 4000  # characters per line: longer lines are slow in an editor, shorter ones tedious to scroll past
PITCH, MOST_INCHES = 0.35, 12.0  # of a token in the picture, and the picture's largest side


def by_hand(scene: HeadContext, added: Float[Array, "Q M"] | None = None) -> tuple[Cell, ...]:
    """Return the nine steps of a scene as cells with NumPy code that needs nothing else.

    ``added`` is the model's own ΔE, if known.
    """
    continued = Continued(_recorded_rows(scene))
    steps = [cell for step in STEPS for cell in _step(step, scene, continued)]
    proof, picture = _proof(scene, continued, added), _picture(scene)
    return (
        _opening(scene, continued),
        Code(fill("numbers", "numpy", {"packed": _packed(continued.numbers)}), is_folded=True),
        *steps,
        headed(message("The proof"), told(lesson("notebook/proof", model=word(scene.info.name))), level=2),
        Code(proof),
        headed(message("The picture"), told(lesson("notebook/picture")), told(lesson("notebook/exercise")), level=2),
        Code(picture),
    )


def _recorded_rows(scene: HeadContext) -> slice:
    """Return all rows or, for pasted arrays, the rows around the word in focus."""
    count = len(scene.tokens)
    fitting = max(1, MAX_RECORDED_BYTES // max(scene.info.d_model * 4, len(scene.key_tokens) * 4))
    if count <= fitting:
        return slice(None)
    first = min(max(scene.word - fitting // 2, 0), count - fitting)
    return slice(first, first + fitting)


def _opening(scene: HeadContext, continued: Continued) -> Text:
    reading = scene.info.reading
    text = lesson(
        "notebook/by-hand", model=word(scene.info.name), **scene.numbers, noun=reading.noun, count=len(scene.tokens)
    )
    if not reading.is_laid_out:
        text += f"<p>{typed(scene.trace.text)}</p>"
    text += lesson("notebook/letters")
    if continued.rows != slice(None):
        kept = continued.rows
        text += lesson("notebook/long", count=len(scene.tokens), first=kept.start, last=kept.stop - 1)
    return headed(message("Attention by hand"), plain(scene.place), told(text))


def _step(step: Step, scene: HeadContext, continued: Continued) -> tuple[Cell, Cell]:
    code = step.code(CodeContext("numpy", scene, *step.printed_cell(scene), continued=continued))
    continued.follow(code)
    title = f"{number_of(step)} · {step.name}: {step.heading(scene)}"
    said = formula(step.formula(scene)), told(step.words(scene)), plain(step.shapes(scene))
    return headed(title, *said, level=2), Code(code)


def _proof(scene: HeadContext, continued: Continued, added: Array | None) -> str:
    rows, parts = continued.rows, scene.attention.projections
    theirs: dict[str, Array | None] = {
        "model_weights": scene.steps.weights[rows],
        "model_output": scene.attention.model_output[scene.head][rows],
        "model_delta": None,
    }
    if added is not None and parts is not None:
        width = CodeContext("numpy", scene, scene.word, continued=continued).columns(parts.W_O, is_last=True)
        theirs["model_delta"] = added[rows, width]
    values: Values = {"place": f"layer {scene.layer + 1}, head {scene.head + 1}", "tolerance": f"{TOLERANCE:g}"}
    for name, array in theirs.items():
        values[name] = None if array is None else continued.array_code(name, array)
        values["largest_" + name.removeprefix("model_")] = None if array is None else f"{np.abs(array).max():.3g}"
    is_cut = rows != slice(None)
    cut = f"Here only the rows {rows.start} to {rows.stop - 1}: all are too many to keep." if is_cut else None
    told_rows = f"[{rows.start}:{rows.stop}]" if is_cut else ""
    return fill("proof", "numpy", {**values, **shapes(**theirs), "rows": told_rows, "cut": cut})


def _picture(scene: HeadContext) -> str:
    others = None if scene.trace.memory is None else repr(list(scene.key_labels))
    width, height = (f"{min(2 + PITCH * len(tokens), MOST_INCHES):.1f}" for tokens in (scene.key_tokens, scene.tokens))
    same = "they look at one another" if others is None else None
    return fill("picture", "numpy", {"key_tokens": others, "same": same, "width": width, "height": height})


def _packed(numbers: Mapping[str, Array]) -> str:
    """Return arrays in NumPy's file format, as lines of text."""
    file = io.BytesIO()
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in numbers.items()}
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return "\n".join(textwrap.wrap(b64encode(file.getvalue()).decode(), PACKED_WIDTH))
