"""Run a model with a change: heads ablated or shuffled, or a token occluded.

A head's importance is measured by the output without it, not by its weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.given import check_below, counted, integers
from attention.core.steps import softmax
from attention.core.trace import LayerTrace

# What replaces a head's output: zeros (Michel et al. 2019), the mean of its outputs on this text, the result of uniform
# weights (Kovaleva et al. 2019), or of its own weights in another order.
How = Literal["zero", "mean", "even", "shuffled"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one run of a model: ablated heads, or an occluded token.

    ``heads`` are pairs of a layer and a head, counted from 0; ``seed`` determines how weights are shuffled. ``without``
    is the position of a token that is occluded: the model reads an uninformative one in its place.

    Raises:
        TypeError: a number is not an integer.
        ValueError: ``how`` is unknown, a head is not a pair, or a number is negative.
    """

    heads: frozenset[tuple[int, int]] = frozenset()
    how: How = "zero"
    seed: int = 0
    without: int | None = None

    def __post_init__(self) -> None:
        """Convert to plain integers and validate."""
        if self.how not in get_args(How):
            raise ValueError(f"how must be one of {', '.join(get_args(How))}, got {self.how!r}")
        heads = [tuple(counted("heads", each) for each in integers("heads", pair)) for pair in self.heads]
        if any(len(pair) != 2 for pair in heads):
            raise ValueError(f"heads must be pairs of a layer and a head, got {self.heads!r}")
        object.__setattr__(self, "heads", frozenset(heads))
        object.__setattr__(self, "seed", counted("seed", self.seed))
        if self.without is not None:
            object.__setattr__(self, "without", counted("without", self.without))

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:
        """Raise ValueError if a run of this size does not have a layer, head or token of the change."""
        for layer, head in self.heads:
            check_below(layer=(layer, n_layers), head=(head, n_heads))
        if self.without is not None:
            check_below(token=(self.without, n_tokens))

    def of_layer(self, layer: int) -> list[int]:
        """Return the changed heads of a layer in ascending order."""
        return sorted(head for at, head in self.heads if at == layer)


@dataclass(frozen=True, slots=True)
class Output:
    """The output of one run: each token's last vector and, if the model predicts, logits with their labels.

    A decoder predicts the next token, and its vectors are those after the final norm; a classifier predicts a class.
    """

    vectors: Float[Array, "T M"]
    logits: Float[Array, " V"] | None = None
    labels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """How much a change affects the output.

    ``moved`` is the total variation distance of the predictions or, without predictions, the cosine distance of the
    mean vectors of the text. ``tokens`` is the relative change of each token's last vector. ``likeliest`` is the
    prediction with the change, ``kept`` the probability with the change of the prediction without it; "" and NaN
    without predictions.
    """

    moved: float
    tokens: Float[Array, " T"]
    likeliest: str = ""
    kept: float = math.nan


def replaced(layer: LayerTrace, change: Change, number: int) -> Float[Array, "H Q Dv"]:
    """Return the outputs of the heads of layer ``number`` with a change."""
    heads, outputs = change.of_layer(number), layer.model_output
    if not heads:
        return outputs
    outputs = outputs.copy()
    if change.how == "zero":
        outputs[heads] = 0
    elif change.how == "mean":
        outputs[heads] = outputs[heads].mean(axis=1, keepdims=True)
    else:
        steps = layer.steps()
        visible = ~np.isneginf(steps.mask[heads])
        if change.how == "even":
            weights = even(visible)
        else:
            weights = shuffled(steps.weights[heads], visible, np.random.default_rng((change.seed, number)))
        outputs[heads] = weights.astype(outputs.dtype) @ steps.values[heads]
    return outputs


def even(visible: Bool[Array, "*H Q K"]) -> Float[Array, "*H Q K"]:
    """Return uniform weights over the visible keys of each query."""
    return visible / np.maximum(visible.sum(axis=-1, keepdims=True), 1)


def shuffled(
    weights: Float[Array, "*H Q K"], visible: Bool[Array, "*H Q K"], chance: np.random.Generator
) -> Float[Array, "*H Q K"]:
    """Permute each row's weights among the visible keys."""
    places = np.argsort(~visible, axis=-1, kind="stable")
    order = np.argsort(np.where(visible, chance.random(weights.shape), np.inf), axis=-1, kind="stable")
    found = np.empty_like(weights)
    np.put_along_axis(found, places, np.take_along_axis(weights, order, axis=-1), axis=-1)
    return found


def effects(outputs: Iterable[Output], counted: Bool[Array, " T"]) -> tuple[Effect, ...]:
    """Compare outputs with the first, an unchanged run's; text vectors are means over ``counted`` (or all) tokens."""
    found: list[Effect] = []
    counted = counted if counted.any() else ~counted
    first: Output | None = None
    for output in outputs:
        first = first or output
        lengths = np.linalg.norm(first.vectors, axis=-1)
        tokens = np.linalg.norm(output.vectors - first.vectors, axis=-1) / np.where(lengths == 0, 1, lengths)
        tokens.setflags(write=False)
        if output.logits is None or first.logits is None:
            moved = cosine_distance(*(each.vectors[counted].mean(axis=0, dtype=np.float64) for each in (first, output)))
            found.append(Effect(moved, tokens))
            continue
        before, after = (softmax(each.astype(np.float64)) for each in (first.logits, output.logits))
        likeliest = output.labels[int(after.argmax())]
        found.append(Effect(variation(before, after), tokens, likeliest, float(after[before.argmax()])))
    return tuple(found)


def variation(one: Float[Array, " V"], other: Float[Array, " V"]) -> float:
    """Return the total variation distance of two distributions: ``½ Σ |p − q|``, from 0 to 1."""
    return float(np.abs(one - other).sum() / 2)


def cosine_distance(one: Float[Array, " M"], other: Float[Array, " M"]) -> float:
    """Return the cosine distance ``1 − cos`` of two vectors, from 0 to 2; 1 if exactly one of them is 0."""
    sizes = float(np.linalg.norm(one)), float(np.linalg.norm(other))
    if 0 in sizes:
        return float(sizes != (0, 0))
    return float(max(0.0, 1 - one @ other / (sizes[0] * sizes[1])))
