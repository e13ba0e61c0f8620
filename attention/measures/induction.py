"""Prefix matching: attention to the token after an earlier copy of the current one.

A head that does this and copies the attended token is an induction head (Elhage et al. 2021; Olsson et al. 2022).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

from attention.core.trace import Trace


def after_earlier_copies(tokens: Int[Array, " T"]) -> Bool[Array, "T T"]:
    """Return, for each query, which keys directly follow an earlier copy of its token.

    >>> after_earlier_copies(np.array([7, 8, 9, 7])).nonzero()
    (array([3]), array([1]))
    """
    earlier = np.tril(tokens[:, None] == tokens[None, :], k=-1)
    return np.pad(earlier, ((0, 0), (1, 0)))[:, :-1]


def prefix_matching(weights: Float[Array, "*axes T T"], tokens: Int[Array, " T"]) -> Float[Array, "*axes"]:
    """Return the mean weight on the tokens after earlier copies, over the queries whose token has one; 0 if none has.

    Weights after several copies are summed. This is the prefix-matching score of Olsson et al. 2022 ("In-context
    learning and induction heads"), who take 25 random tokens, repeated four times.
    """
    wanted = after_earlier_copies(tokens)
    n_queries = int(wanted.any(axis=-1).sum())
    total: Array = np.where(wanted, weights, 0).sum(axis=(-2, -1), dtype=np.float64)
    return total / max(n_queries, 1)


def numbered(trace: Trace) -> Int[Array, " T"]:
    """Number the tokens of a trace; equal tokens get the same number."""
    _, numbers = np.unique([token.text for token in trace.tokens], return_inverse=True)
    return numbers


def scores_of(trace: Trace) -> Float[Array, "L H"]:
    """Return the prefix-matching score of every head of a self-attention trace."""
    tokens, n_heads = numbered(trace), trace.info.n_heads
    # Head by head, because the weights of all heads take much memory for a long text.
    scores = [[prefix_matching(layer.head(head).weights, tokens) for head in range(n_heads)] for layer in trace.layers]
    return np.array(scores)
