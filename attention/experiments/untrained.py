"""A head with random weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from attention.core import masks, positions
from attention.core.steps import attend

D_MODEL, D_HEAD = 64, 16


def untrained_weights(tokens: Sequence[int] | Int[Array, " T"], seed: int = 0) -> Float[Array, "T T"]:
    """Return the weights of a random causal head on embeddings of variance 1 with sinusoidal positions."""
    numbers = np.random.default_rng(seed)
    kinds, which = np.unique(np.asarray(tokens), return_inverse=True)
    embedding = numbers.standard_normal((len(kinds), D_MODEL))
    vectors = embedding[which] + positions.sinusoidal(len(which), D_MODEL)
    queries, keys = (vectors @ numbers.normal(0, D_MODEL**-0.5, (D_MODEL, D_HEAD)) for _ in "QK")
    mask = masks.causal(len(which))
    return attend(queries[None], keys[None], keys[None], mask=mask).weights[0].astype(np.float32)
