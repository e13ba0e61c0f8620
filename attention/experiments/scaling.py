r"""Why scores are divided by √d_k: the spread of random dot products, and softmax's gradient.

If the components of q and k are independent with mean 0 and variance 1, then q · k = Σ q_i k_i has mean 0 and variance
d_k; softmax of large scores has "extremely small gradients" (Vaswani et al. 2017, section 3.2.1 and footnote 4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.steps import score


def random_scores(
    widths: Sequence[int], n_queries: int, n_keys: int, seed: int = 0
) -> Float[Array, "W n_queries n_keys"]:
    """Return q · k of random vectors, each query with its own keys, over their first d components for each width d.

    All components are independent standard normals; ``widths`` ascend.
    """
    numbers = np.random.default_rng(seed)
    products = np.zeros((len(widths), n_queries, n_keys), dtype=np.float32)
    before = 0
    for index, width in enumerate(widths):
        shape = (n_queries, 1, width - before)
        queries = numbers.standard_normal(shape, dtype=np.float32)
        keys = numbers.standard_normal((n_queries, n_keys, width - before), dtype=np.float32)
        products[index] = score(queries, keys)[:, 0]
        before = width
    return np.cumsum(products, axis=0)


def exponent(widths: Sequence[int], spreads: Sequence[float] | Float[Array, " W"]) -> float:
    """Return the p of the law ``spread ∝ width^p`` that fits best: the slope of a line through the logarithms."""
    return float(np.polyfit(np.log(widths), np.log(spreads), 1)[0])


def gradient_length(weights: Float[Array, "*axes K"]) -> Float[Array, "*axes"]:
    """Return the Frobenius norm of softmax's Jacobian ``diag(a) − a aᵀ`` at each row.

    ``‖J‖² = Σ a² − 2 Σ a³ + (Σ a²)²``: 0 if all weight is on one key, ``√(K − 1) / K`` for K equal weights.
    """
    precise = weights.astype(np.float64)
    squares = np.square(precise).sum(axis=-1)
    cubes = (precise**3).sum(axis=-1)
    # Rounding may leave it slightly negative.
    length: Array = np.sqrt(np.maximum(squares - 2 * cubes + squares**2, 0))
    return length
