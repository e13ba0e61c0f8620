"""Read the attentions that transformers returns (one tensor per layer, for a batch of one) as weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from attention.core.given import integer, printable
from attention.core.trace import Part
from attention.core.words import shown_piece
from attention.models import byte_level
from attention.show.weights import PART_NAMES, Weights, indices_of

_EAGER = (
    "there are no weights in it: the model computes its attention without ever having them (SDPA, Flash Attention), or "
    'was not asked for them. Load it with attn_implementation="eager" and call it with output_attentions=True.'
)


def of_arrays(
    attention: Any,
    tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None = None,
    *,
    name: str = "",
    sentence_b_start: int | None = None,
    prettify: bool = True,
    include_layers: Sequence[int] | None = None,
) -> Weights:
    """Read a model's attentions: for each layer an array of shape (1, heads, queries, keys) or (heads, queries, keys).

    ``key_tokens`` are the tokens attended to, if they differ from those that attend; ``sentence_b_start`` indexes them.

    Raises:
        TypeError: not a sequence of arrays.
        ValueError: empty, more than one text, wrong tokens, or not attention weights; the message says what to do.
    """
    if tokens is None:
        raise ValueError("tokens must be given: tokenizer.convert_ids_to_tokens(inputs.input_ids[0])")
    rows, columns = _labels(tokens, prettify), _labels(tokens if key_tokens is None else key_tokens, prettify)
    chosen = {number: _array(layer) for number, layer in _listed(attention, include_layers).items()}
    *_, n_rows, n_columns = (0, 0, *next(iter(chosen.values())).shape)
    # A window's columns are offsets, and a sink may have a column of its own.
    is_numbered = key_tokens is None and n_rows == len(rows) != n_columns
    if is_numbered:
        columns = tuple(map(str, range(n_columns)))
    layers = tuple(_layer(number, layer, (len(rows), len(columns))) for number, layer in chosen.items())
    breaks = _breaks(sentence_b_start, len(rows) if is_numbered else len(columns))
    return Weights(
        layers=layers,
        rows=rows,
        columns=columns,
        layer_numbers=tuple(chosen),
        head_numbers=tuple(range(layers[0].shape[0])),
        name=name,
        row_breaks=breaks if key_tokens is None or key_tokens is tokens else (),
        column_breaks=() if is_numbered else breaks,
        is_numbered=is_numbered,
    )


def of_parts(
    encoder: Any,
    decoder: Any,
    cross: Any,
    encoder_tokens: Any,
    decoder_tokens: Any,
    *,
    sentence_b_start: int | None,
    prettify: bool,
    include_layers: Sequence[int] | None = None,
) -> tuple[Weights, ...]:
    """Read an encoder–decoder's attentions: those of the three that are not None.

    Raises:
        TypeError: not a sequence of arrays.
        ValueError: no attention given, tokens missing, or weights refused by :func:`of_arrays`.
    """
    given: dict[Part, Any] = {"encoder": encoder, "decoder": decoder, "cross": cross}
    read, wrote = ("encoder_tokens", encoder_tokens), ("decoder_tokens", decoder_tokens)
    sides = {"encoder": (read, read), "decoder": (wrote, wrote), "cross": (wrote, read)}
    for part, attention in given.items():
        for name, tokens in sides[part]:
            if attention is not None and tokens is None:
                raise ValueError(f"{part}_attention needs {name}")
    found = tuple(
        of_arrays(
            attention,
            sides[part][0][1],
            sides[part][1][1],
            name=PART_NAMES[part],
            sentence_b_start=None if part == "decoder" else sentence_b_start,
            prettify=prettify,
            include_layers=include_layers,
        )
        for part, attention in given.items()
        if attention is not None
    )
    if not found:
        raise ValueError(f"no attention is given, or {_EAGER}")
    return found


def _listed(attention: Any, include: Sequence[int] | None) -> dict[int, Any]:
    """Return the included layers by their numbers; by default, all but those that are None."""
    if attention is None:
        raise ValueError(f"attention is None: {_EAGER}")
    if hasattr(attention, "attentions"):
        raise TypeError("attention must be the attentions of what a model returns: pass outputs.attentions")
    if isinstance(attention, dict | str) or not (hasattr(attention, "__len__") and hasattr(attention, "__getitem__")):
        raise TypeError(f"attention must be a tuple with an array for each layer, got {type(attention).__name__}")
    if not len(attention):
        raise ValueError(
            "attention is empty. Pass outputs.attentions: outputs[-1] are cross-attentions in many models. If that is "
            f"empty, too, {_EAGER}"
        )
    layers = [attention[index] for index in range(len(attention))]
    without = [index for index, layer in enumerate(layers) if layer is None]
    if len(without) == len(layers):
        raise ValueError(f"attention has only None in it: {_EAGER}")
    first = next(layer for layer in layers if layer is not None)
    if isinstance(first, tuple | list) and (not first or hasattr(first[0], "shape")):
        raise TypeError(
            "attention is a tuple of tuples, as generate() returns it: one for each token that was written. Pass one "
            "of them, or run the model once on the whole text and pass outputs.attentions"
        )
    chosen = {index: layers[index] for index in indices_of("layer", range(len(layers)), include)}
    missing = [index for index, layer in chosen.items() if layer is None]
    if missing and include is not None:
        raise ValueError(f"layer {missing[0]} is None: it has no attention, or its weights were not returned")
    return {index: layer for index, layer in chosen.items() if layer is not None}


def _layer(index: int, array: Array, wanted: tuple[int, int]) -> Array:
    if array.ndim == 4 and array.shape[0] != 1:
        raise ValueError(
            f"layer {index} is of a batch of {array.shape[0]} texts, and one can be shown. "
            "Choose it: tuple(layer[i : i + 1] for layer in attention)"
        )
    if array.ndim not in {3, 4}:
        raise ValueError(
            f"layer {index} must have the shape (1, heads, tokens, tokens), got {array.shape}: "
            "pass a tuple with an array for each layer, as a model returns them"
        )
    n_heads, n_queries, n_keys = array.shape[-3:]
    if (n_queries, n_keys) != wanted:
        raise ValueError(
            f"layer {index} has weights from {n_queries} tokens to {n_keys}, and {wanted[0]} and {wanted[1]} of them "
            "have names: name all that the model has read, special tokens and padding too"
        )
    return np.asarray(array.reshape(n_heads, n_queries, n_keys))


def _array(layer: Any) -> Array:
    # A tensor may be on a GPU, require gradients, or have a type that NumPy lacks (bfloat16).
    if hasattr(layer, "detach"):
        layer = layer.detach().float().cpu().numpy()
    try:
        return np.asarray(layer, np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(f"a layer must be an array of numbers, got {type(layer).__name__}") from error


def _labels(tokens: Any, prettify: bool) -> tuple[str, ...]:
    texts = tuple(tokens) if isinstance(tokens, Iterable) else (None,)
    if isinstance(tokens, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError("tokens must be a list of texts: tokenizer.convert_ids_to_tokens(inputs.input_ids[0])")
    labels = tuple(map(printable, texts))
    if not prettify:
        return labels
    decoded = [byte_level.text_of(label) for label in labels]
    # Other vocabularies have letters such as č and ł, which would be bytes, but not those of printable text.
    if any("Ġ" in label or "Ċ" in label for label in labels) or all(text and text.isprintable() for text in decoded):
        labels = tuple(map(byte_level.shown, labels))
    return tuple(map(shown_piece, labels))


def _breaks(given: int | None, length: int) -> tuple[int, ...]:
    if given is None:
        return ()
    start = integer("sentence_b_start", given)
    if not 0 < start < length:
        raise ValueError(f"sentence_b_start must be between 1 and {length - 1}, got {start}")
    return (start,)
