"""One head by hand, in NumPy: ``softmax(Q Kᵀ / √D + mask) V``, each step on a line of its own."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

__all__ = ["attend"]


def attend(
    x: Float[Array, "T M"],
    W_Q: Float[Array, "M D"],
    W_K: Float[Array, "M D"],
    W_V: Float[Array, "M D"],
    b_Q: Float[Array, " D"],
    b_K: Float[Array, " D"],
    b_V: Float[Array, " D"],
    mask: Float[Array, "T T"],
) -> Float[Array, "T D"]:
    """Attend with one head (Vaswani et al. 2017, section 3.2.1)."""
    queries = x @ W_Q + b_Q  # T D
    keys = x @ W_K + b_K  # T D
    values = x @ W_V + b_V  # T D

    scores = queries @ keys.T  # T T
    scaled = scores / np.sqrt(queries.shape[-1])  # T T
    masked = scaled + mask  # T T

    exponentials = np.exp(masked - masked.max(axis=-1, keepdims=True))  # T T
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)  # T T

    output: Float[Array, "T D"] = weights @ values
    return output
