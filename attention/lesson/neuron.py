"""One query and one key, number by number: pictures, a table, and the sum written out."""

from __future__ import annotations

import numpy as np

from attention.core.messages import message
from attention.figures.format import number
from attention.figures.matrix import Matrix
from attention.figures.neuron import Neuron
from attention.lesson.head_context import HeadContext, numbered
from attention.lesson.prose import exact, fact, lesson, word
from attention.lesson.tables import full_precision
from attention.measures.segments import groups

# With more products, only the first three and the last are written out.
MAX_WRITTEN = 8


def best_key(scene: HeadContext) -> int:
    """Return the position of the key that the word in focus attends to most."""
    return int(scene.steps.masked_scores[scene.word].argmax())


def neuron(scene: HeadContext, key: int) -> Neuron:
    """Return the query of the word in focus against every key."""
    steps, query = scene.steps, scene.word
    place = message("layer {layer}, head {head}", **scene.numbers)
    return Neuron(
        title=message(
            "{name}, {place}: the query of “{text}” and every key",
            name=scene.info.name,
            place=place,
            text=scene.focus.text,
        ),
        alt=message(
            "The query of “{text}” and {n_key_labels} keys of {d_head} numbers, {place}.",
            text=scene.focus.text,
            n_key_labels=len(scene.key_labels),
            d_head=scene.d_head,
            place=place,
        ),
        labels=scene.key_labels,
        query_labels=scene.labels,
        query=query,
        key=key,
        query_vector=steps.queries[query],
        keys=steps.keys,
        products=steps.queries[query] * steps.keys,
        scores=steps.scores[query],
        masked_scores=steps.masked_scores[query],
        weights=steps.weights[query],
        divisor=_divisor(scene),
        has_bias=scene.attention.bias is not None,
        breaks=tuple(start for _, start in groups(scene.key_tokens) if start),
    )


def key_picture(scene: HeadContext, key: int) -> Matrix:
    """Return q, k and their products as three rows of numbers."""
    query_vector, key_vector = scene.steps.queries[scene.word], scene.steps.keys[key]
    names = (f"q({scene.focus.text})", f"k({scene.key_labels[key]})", "q ∘ k")
    return _rows(
        "meeting",
        message("{query}, {key} and their products", query="q", key="k"),
        np.stack([query_vector, key_vector, query_vector * key_vector]),
        names,
        message(
            "The query of “{query}”, the key of “{key}” and their products, number by number.",
            query=scene.focus.text,
            key=scene.key_labels[key],
        ),
    )


def value_picture(scene: HeadContext, key: int) -> Matrix:
    """Return the key's value, the weighted value, and the output that it is part of."""
    value, weight = scene.steps.values[key], scene.steps.weights[scene.word, key]
    is_hidden = not scene.visible[scene.word, key]
    part = "0" if is_hidden else number(float(weight))
    values = np.stack([value, weight * value, scene.steps.head_outputs[scene.word]])
    hidden = np.zeros(values.shape, bool)
    hidden[1] = is_hidden
    return _rows(
        "handing",
        message("The result: {value} and the output", value="v"),
        values,
        (f"v({scene.key_labels[key]})", f"{part} × v", message("output({query})", query=scene.focus.text)),
        message(
            "The value of “{key}”, its weighted value, and the output of “{query}”.",
            key=scene.key_labels[key],
            query=scene.focus.text,
        ),
        hidden if is_hidden else None,
    )


def _rows(
    name: str, title: str, values: np.ndarray, labels: tuple[str, ...], alt: str, hidden: np.ndarray | None = None
) -> Matrix:
    return Matrix(
        name=name,
        title=title,
        values=values,
        row_labels=labels,
        column_labels=numbered(values.shape[1]),
        row_axis=message("vectors"),
        column_axis=message("dimensions of the head"),
        palette="signed",
        alt=alt,
        hidden=hidden,
    )


def sum_in_writing(scene: HeadContext, key: int) -> str:
    """Return as HTML the computation of the weight: products, sum, scaling, mask and softmax."""
    steps, query = scene.steps, scene.word
    products = steps.queries[query] * steps.keys[key]
    masked = float(steps.masked_scores[query, key])
    pair: dict[str, str | int] = {"query": word(scene.focus.text), "key": word(scene.key_labels[key])}
    facts: dict[str, str | int] = {
        **pair,
        "products": _written_sum(products),
        "score": fact(float(steps.scores[query, key])),
        "divisor": _divisor(scene),
        "scaled": fact(float(steps.scaled_scores[query, key])),
    }
    bias = scene.attention.bias
    if scene.has_sink and key == len(scene.tokens):
        text = lesson(
            "neuron/sum-sink",
            key=facts["key"],
            score=facts["score"],
            divisor=facts["divisor"],
            scaled=facts["scaled"],
        )
    elif bias is None or scene.has_sink:
        text = lesson("neuron/sum", **facts)
    else:
        text = lesson("neuron/sum-bias", bias=bias[scene.head, query, key], **facts)
    cap = scene.attention.softcap
    if cap is not None:
        capped = float(steps.unmasked_scores[query, key])
        text += lesson("neuron/capped", cap=exact(cap), scaled=facts["scaled"], capped=fact(capped))
    if np.isneginf(masked):
        return text + lesson("neuron/masked", **pair)
    row = steps.masked_scores[query]
    exponentials = np.exp(row - row.max())
    return text + lesson(
        "neuron/softmax",
        highest=row.max(),
        masked=fact(masked),
        exponential=exact(float(exponentials[key])),
        total=exact(float(exponentials.sum())),
        weight=steps.weights[query, key],
        keys=len(scene.key_labels),
        **pair,
    )


def pair_table(scene: HeadContext, key: int) -> dict[str, list[str]]:
    """Return the numbers of both pictures as columns in full precision, padded with blanks."""
    pictures = key_picture(scene, key), value_picture(scene, key)
    height = max(picture.values.shape[1] for picture in pictures)
    table = {"dimension": [str(dimension) for dimension in range(height)]}
    for picture in pictures:
        for name, row in zip(picture.row_labels, picture.values, strict=True):
            written = full_precision(row)
            table[name] = written + [""] * (height - len(written))
    return table


def _written_sum(products: np.ndarray) -> str:
    """Return ``0.31 − 0.20 + … + 1.02``, with the numbers as in the picture."""
    parts = [number(float(product)) for product in products]
    if len(parts) > MAX_WRITTEN:
        parts = [*parts[:3], "…", parts[-1]]
    first, *others = parts
    return "".join([first, *(f" − {part[1:]}" if part.startswith("−") else f" + {part}" for part in others)])


def _divisor(scene: HeadContext) -> str:
    return scene.divisor(f"√{scene.d_head}") or "1"
