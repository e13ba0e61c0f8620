"""One query against every key, number by number, as the plain data of the neuron view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.click_schema import Parts, is_index
from attention.figures.format import packed

__all__ = ["NEURON", "Neuron"]


# The matrix name of a cell that stands for a pair of query and key.
NEURON = "neuron"


@dataclass(frozen=True, slots=True)
class TouchPair:
    """A query and a key, out of a given number of each."""

    n_queries: int
    n_keys: int
    acts: tuple[str, ...] = ("choose",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pair that was pressed, as a cell, and its query."""
        if act not in self.acts or not isinstance(value, dict):
            return None
        query, key = value.get("query"), value.get("key")
        if not (is_index(query, self.n_queries) and is_index(key, self.n_keys)):
            return None
        return {"cell": f"{NEURON}-{query}-{key}", "word": str(query)}


@dataclass(frozen=True, slots=True)
class Neuron:
    """One query of one head, its products with every key, and what becomes of them; positions are counted from 0.

    ``query`` and ``key`` are the positions of the pair that is looked at closely. ``products`` are ``q ∘ k``, whose
    row sums are the ``scores``; with ``has_bias``, a position bias is added to these. ``weights`` are the softmax of
    ``masked_scores``. ``divisor`` is what the scores are divided by. ``breaks`` are the positions at which a new group
    of tokens begins. ``labels`` are those of the keys, ``query_labels`` those of the queries, if these are others.
    """

    component: ClassVar[str] = "neuron"

    title: str
    alt: str
    labels: tuple[str, ...]
    query: int
    key: int
    query_vector: Float[Array, " D"]
    keys: Float[Array, "K D"]
    products: Float[Array, "K D"]
    scores: Float[Array, " K"]
    masked_scores: Float[Array, " K"]
    weights: Float[Array, " K"]
    divisor: str
    breaks: tuple[int, ...] = ()
    has_bias: bool = False
    query_labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not have one row for each label.

        Raises:
            ValueError: the shapes differ; the message gives those that came and those expected.
        """
        n_keys, width = len(self.labels), self.query_vector.shape[0]
        wanted: dict[str, tuple[int, ...]] = {"keys": (n_keys, width), "products": (n_keys, width)}
        wanted |= dict.fromkeys(("scores", "masked_scores", "weights"), (n_keys,))
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {getattr(self, name).shape}")

    @property
    def touch(self) -> TouchPair:
        """A query and a key."""
        n_keys = len(self.labels)
        return TouchPair(n_keys if self.query_labels is None else len(self.query_labels), n_keys)

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it; numbers are sent as little-endian float32 in base64."""
        return {
            "title": self.title,
            "alt": self.alt,
            "labels": list(self.labels),
            "queryLabels": list(self.labels if self.query_labels is None else self.query_labels),
            "query": self.query,
            "key": self.key,
            "width": self.query_vector.shape[0],
            "queryVector": packed(self.query_vector),
            "keys": packed(self.keys),
            "products": packed(self.products),
            "scores": packed(self.scores),
            "maskedScores": packed(self.masked_scores),
            "weights": packed(self.weights),
            # Queries and keys share one colour scale, products have another: each is full at its largest magnitude.
            "vectorLimit": _largest(self.query_vector, self.keys),
            "productLimit": _largest(self.products),
            "divisor": self.divisor,
            "hasBias": self.has_bias,
            "breaks": list(self.breaks),
            "selectable": False,
        }


def _largest(*arrays: Array) -> float:
    return max(float(np.abs(array).max()) for array in arrays) or 1.0
