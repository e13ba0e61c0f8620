"""One head by hand, in NumPy: five lines, one for each step."""

import numpy as np
from numpy import ndarray as Array


def one_head(x: Array, W_Q: Array, W_K: Array, W_V: Array, b_Q: Array, b_K: Array, b_V: Array, mask: Array) -> Array:
    """Return what one head makes of the tokens' vectors, a row for each."""
    Q, K, V = x @ W_Q + b_Q, x @ W_K + b_K, x @ W_V + b_V
    scores = Q @ K.T / np.sqrt(Q.shape[1]) + mask
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    output: Array = weights @ V
    return output
