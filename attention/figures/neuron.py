"""The neuron view: one query against every key, dimension by dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.drawn import Drawn, Parts, is_index

# The matrix name of a query-key pair in a link.
NEURON = "neuron"


@dataclass(frozen=True, slots=True)
class Neuron(Drawn):
    """One query of one head, its products with every key, its scores and its weights.

    ``query`` and ``key`` are the positions of the pair in focus. ``products`` are ``q ∘ k``; their row sums are the
    ``scores``, to which a position bias is added if ``has_bias``. ``weights`` are the softmax of ``masked_scores``.
    ``divisor`` divides the scores. A new group of tokens begins at each of the ``breaks``. ``labels`` name the keys,
    and the queries too unless ``query_labels`` do.
    """

    component: ClassVar[str] = "neuron"
    acts: ClassVar[tuple[str, ...]] = ("choose",)

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

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pressed pair as a cell, and its query."""
        if act != "choose" or not isinstance(value, dict):
            return None
        query, key = value.get("query"), value.get("key")
        if not (
            is_index(query, len(self.labels if self.query_labels is None else self.query_labels))
            and is_index(key, len(self.labels))
        ):
            return None
        return {"cell": f"{NEURON}-{query}-{key}", "word": str(query)}

    def payload(self) -> dict[str, Any]:
        """Return the component's data; numbers are little-endian float32 in base64."""
        return self.plain(
            "title alt labels query key query_vector keys products scores masked_scores weights divisor has_bias breaks"
        ) | {
            "queryLabels": list(self.labels if self.query_labels is None else self.query_labels),
            "width": self.query_vector.shape[0],
            # Queries and keys share one colour scale; products have their own. Both end at the largest magnitude.
            "vectorLimit": _largest(self.query_vector, self.keys),
            "productLimit": _largest(self.products),
            "selectable": False,
        }


def _largest(*arrays: Array) -> float:
    return max(float(np.abs(array).max()) for array in arrays) or 1.0
