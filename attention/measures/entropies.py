"""How broadly a head attends: the entropy of its rows."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array


def entropy(weights: Float[Array, "*H K"]) -> Float[Array, "*H"]:
    """Return the entropy of each row in nats: ``−Σ a ln a``, where ``0 ln 0 = 0``.

    It is 0 for all weight on one token, and ``ln K`` for uniform weights on K tokens (Clark et al. 2019, section 3.3).
    """
    logarithms = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    per_row = np.einsum("...k,...k->...", weights, logarithms).astype(np.float64)
    return np.maximum(0 - per_row, 0)


def normalised_entropy(entropies: Float[Array, "*H Q"], n_visible: Int[Array, "*1 Q"]) -> Float[Array, "*H Q"]:
    """Return each row's entropy as a fraction of its maximum: ``entropy / ln K``, from 0 to 1.

    K is the number of keys visible to the row; with fewer than two, it is 0.
    """
    highest = np.log(np.maximum(n_visible, 2))
    return np.where(n_visible > 1, np.minimum(entropies / highest, 1), 0)
