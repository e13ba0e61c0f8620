"""How one cell came about: the parts that add up to it, or the sum that it is divided by."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.format import number
from attention.figures.matrix import Cell, Matrix
from attention.lesson.pictures import matrices
from attention.lesson.prose import exact, fact, lesson, word
from attention.lesson.scene import Scene
from attention.lesson.tables import MASKED
from attention.trace import Rotary

__all__ = ["Detail", "detail", "has_cell", "open_cell"]

# The matrix that a step is about, where that is not the first one that it shows.
_MAIN = {"scale": "scaled", "heads": "change"}


@dataclass(frozen=True, slots=True)
class Detail:
    """One cell explained: a sentence (HTML), the parts as bars, and, for a softmax, its table."""

    title: str
    note: str
    labels: tuple[str, ...]
    parts: Float[Array, " N"]
    axis: str
    columns: dict[str, list[str]] | None = None
    are_weights: bool = False

    def table(self) -> dict[str, list[str]]:
        """Return the parts as columns."""
        if self.columns is not None:
            return self.columns
        return {"part": list(self.labels), self.axis: [repr(float(part)) for part in self.parts]}


def has_cell(cell: Cell, pictures: tuple[Matrix, ...]) -> bool:
    """Tell whether the cell is in one of these matrices."""
    sizes = {picture.name: picture.values.shape for picture in pictures}
    rows, columns = sizes.get(cell.matrix, (0, 0))
    return cell.row < rows and cell.column < columns


def open_cell(step: str, scene: Scene) -> Scene:
    """Return the scene with its clicked cell or, where none was clicked, the one most worth a look."""
    pictures = matrices(step, scene)
    if not pictures:
        return scene.with_cell(None)
    if scene.cell is not None and has_cell(scene.cell, pictures):
        return scene
    main = next((picture for picture in pictures if picture.name == _MAIN.get(step)), pictures[0])
    return scene.with_cell(_most_telling(step, scene, main))


def detail(scene: Scene) -> Detail | None:
    """Explain the scene's cell; None at the first step, which has no numbers."""
    if scene.cell is None:
        return None
    return _DETAILS[scene.cell.matrix](scene, scene.cell)


def _most_telling(step: str, scene: Scene, picture: Matrix) -> Cell:
    if step in ("scores", "scale", "mask", "softmax"):
        return Cell(picture.name, scene.word, int(scene.steps.masked_scores[scene.word].argmax()))
    row = len(picture.row_labels) - 1 if picture.has_total_row else scene.word
    return Cell(picture.name, row, int(np.abs(picture.values[row]).argmax()))


def _sum_of(title: str, note: str, parts: Array, labels: tuple[str, ...], axis: str) -> Detail:
    return Detail(title, note, labels, parts, axis)


def _largest(parts: Array, labels: tuple[str, ...]) -> str:
    index = int(np.abs(parts).argmax())
    return lesson("detail-largest", label=word(labels[index]), value=exact(float(parts[index]), 2))


def _input(scene: Scene, cell: Cell) -> Detail:
    name, parts = word(scene.names[cell.row]), scene.trace.embeddings
    dimension = word(scene.dimension_names[cell.column])
    if scene.attention.norm is not None and not scene.is_cross:
        return _normed_input(scene, cell)
    if parts is None or scene.layer > 0 or scene.is_cross:
        value = scene.attention.inputs[cell.row]  # type: ignore[index]
        title = lesson("detail-input", word=name, dimension=dimension, value=fact(float(value[cell.column])))
        which = "cross" if scene.is_cross else "deeper"
        note = lesson(f"detail-input-{which}", layer=scene.layer + 1, before=scene.layer)
        return Detail(title, note, scene.dimension_names, value, "the whole vector, dimension by dimension")
    addends = {"word": parts.words, "position": parts.positions, "segment": parts.segments}
    known = {label: array[cell.row, cell.column] for label, array in addends.items() if array is not None}
    value = float(scene.attention.inputs[cell.row, cell.column])  # type: ignore[index]
    title = lesson("detail-input", word=name, dimension=dimension, value=fact(value))
    total = float(sum(known.values()))
    is_plain_sum = abs(total - value) < 1e-5
    note = lesson("detail-input-sum" if is_plain_sum else "detail-input-norm", sum=exact(total), value=exact(value))
    return Detail(title, note, tuple(known), np.array(list(known.values())), "the parts that are added")


def _normed_input(scene: Scene, cell: Cell) -> Detail:
    """Explain a number that a norm made: what it was, divided by the size of its row, times a weight."""
    norm, inputs, stream = scene.attention.norm, scene.attention.inputs, scene.stream
    assert norm is not None
    assert inputs is not None
    assert stream is not None
    row, value = stream[cell.row], float(inputs[cell.row, cell.column])
    dimension = word(scene.dimension_names[cell.column])
    title = lesson("detail-input", word=word(scene.names[cell.row]), dimension=dimension, value=fact(value))
    mean = float(row.mean()) if norm.centred else 0.0
    note = lesson(
        "detail-input-layernorm" if norm.centred else "detail-input-rms",
        stream=exact(float(row[cell.column])),
        mean=exact(mean),
        size=exact(float(np.sqrt(np.square(row - mean).mean() + norm.epsilon))),
        gain=exact(float(norm.gain[cell.column])),
        bias=exact(0.0 if norm.bias is None else float(norm.bias[cell.column])),
        value=exact(value),
    )
    return Detail(title, note, scene.dimension_names, inputs[cell.row], "the whole vector, dimension by dimension")


def _stream(scene: Scene, cell: Cell) -> Detail:
    assert scene.attention.norm is not None
    assert scene.stream is not None
    row = scene.stream[cell.row]
    title = lesson(
        "detail-stream",
        norm=scene.attention.norm.name,
        word=word(scene.names[cell.row]),
        dimension=word(scene.dimension_names[cell.column]),
        value=fact(float(row[cell.column])),
    )
    return Detail(title, "", scene.dimension_names, row, "the whole vector, dimension by dimension")


def _source(scene: Scene, cell: Cell) -> Detail:
    """Explain a number of what cross-attention makes keys and values of."""
    assert scene.attention.sources is not None
    row = scene.attention.sources[cell.row]
    title = lesson(
        "detail-source",
        word=word(scene.key_names[cell.row]),
        dimension=word(scene.dimension_names[cell.column]),
        value=fact(float(row[cell.column])),
    )
    return Detail(title, "", scene.dimension_names, row, "the whole vector, dimension by dimension")


def _word_part(scene: Scene, cell: Cell) -> Detail:
    parts = scene.trace.embeddings
    values = parts.words if cell.matrix == "words" else parts.positions  # type: ignore[union-attr]
    row = values[cell.row]  # type: ignore[index]
    title = lesson(
        f"detail-{cell.matrix}",
        word=word(scene.names[cell.row]),
        position=cell.row,
        dimension=word(scene.dimension_names[cell.column]),
        value=fact(float(row[cell.column])),
    )
    return Detail(title, "", scene.dimension_names, row, "the whole vector, dimension by dimension")


def _projection(scene: Scene, cell: Cell) -> Detail:
    layer, symbol = scene.attention, cell.matrix[0]
    vectors = getattr(scene.steps, cell.matrix)
    name = word((scene.names if symbol == "q" else scene.key_names)[cell.row])
    title = lesson(
        f"detail-{cell.matrix}", word=name, dimension=cell.column, value=fact(float(vectors[cell.row, cell.column]))
    )
    if layer.inputs is None or layer.projections is None:
        return Detail(title, lesson("detail-no-weights"), (), np.zeros(0), "")
    if layer.rotary is not None and symbol != "v":
        return _turned(scene, cell, title, layer.rotary)
    return _products(scene, cell, title, symbol)


def _projected(scene: Scene, cell: Cell) -> Detail:
    symbol = cell.matrix.removeprefix("projected_")[0]
    vectors = scene.projected["qk".index(symbol)]
    title = lesson(
        "detail-projected",
        symbol=f'<b class="{symbol}">{symbol}</b>',
        word=word((scene.names if symbol == "q" else scene.key_names)[cell.row]),
        dimension=cell.column,
        value=fact(float(vectors[cell.row, cell.column])),
    )
    return _products(scene, cell, title, symbol)


def _turned(scene: Scene, cell: Cell, title: str, turns: Rotary) -> Detail:
    """Explain a number of a query or key by the two numbers that were turned together."""
    vectors, half = scene.projected["qk".index(cell.matrix[0])][cell.row], scene.d_head // 2
    pair = cell.column % half
    cosine, sine = float(turns.cosines[cell.row, pair]), float(turns.sines[cell.row, pair])
    x, y = float(vectors[pair]), float(vectors[pair + half])
    is_first = cell.column < half
    own, other = (x * cosine, -y * sine) if is_first else (y * cosine, x * sine)
    note = lesson(
        "detail-turned-note",
        first=pair,
        second=pair + half,
        position=cell.row,
        angle=exact(math.degrees(math.atan2(sine, cosine)), 2),
        x=exact(x),
        y=exact(y),
        own=exact(own),
        sign="−" if other < 0 else "+",
        other=exact(abs(other)),
        value=exact(own + other),
    )
    labels = (f"{cell.column} × cos", f"{(cell.column + half) % (2 * half)} × sin")
    return Detail(title, note, labels, np.array([own, other]), "the two parts of the turned number")


def _products(scene: Scene, cell: Cell, title: str, symbol: str) -> Detail:
    """Explain a number by the products of the token's vector and a column of weights."""
    layer = scene.attention
    inputs = layer.inputs if symbol == "q" else layer.sources
    assert inputs is not None
    assert layer.projections is not None
    # Query heads share key/value heads in groups; the queries have all heads.
    width = scene.steps.values.shape[-1] if symbol == "v" else scene.d_head
    column = (scene.head if symbol == "q" else scene.group) * width + cell.column
    weight = getattr(layer.projections, f"W_{symbol.upper()}")[:, column]
    bias = getattr(layer.projections, f"b_{symbol.upper()}")
    products = inputs[cell.row] * weight
    total = float(products.sum())
    if bias is None:
        note = lesson("detail-projection-plain", count=products.size, sum=exact(total))
    else:
        offset = float(bias[column])
        note = lesson(
            "detail-projection-note",
            count=products.size,
            sum=exact(total),
            bias=exact(offset),
            total=exact(total + offset),
        )
    note += _largest(products, scene.dimension_names)
    source = "z" if scene.is_cross and symbol != "q" else "x"
    return Detail(title, note, scene.dimension_names, products, f"{source} × W_{symbol.upper()}, product by product")


def _score(scene: Scene, cell: Cell) -> Detail:
    query, key = scene.steps.queries[cell.row], scene.steps.keys[cell.column]
    products = query * key
    labels = tuple(f"dimension {i}" for i in range(products.size))
    bias = scene.attention.bias
    title = lesson(
        "detail-scores" if bias is None else "detail-scores-biased",
        query=word(scene.names[cell.row]),
        key=word(scene.key_names[cell.column]),
        value=fact(float(scene.steps.scores[cell.row, cell.column])),
    )
    axis, largest = "q × k, dimension by dimension", _largest(products, labels)
    if bias is None:
        return _sum_of(title, lesson("detail-scores-note", count=products.size) + largest, products, labels, axis)
    added = bias[scene.head, cell.row, cell.column]
    note = lesson("detail-scores-bias", count=products.size, sum=exact(float(products.sum())), bias=exact(float(added)))
    parts = np.append(products, added)
    return _sum_of(title, note + largest, parts, (*labels, "position bias"), f"{axis}, and the bias")


def _scaled(scene: Scene, cell: Cell) -> Detail:
    before = float(scene.steps.scores[cell.row, cell.column])
    after = float(scene.steps.scaled_scores[cell.row, cell.column])
    title = lesson(
        "detail-scaled",
        query=word(scene.names[cell.row]),
        key=word(scene.key_names[cell.column]),
        before=fact(before),
        divisor=exact(1 / scene.attention.scale),
        value=fact(after),
    )
    return Detail(title, "", ("before", "after"), np.array([before, after]), "score")


def _masked(scene: Scene, cell: Cell) -> Detail:
    scaled = float(scene.steps.scaled_scores[cell.row, cell.column])
    added = float(scene.steps.mask[cell.row, cell.column])
    names = {"query": word(scene.names[cell.row]), "key": word(scene.key_names[cell.column])}
    title = lesson(
        "detail-masked",
        **names,
        scaled=fact(scaled),
        mask=fact(added),
        value=fact(float(scene.steps.masked_scores[cell.row, cell.column])),
    )
    visible = np.isfinite(scene.steps.masked_scores[cell.row])
    note = lesson(f"detail-masked-{_reason(scene, cell)}", **names, visible=int(visible.sum()), total=visible.size)
    row = np.where(visible, scene.steps.masked_scores[cell.row], 0)
    labels, axis = _indexed(scene.key_labels), "what is left of this row"
    # A bar of −∞ cannot be drawn; a table can say it.
    columns = {"part": list(labels), axis: [repr(float(score)) for score in scene.steps.masked_scores[cell.row]]}
    return Detail(title, note, labels, row, axis, columns)


def _reason(scene: Scene, cell: Cell) -> str:
    """Return why the mask hides a cell, or that it does not."""
    if not np.isneginf(scene.steps.mask[cell.row, cell.column]):
        return "visible" if len(scene.key_tokens) > 1 else "lone"
    if scene.key_tokens[cell.column].is_padding:
        return "padding"
    is_later = scene.attention.kind == "masked self" and cell.column > cell.row
    return "later" if is_later else "painted"


def _weight(scene: Scene, cell: Cell) -> Detail:
    scores, weights = scene.steps.masked_scores[cell.row], scene.steps.weights[cell.row]
    highest = float(scores.max())
    names = {"query": word(scene.names[cell.row]), "key": word(scene.key_names[cell.column])}
    value = float(weights[cell.column])
    title = lesson("detail-weights", **names, value=fact(value), percent=f"{100 * value:.0f}")
    if np.isneginf(highest):
        note = lesson("detail-weights-masked", **names)
        return Detail(title, note, _indexed(scene.key_labels), weights, "the weights of this row", are_weights=True)
    shifted, visible = scores - highest, scene.visible[cell.row]
    exponentials = np.exp(shifted)
    if visible[cell.column]:
        note = lesson(
            "detail-weights-note",
            **names,
            exponential=exact(float(exponentials[cell.column])),
            total=exact(float(exponentials.sum())),
            highest=fact(highest),
            value=exact(value),
        )
    else:
        title = lesson("detail-weights-hidden", **names)
        note = lesson("detail-hidden-note", visible=int(visible.sum()), total=visible.size)
    labels = _indexed(scene.key_labels)
    columns = {
        "key": list(labels),
        "score": [number(float(s)) for s in scores],
        "− maximum": [number(float(s)) for s in shifted],
        "exp": [number(float(e), 4) if seen else "0" for e, seen in zip(exponentials, visible, strict=True)],
        "weight": [number(float(w), 4) if seen else MASKED for w, seen in zip(weights, visible, strict=True)],
    }
    return Detail(title, note, labels, weights, "the weights of this row", columns, are_weights=True)


def _output(scene: Scene, cell: Cell) -> Detail:
    query = scene.word if cell.matrix == "contributions" else cell.row
    weights, values = scene.steps.weights[query], scene.steps.values
    if cell.matrix == "contributions" and cell.row < len(weights):
        weight, value = float(weights[cell.row]), float(values[cell.row, cell.column])
        title = lesson(
            "detail-contribution",
            query=word(scene.names[query]),
            key=word(scene.key_names[cell.row]),
            weight=exact(weight),
            value=exact(value),
            dimension=cell.column,
            product=exact(weight * value),
        )
    else:
        title = lesson(
            "detail-outputs",
            query=word(scene.names[query]),
            dimension=cell.column,
            value=fact(float(scene.steps.head_outputs[query, cell.column])),
        )
    products = weights * values[:, cell.column]
    labels = _indexed(scene.key_labels)
    note = lesson("detail-outputs-note", count=products.size) + _largest(products, labels)
    return _sum_of(title, note, products, labels, "weight × value, token by token")


def _change(scene: Scene, cell: Cell) -> Detail:
    projections = scene.attention.projections
    outputs = scene.all_outputs[:, cell.row]
    weight = projections.W_O[:, cell.column].reshape(outputs.shape)  # type: ignore[union-attr]
    parts = (outputs * weight).sum(axis=1)
    labels = tuple(f"head {head + 1}" for head in range(len(parts)))
    if projections.b_O is not None:  # type: ignore[union-attr]
        parts = np.append(parts, projections.b_O[cell.column])  # type: ignore[union-attr]
        labels += ("bias",)
    title = lesson(
        "detail-change",
        word=word(scene.names[cell.row]),
        dimension=word(scene.dimension_names[cell.column]),
        value=fact(float(parts.sum())),
    )
    note = lesson("detail-change-bias" if labels[-1] == "bias" else "detail-change-note", count=len(outputs))
    return _sum_of(title, note + _largest(parts, labels), parts, labels, "what each head adds")


def _joined(scene: Scene, cell: Cell) -> Detail:
    head, dimension = divmod(cell.column, scene.steps.values.shape[-1])
    output = scene.all_outputs[head, cell.row]
    title = lesson(
        "detail-joined",
        word=word(scene.names[cell.row]),
        head=head + 1,
        dimension=dimension,
        value=fact(float(output[dimension])),
    )
    labels = tuple(f"dimension {i}" for i in range(output.size))
    return Detail(title, "", labels, output, f"the output of head {head + 1}")


def _indexed(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return labels that differ even where words repeat: ``0 the``, ``4 the``."""
    return tuple(f"{position} {label}" for position, label in enumerate(labels))


_DETAILS: dict[str, Callable[[Scene, Cell], Detail]] = {
    "inputs": _input,
    "words": _word_part,
    "positions": _word_part,
    "stream": _stream,
    "sources": _source,
    "projected_queries": _projected,
    "projected_keys": _projected,
    "queries": _projection,
    "keys": _projection,
    "values": _projection,
    "scores": _score,
    "scaled": _scaled,
    "masked": _masked,
    "weights": _weight,
    "contributions": _output,
    "outputs": _output,
    "joined": _joined,
    "change": _change,
}
