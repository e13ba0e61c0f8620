"""The embeddings: each token becomes a vector, the input of the layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.trace import Embeddings, Norm
from attention.figures.matrix import Cell
from attention.lesson.cell_explanation import WHOLE_VECTOR, Detail
from attention.lesson.code_context import CodeContext, are_close
from attention.lesson.head_context import HeadContext, named, numbered
from attention.lesson.matrices import vectors
from attention.lesson.noun_tagger import noun_tokens
from attention.lesson.prose import exact, fact, length, lesson, listed, times, word
from attention.lesson.quiz import Guess, comes_near, ranked, repeated, words_of
from attention.lesson.snippets import Values, numbers, shapes
from attention.lesson.steps.base import Step, StepMatrix


def _formula(scene: HeadContext | None) -> str:
    if scene is None:
        words, positions = map(_embedding, (message("word"), message("position")))
        return f"X = {words} + {positions}"
    own = scene.use.formulas.get("embed")
    if own is not None:
        return own
    norm = scene.attention.norm
    if norm is not None:
        # Short enough for a heading where two models are side by side.
        before = message("layer {layer}", layer=scene.layer)
        inside = rf"\text{{{before}}}" if scene.layer else _stream_formula(scene)
        return rf"X = \mathrm{{{norm.name}}}({inside})"
    if scene.layer:
        before = message("output of layer {layer}", layer=scene.layer)
        return rf"X = \text{{{before}}}"
    return f"X = {_input_formula(scene)}"


_UNKNOWN = message("embeddings")


def _input_formula(scene: HeadContext) -> str:
    """Return in LaTeX the input of layer 1, where that layer has no norm before attention."""
    parts = scene.trace.embeddings
    if parts is None:
        return rf"\text{{{_UNKNOWN}}}"
    made = _sum_formula(scene)
    if _has_norm(scene):
        name = "LayerNorm" if parts.norm is None else parts.norm.name
        made = rf"\mathrm{{{name}}}({made})"
    elif parts.projection is not None:
        made = f"({made})"
    return made if parts.projection is None else f"{made} \\, W_E"


def _stream_formula(scene: HeadContext) -> str:
    """Return in LaTeX the residual stream that layer 1 normalises; a few models have normalised it before."""
    parts, made = scene.trace.embeddings, _sum_formula(scene)
    return made if parts is None or parts.norm is None else rf"\mathrm{{{parts.norm.name}}}({made})"


def _embedding(name: str) -> str:
    return rf"E_{{\text{{{name}}}}}"


def _sum_formula(scene: HeadContext) -> str:
    parts = scene.trace.embeddings
    names = [scene.info.reading.unit]
    if parts is not None:
        known = {message("position"): parts.positions, message("segment"): parts.segments}
        names += [name for name, part in known.items() if part is not None]
    return " + ".join(map(_embedding, names))


def _has_norm(scene: HeadContext) -> bool:
    inputs, parts = scene.attention.inputs, scene.trace.embeddings
    if inputs is None or parts is None:
        return False
    if parts.projection is not None:
        return parts.norm is not None
    return not np.allclose(parts.words + (0 if parts.positions is None else parts.positions), inputs, atol=1e-5)


def _words(scene: HeadContext) -> str:
    inputs = scene.attention.inputs
    if inputs is None:
        return lesson("embed/unknown", layer=scene.layer + 1)
    own = scene.use.lessons.get("embed")
    if own is not None:
        return lesson(
            own,
            width=inputs.shape[1],
            count=len(scene.tokens),
            layer=scene.layer + 1,
            keys=len(scene.key_tokens),
            focus=scene.focus_word,
            length=length(inputs[scene.word]),
        )
    return _tell_deeper(scene, inputs) if scene.layer else _tell_first(scene, inputs)


def _tell_deeper(scene: HeadContext, inputs: Array) -> str:
    told = lesson(
        "embed/words-deeper",
        layer=scene.layer + 1,
        before=scene.layer,
        times=times(scene.layer),
        width=inputs.shape[1],
        focus=scene.focus_word,
        length=length(inputs[scene.word]),
    )
    return told + _tell_norms(scene)


def _tell_first(scene: HeadContext, inputs: Array) -> str:
    """Describe the input of layer 1, and the parts of which it is the sum."""
    parts, row = scene.trace.embeddings, scene.word
    facts: dict[str, str | int] = {"focus": scene.query_word(row), "length": length(inputs[row])}
    facts["width"] = inputs.shape[1] if parts is None else parts.words.shape[1]
    if parts is None or parts.positions is None:
        told = lesson("embed/words-unknown" if parts is None else "embed/words-alone", **facts) + _tell_norms(scene)
        if scene.attention.bias is not None and not scene.has_sink:
            return told + lesson("embed/bias")
        return told if scene.attention.rotary is None else told + lesson("embed/rotary")
    told = lesson(
        scene.info.reading.lesson("embed/words"),
        position=row,
        word_length=length(parts.words[row]),
        position_length=length(parts.positions[row]),
        **facts,
    )
    if parts.segments is not None:
        told += lesson("embed/segment", length=length(parts.segments[row]))
    told += _tell_norms(scene)
    if parts.projection is None:
        return told
    narrow, wide = parts.projection.weight.shape
    return told + lesson("embed/projected", narrow=narrow, wide=wide)


def _tell_norms(scene: HeadContext) -> str:
    """Name the norms that vectors pass before the attention of this layer; empty without any."""
    own = [] if scene.attention.norm is None else [scene.attention.norm.name]
    parts = None if scene.layer else scene.trace.embeddings
    if parts is not None and parts.norm is not None:
        own = [parts.norm.name, *own]
    elif parts is not None and not own and _has_norm(scene):
        own = ["LayerNorm"]
    return lesson("embed/normed", norms=listed(own)) if own else ""


def _exhibits(scene: HeadContext) -> tuple[StepMatrix, ...]:
    parts, norm = scene.trace.embeddings, scene.attention.norm
    exhibits = list(entering(scene))
    if norm is not None and scene.layer and scene.stream is not None:
        title = message("Before {name}: output of layer {layer}", name=norm.name, layer=scene.layer)
        exhibits.append(_exhibit(scene, "stream", title, scene.stream, _explain_stream))
    # Only layer 1's input is the sum of these parts alone.
    if parts is not None and scene.layer == 0:
        title = scene.info.reading.part
        exhibits.append(_exhibit(scene, "words", title, parts.words, _explain_part))
    if parts is not None and parts.positions is not None:
        title = message("Positional encoding, added before layer 1") if scene.layer else message("Positional encoding")
        exhibits.append(_exhibit(scene, "positions", title, parts.positions, _explain_part))
    return tuple(exhibits)


def entering(scene: HeadContext) -> tuple[StepMatrix, ...]:
    """Return the inputs of the projections: X and, for cross-attention, Z."""
    inputs, sources, norm = scene.attention.inputs, scene.attention.key_inputs, scene.attention.norm
    exhibits = []
    if inputs is not None:
        title = message("X: input of layer {layer}", layer=scene.layer + 1)
        if norm is not None:
            title = message("X: input of layer {layer}, after {norm}", layer=scene.layer + 1, norm=norm.name)
        exhibits.append(_exhibit(scene, "inputs", title, inputs, _explain_input))
    if sources is not None:
        title = message("Z: the encoder's output")
        exhibits.append(_exhibit(scene, "sources", title, sources, _explain_source, of_keys=True))
    return tuple(exhibits)


def _exhibit(
    scene: HeadContext,
    name: str,
    title: str,
    values: Array,
    explain: Callable[[HeadContext, Cell], Detail],
    *,
    of_keys: bool = False,
) -> StepMatrix:
    # Embeddings may be narrower than the layers.
    width = values.shape[1]
    dimensions = scene.dimensions if len(scene.dimensions) == width else numbered(width)
    return StepMatrix(vectors(scene, name, title, values, dimensions, of_keys=of_keys), explain)


def _explain_input(scene: HeadContext, cell: Cell) -> Detail:
    name, parts = scene.query_word(cell.row), scene.trace.embeddings
    dimension = word(scene.dimension_names[cell.column])
    if scene.attention.norm is not None:
        return _explain_normed_input(scene, cell)
    if parts is None or scene.layer > 0:
        value = scene.attention.inputs[cell.row]  # type: ignore[index]
        title = lesson("embed/cell", word=name, dimension=dimension, value=value[cell.column])
        note = lesson(scene.use.lesson("embed/cell-deeper"), layer=scene.layer + 1, before=scene.layer)
        return Detail(title, note, scene.dimension_names, value, WHOLE_VECTOR)
    if parts.projection is not None:
        row = scene.attention.inputs[cell.row]  # type: ignore[index]
        title = lesson("embed/cell", word=name, dimension=dimension, value=row[cell.column])
        narrow, wide = parts.projection.weight.shape
        note = lesson("embed/cell-projected", narrow=narrow, wide=wide)
        return Detail(title, note, scene.dimension_names, row, WHOLE_VECTOR)
    addends = {
        message("word"): parts.words,
        message("position"): parts.positions,
        message("segment"): parts.segments,
    }
    known = {label: array[cell.row, cell.column] for label, array in addends.items() if array is not None}
    value = float(scene.attention.inputs[cell.row, cell.column])  # type: ignore[index]
    title = lesson("embed/cell", word=name, dimension=dimension, value=fact(value))
    total = float(sum(known.values()))
    is_plain_sum = abs(total - value) < 1e-5
    note = lesson("embed/cell-sum" if is_plain_sum else "embed/cell-norm", sum=exact(total), value=exact(value))
    return Detail(title, note, tuple(known), np.array(list(known.values())), message("the added parts"))


def _explain_normed_input(scene: HeadContext, cell: Cell) -> Detail:
    norm, inputs, stream = scene.attention.norm, scene.attention.inputs, scene.stream
    assert norm is not None
    assert inputs is not None
    assert stream is not None
    row, value = stream[cell.row], float(inputs[cell.row, cell.column])
    dimension = word(scene.dimension_names[cell.column])
    title = lesson("embed/cell", word=scene.query_word(cell.row), dimension=dimension, value=fact(value))
    mean = float(row.mean()) if norm.centred else 0.0
    note = lesson(
        "embed/cell-layernorm" if norm.centred else "embed/cell-rms",
        stream=exact(float(row[cell.column])),
        mean=exact(mean),
        size=exact(float(np.sqrt(np.square(row - mean).mean() + norm.epsilon))),
        gain=exact(float(norm.gain[cell.column])),
        bias=exact(0.0 if norm.bias is None else float(norm.bias[cell.column])),
        value=exact(value),
    )
    return Detail(title, note, scene.dimension_names, inputs[cell.row], WHOLE_VECTOR)


def _explain_stream(scene: HeadContext, cell: Cell) -> Detail:
    assert scene.attention.norm is not None
    assert scene.stream is not None
    row = scene.stream[cell.row]
    title = lesson(
        "embed/cell-stream",
        norm=scene.attention.norm.name,
        word=scene.query_word(cell.row),
        dimension=word(scene.dimension_names[cell.column]),
        value=row[cell.column],
    )
    return Detail(title, "", scene.dimension_names, row, WHOLE_VECTOR)


def _explain_source(scene: HeadContext, cell: Cell) -> Detail:
    assert scene.attention.sources is not None
    row = scene.attention.sources[cell.row]
    title = lesson(
        "embed/cell-source",
        word=scene.key_word(cell.row),
        dimension=word(scene.dimension_names[cell.column]),
        value=row[cell.column],
    )
    return Detail(title, "", scene.dimension_names, row, WHOLE_VECTOR)


def _explain_part(scene: HeadContext, cell: Cell) -> Detail:
    parts = scene.trace.embeddings
    values = parts.words if cell.matrix == "words" else parts.positions  # type: ignore[union-attr]
    row = values[cell.row]  # type: ignore[index]
    names = scene.dimension_names if len(scene.dimension_names) == len(row) else named(len(row))
    title = lesson(
        "embed/cell-word" if cell.matrix == "words" else "embed/cell-position",
        word=scene.query_word(cell.row),
        position=cell.row,
        dimension=word(names[cell.column]),
        value=row[cell.column],
    )
    return Detail(title, "", names, row, WHOLE_VECTOR)


def _code(excerpt: CodeContext) -> str:
    scene = excerpt.scene
    parts, inputs = scene.trace.embeddings, scene.attention.inputs
    if excerpt.continued is not None and inputs is not None:
        return _continued_code(excerpt, inputs)
    if scene.layer and inputs is not None:
        norm = scene.attention.norm
        after = "" if norm is None else f", after {norm.name}"
        title = f"What enters layer {scene.layer + 1} is what came out of layer {scene.layer}{after}."
        return excerpt.recorded(title, X=inputs)
    if parts is None:
        return excerpt.recorded("Embeddings, as the model had them: their parts are not known.", X=inputs)
    return _sum_code(excerpt, parts)


def _sum_code(excerpt: CodeContext, parts: Embeddings) -> str:
    rows = excerpt.rows(parts.words)
    E, ids = _as_lookup(parts.words[rows])
    S, segment_ids = (None, None) if parts.segments is None else _as_lookup(parts.segments[rows])
    X = _sum_of(parts)
    return excerpt.fill(
        "embed",
        {
            **excerpt.write(E=E, P=None if parts.positions is None else parts.positions[rows], S=S),
            **shapes(X=X[rows], ids=ids, S_rows=None if S is None else X[rows]),
            "ids": repr(ids.tolist()),
            "segment_ids": None if segment_ids is None else repr(segment_ids.tolist()),
            "after": _later_steps_note(excerpt, X) if excerpt.continued is None else None,
            **excerpt.vector(X, rows),
        },
    )


def _sum_of(parts: Embeddings) -> Array:
    return sum((part for part in (parts.positions, parts.segments) if part is not None), start=parts.words)


def _continued_code(excerpt: CodeContext, inputs: Array) -> str:
    scene, parts = excerpt.scene, excerpt.scene.trace.embeddings
    norm = scene.attention.norm
    if not scene.layer and parts is not None:
        norms = [each for each in (parts.norm, norm) if each is not None]
        if _gives(_sum_of(parts), norms, inputs) and excerpt.rows(parts.words) == slice(None):
            return _sum_code(excerpt, parts) + _norms_code(excerpt, norms, _sum_of(parts))
    title = f"What enters layer {scene.layer + 1}"
    if scene.layer:
        title += f" is what came out of layer {scene.layer}"
    whole = excerpt.rows(inputs) == slice(None)
    if norm is not None and scene.stream is not None and whole and _gives(scene.stream, [norm], inputs):
        recorded = excerpt.recorded(f"{title}, before {norm.name}.", X=scene.stream)
        return recorded + _norms_code(excerpt, [norm], scene.stream)
    return excerpt.recorded(f"{title}." if norm is None else f"{title}, after {norm.name}.", X=inputs)


def _gives(vectors: Array, norms: Sequence[Norm], wanted: Array) -> bool:
    for norm in norms:
        vectors = norm(vectors)
    return are_close(vectors, wanted)


def _norms_code(excerpt: CodeContext, norms: Sequence[Norm], vectors: Array) -> str:
    codes = []
    for number, norm in enumerate(norms, start=1):
        suffix = f"_{number}" if len(norms) > 1 else ""
        named = excerpt.write(**{f"gain{suffix}": norm.gain, f"bias{suffix}": norm.bias})
        vectors = norm(vectors)
        values: Values = {
            "name": norm.name,
            "centred": "LayerNorm subtracts the mean" if norm.centred else None,
            "epsilon": repr(norm.epsilon),
            "gain": named[f"gain{suffix}"],
            "bias": named[f"bias{suffix}"],
            **shapes(X=vectors, size=vectors[:, :1], bias=norm.bias),
        }
        codes.append(excerpt.fill("norm", {**values, **excerpt.vector(vectors, slice(None))}))
    return "".join(f"\n{code}" for code in codes)


def _later_steps_note(excerpt: CodeContext, X: Array) -> str | None:
    """Return a note on the model's change of the sum before its first layer; None if there is none."""
    scene = excerpt.scene
    inputs, parts = scene.attention.inputs, scene.trace.embeddings
    projection = None if parts is None else parts.projection
    if inputs is None or (projection is None and are_close(X, inputs)):
        return None
    norm = scene.attention.norm or (None if parts is None else parts.norm)
    name = "a further step" if norm is None else norm.name
    if projection is not None:
        narrow, wide = projection.weight.shape
        name = f"{name}, and then a matrix of {narrow}×{wide}," if norm is not None else f"a matrix of {narrow}×{wide}"
    made = f"{numbers(inputs[excerpt.row])} for {excerpt.label(excerpt.row)}"
    return f"Then {name} makes the input of layer 1 of it: {made}."


def _as_lookup(rows: Array) -> tuple[Array, Array]:
    """Undo a look-up: return the distinct rows in order of appearance, and the index of each row among them."""
    known: dict[bytes, int] = {}
    ids = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows])
    firsts = [int(np.argmax(ids == number)) for number in range(len(known))]
    return rows[firsts], ids


def _shapes(scene: HeadContext) -> str:
    T = len(scene.tokens)
    return messages("{n} token → X ({n}×{width})", "{n} tokens → X ({n}×{width})", T, width=scene.info.d_model)


def _guess(scene: HeadContext) -> Guess | None:
    """Ask which two words enter the layer with the most similar vectors, by their cosine."""
    inputs, words = scene.attention.inputs, words_of(scene.tokens)
    if inputs is None or len(words) < 3:
        return None
    units = inputs / np.maximum(np.linalg.norm(inputs, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    pairs = list(combinations(words, 2))
    cosines = [float(units[one] @ units[other]) for one, other in pairs]
    names = [f"{scene.names[one]} – {scene.names[other]}" for one, other in pairs]
    both = [listed([f"“{scene.query_word(each)}”" for each in pair]) for pair in pairs]
    best = int(np.argmax(cosines))
    because = lesson("guess/embed-because", best=both[best], cosine=fact(cosines[best]))
    nouns = {noun[0] for noun in noun_tokens(scene.tokens)}
    natural = [index for index, (one, other) in enumerate(pairs) if {one, other} <= nouns]
    natural.sort(key=cosines.__getitem__, reverse=True)
    return ranked(
        lesson("guess/embed", layer=scene.layer + 1), names, cosines, because, partial(comes_near, cosines), natural
    )


def _whys(scene: HeadContext) -> str:
    parts = scene.trace.embeddings
    if parts is None or scene.use.formulas.get("embed") is not None or not scene.info.reading.takes_sentences:
        return ""
    if parts.positions is None:
        return lesson("embed/why-positions-later")
    if scene.attention.is_causal:
        # A causal mask conveys order too.
        return ""
    text = lesson("embed/why-positions")
    twice = repeated(scene.tokens)
    if twice is None:
        return text
    one, other = twice
    return text + lesson(
        "embed/why-positions-twice",
        one=scene.query_word(one),
        other=scene.query_word(other),
        difference=length(parts.positions[one] - parts.positions[other]),
    )


STEP = Step(
    key="embed",
    name=message("Embed"),
    title=message("Give every token a vector"),
    formula=_formula,
    words=_words,
    guess=_guess,
    why=message("What would happen without positions?"),
    whys=_whys,
    exhibits=_exhibits,
    code=_code,
    shapes=_shapes,
    has_head_grid=False,
    where="stream",
    questions=("equal", "turned", "rows", "shape", "cost"),
    filled_by="added",
)
