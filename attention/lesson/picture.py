"""A Vision Transformer's attention weights, laid over the picture."""

from __future__ import annotations

import numpy as np

from attention.core import pixels
from attention.core.messages import message
from attention.core.trace import Trace
from attention.figures.format import number, shades
from attention.figures.model_map import Cut
from attention.figures.overlay import HeadOverlay, Overlay
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, word
from attention.lesson.tables import full_precision


def overlay(scene: HeadContext, *, is_bare: bool = False) -> Overlay:
    """Return the weights of the token in focus over the picture's patches, in every head of the layer.

    If it ``is_bare``, only the picture and its patches are drawn.
    """
    tokens = scene.tokens
    patches = [token.position for token in tokens if not token.is_special]
    heads = []
    for head in range(scene.info.n_heads):
        row = scene.attention.head(head).weights[scene.word]
        best = int(row.argmax())
        told = message(
            "“{query}” attends most to “{key}”, {weight}.",
            query=scene.labels[scene.word],
            key=scene.labels[best],
            weight=number(float(row[best])),
        )
        special = float(np.delete(row, patches).sum())
        heads.append(HeadOverlay(message("Head {head}", head=head + 1), row[patches], special, told))
    return Overlay(
        label=message("Layer {layer} over the picture", layer=scene.layer + 1),
        asking=scene.labels[scene.word],
        picture=pixels.shades(scene.trace.text),
        patches=tuple(scene.labels[position] for position in patches),
        heads=tuple(heads),
        current=scene.head,
        positions=tuple(patches),
        focus=patches.index(scene.word) if scene.word in patches else None,
        is_bare=is_bare,
    )


def cut(trace: Trace) -> Cut | None:
    """Return the picture cut into its patches; None if the model reads text."""
    if not trace.info.reading.is_laid_out:
        return None
    n_patches = sum(not token.is_special for token in trace.tokens)
    grey = pixels.shades(trace.text)
    return Cut(shades(grey, 1, is_signed=False), len(grey), round(n_patches**0.5))


def overlay_table(data: Overlay) -> dict[str, list[str]]:
    """Return the weights as columns in full precision: a row for each patch, and one for all other tokens."""
    table = {message("to"): [*data.patches, message("other tokens")]}
    for head in data.heads:
        table[head.label] = full_precision((*head.weights, head.special))
    return table


def picture_table(data: Overlay) -> dict[str, list[str]]:
    """Return the picture's grey levels, from 0 to 1, as columns: a row for each row of pixels."""
    numbers = range(1, len(data.picture) + 1)
    table = {message("row of pixels"): [str(number) for number in numbers]}
    columns = zip(numbers, data.picture.T, strict=True)
    return table | {str(number): full_precision(levels) for number, levels in columns}


def tell_overlay(scene: HeadContext) -> str:
    """Describe the overlay as HTML, with the weight on patches."""
    row = scene.steps.weights[scene.word]
    patches = [token.position for token in scene.tokens if not token.is_special]
    on_patches = float(row[patches].sum())
    return lesson(
        "all-heads/overlay",
        **scene.numbers,
        focus=word(scene.labels[scene.word]),
        patches=fact(on_patches),
        special=fact(1 - on_patches),
    )
