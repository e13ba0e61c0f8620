"""Interventions in single heads while a model runs.

A head can be ablated (Michel et al. 2019), cut off from one token (Geva et al. 2023), or patched with its outputs from
another run (Vig et al. 2020). Layers, heads and tokens count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.given import check_below, counted, integers
from attention.core.trace import LayerTrace, Trace

# What replaces an ablated head's outputs.
Instead = Literal["zero", "mean", "uniform"]


class Causes(NamedTuple):
    """What an intervention may change before the softmax: a layer's queries, mask and position bias."""

    queries: Float[Array, "H Q D"]
    mask: Float[Array, "H Q K"]
    bias: Float[Array, "H Q K"] | None


class Run(NamedTuple):
    """A run with interventions: its trace and a decoder's logits after every token, None for other models."""

    trace: Trace
    logits: Float[Array, "T V"] | None

    def __repr__(self) -> str:
        """Return its trace's sizes and the logits' shape: their numbers would be pages."""
        shape = None if self.logits is None else self.logits.shape
        return f"<Run: {self.trace!r}, logits {shape}>"


class Intervention(Protocol):
    """A change to one layer."""

    @property
    def layer(self) -> int:
        """The layer it changes."""

    @property
    def acts_before(self) -> bool:
        """Whether it changes anything before the softmax."""

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:
        """Raise ValueError if a run of this size lacks its layer, head or token; the message states the range."""

    def before(self, causes: Causes) -> None:
        """Change the query, mask or bias in place; called only if it ``acts_before``."""

    def after(self, layer: LayerTrace, outputs: Float[Array, "H Q Dv"]) -> None:
        """Change the outputs of the layer's heads in place; ``layer`` is as it ran."""


@dataclass(frozen=True, slots=True)
class Ablate:
    """Ablate a head.

    Its outputs become zeros ("zero"), their mean over the tokens ("mean"), or the result of uniform weights on the
    visible tokens ("uniform").

    Args:
        place: the layer and the head.
        how: "zero", "mean" or "uniform".

    Raises:
        TypeError: a number is not an integer.
        ValueError: the place is not a pair, a number is negative, or ``how`` is unknown.

    >>> Ablate((2, 8), "mean")
    Ablate(place=(2, 8), how='mean')
    """

    place: tuple[int, int]
    how: Instead = "zero"

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", _place(self.place))
        if self.how not in get_args(Instead):
            raise ValueError(f"how must be one of {', '.join(get_args(Instead))}, got {self.how!r}")

    @property
    def layer(self) -> int:
        """The head's layer."""
        return self.place[0]

    @property
    def acts_before(self) -> bool:
        """Whether its weights are to be uniform."""
        return self.how == "uniform"

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:  # noqa: ARG002 - it changes every token alike
        """Raise ValueError if the head does not exist."""
        check_below(layer=(self.place[0], n_layers), head=(self.place[1], n_heads))

    def before(self, causes: Causes) -> None:
        """Make all of the head's scores equal."""
        causes.queries[self.place[1]] = 0
        if causes.bias is not None:
            causes.bias[self.place[1]] = 0

    def after(self, layer: LayerTrace, outputs: Float[Array, "H Q Dv"]) -> None:  # noqa: ARG002 - needs outputs only
        """Replace the head's outputs by zeros or their mean."""
        head = self.place[1]
        if self.how == "zero":
            outputs[head] = 0
        elif self.how == "mean":
            outputs[head] = outputs[head].mean(axis=0)


@dataclass(frozen=True, slots=True)
class CutEdge:
    """Keep one token from attending to another in one head; the row's other weights grow.

    A run raises ValueError if the head's mask hides that token already.

    Args:
        layer: the layer.
        head: the head.
        query: the position of the attending token.
        key: the position of the token to hide.

    Raises:
        TypeError: a number is not an integer.
        ValueError: a number is negative.
    """

    layer: int
    head: int
    query: int
    key: int

    def __post_init__(self) -> None:
        for name in ("layer", "head", "query", "key"):
            object.__setattr__(self, name, counted(name, getattr(self, name)))

    @property
    def acts_before(self) -> bool:
        """True: it changes the mask."""
        return True

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:
        """Raise ValueError if the head or a token does not exist."""
        check_below(
            layer=(self.layer, n_layers),
            head=(self.head, n_heads),
            query=(self.query, n_tokens),
            key=(self.key, n_tokens),
        )

    def before(self, causes: Causes) -> None:
        """Mask the key for the query; raise ValueError if it is hidden already."""
        if np.isneginf(causes.mask[self.head, self.query, self.key]):
            raise ValueError(
                f"nothing to cut: in layer {self.layer}, head {self.head}, the mask hides token {self.key} from "
                f"token {self.query}"
            )
        causes.mask[self.head, self.query, self.key] = -np.inf

    def after(self, layer: LayerTrace, outputs: Float[Array, "H Q Dv"]) -> None:
        """Leave the outputs as the mask made them."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Replace a head's outputs by those of another run (activation patching).

    Args:
        place: the layer and the head.
        source: the trace of the other run, of the same model and as many tokens.
        tokens: the positions to replace, by default all.

    Raises:
        TypeError: a number is not an integer, or the source is not a trace.
        ValueError: the place is not a pair, or a number is negative.
    """

    place: tuple[int, int]
    source: Trace
    tokens: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", _place(self.place))
        if not isinstance(self.source, Trace):
            raise TypeError(f"source must be a trace, got {type(self.source).__name__}")
        if self.tokens is not None:
            tokens = tuple(counted("tokens", each) for each in integers("tokens", self.tokens))
            object.__setattr__(self, "tokens", tokens)

    @property
    def layer(self) -> int:
        """The head's layer."""
        return self.place[0]

    @property
    def acts_before(self) -> bool:
        """False: it changes outputs."""
        return False

    def check(self, n_layers: int, n_heads: int, n_tokens: int) -> None:
        """Raise ValueError if the head or a token does not exist, or the source has another size."""
        check_below(layer=(self.place[0], n_layers), head=(self.place[1], n_heads))
        for token in self.tokens or ():
            check_below(tokens=(token, n_tokens))
        sizes = len(self.source.layers), self.source.info.n_heads, len(self.source.tokens)
        if sizes != (n_layers, n_heads, n_tokens):
            raise ValueError(
                f"source must have {n_layers} layers of {n_heads} heads and {n_tokens} tokens, as this run has; it has "
                f"{sizes[0]} of {sizes[1]} and {sizes[2]}"
            )

    def before(self, causes: Causes) -> None:
        """Leave queries, mask and bias as they are."""

    def after(self, layer: LayerTrace, outputs: Float[Array, "H Q Dv"]) -> None:  # noqa: ARG002 - needs the other run's
        """Replace the head's outputs by the other run's."""
        number, head = self.place
        at = slice(None) if self.tokens is None else list(self.tokens)
        outputs[head, at] = self.source.layers[number].model_output[head, at]


def checked(given: Any, n_layers: int, n_heads: int, n_tokens: int) -> tuple[Intervention, ...]:
    """Return the interventions as a tuple, checked against the size of a run.

    Raises:
        TypeError: one of them is not an intervention.
        ValueError: a layer, head or token does not exist; the message states the range.
    """
    found: Sequence[Any] = tuple(given) if isinstance(given, Iterable) else (given,)
    for each in found:
        if not isinstance(each, Ablate | CutEdge | Patch):
            raise TypeError(f"interventions must be Ablate, CutEdge or Patch, got {type(each).__name__}")
        each.check(n_layers, n_heads, n_tokens)
    return tuple(found)


def _place(given: Any) -> tuple[int, int]:
    numbers = tuple(counted("place", each) for each in integers("place (layer, head)", given))
    if len(numbers) != 2:
        raise ValueError(f"place must be a pair of a layer and a head, got {given!r}")
    return numbers[0], numbers[1]
