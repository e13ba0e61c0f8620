"""Run a model with a change: heads ablated or shuffled, or a token occluded.

A head's importance is measured by the output without it, not by its weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.given import check_below, counted, integers
from attention.core.interventions import Causes, Intervention
from attention.core.steps import softmax
from attention.core.trace import LayerTrace


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Permute each row's weights among the visible keys, in some heads of a layer; ``seed`` determines the order.

    Raises:
        TypeError: a number is not an integer.
        ValueError: a number is negative.
    """

    layer: int
    heads: tuple[int, ...]
    seed: int

    def __post_init__(self) -> None:
        """Convert to plain integers and validate."""
        object.__setattr__(self, "layer", counted("layer", self.layer))
        object.__setattr__(self, "heads", tuple(counted("heads", each) for each in integers("heads", self.heads)))
        object.__setattr__(self, "seed", counted("seed", self.seed))

    @property
    def acts_before(self) -> bool:
        """False: it changes outputs."""
        return False

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:  # noqa: ARG002 - it changes every token alike
        """Raise ValueError if the layer or a head does not exist."""
        for head in self.heads:
            check_below(layer=(self.layer, n_layers), head=(head, n_heads))

    def before(self, causes: Causes) -> None:
        """Leave queries, mask and bias as they are."""

    def after(self, layer: LayerTrace, outputs: Float[Array, "H Q Dv"]) -> None:
        """Replace the heads' outputs by those of the shuffled weights."""
        steps, heads = layer.steps(), list(self.heads)
        chance = np.random.default_rng((self.seed, self.layer))
        weights = shuffled(steps.weights[heads], ~np.isneginf(steps.mask[heads]), chance)
        outputs[heads] = weights.astype(outputs.dtype) @ steps.values[heads]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one run of a model: interventions in its heads, or an occluded token.

    ``without`` is the position of a token that is occluded: the model reads an uninformative one in its place.

    Raises:
        TypeError: ``without`` is not an integer.
        ValueError: ``without`` is negative.
    """

    interventions: tuple[Intervention, ...] = ()
    without: int | None = None

    def __post_init__(self) -> None:
        """Convert to a plain integer and validate."""
        if self.without is not None:
            object.__setattr__(self, "without", counted("without", self.without))

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:
        """Raise ValueError if a run of this size does not have a layer, head or token of the change."""
        for each in self.interventions:
            each.check(n_layers, n_heads, n_tokens)
        if self.without is not None:
            check_below(token=(self.without, n_tokens))


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
