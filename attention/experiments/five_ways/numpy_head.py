"""One head by hand, in NumPy: each step of the equation on a line of its own."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def one_head(
    x: Float[Array, "T M"],
    W_Q: Float[Array, "M D"],
    W_K: Float[Array, "M D"],
    W_V: Float[Array, "M D"],
    b_Q: Float[Array, " D"],
    b_K: Float[Array, " D"],
    b_V: Float[Array, " D"],
    mask: Float[Array, "T T"],
) -> Float[Array, "T D"]:
    """Return the output of one head for every token (Vaswani et al. 2017, section 3.2.1)."""
    Q = x @ W_Q + b_Q  # (T, D)
    K = x @ W_K + b_K  # (T, D)
    V = x @ W_V + b_V  # (T, D)

    scores = Q @ K.T / np.sqrt(K.shape[1]) + mask  # (T, T)
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))  # (T, T)
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)  # (T, T)

    output: Float[Array, "T D"] = weights @ V
    return output
