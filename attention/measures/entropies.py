"""How broadly a head looks: the entropy of its rows."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

__all__ = ["entropy", "normalised_entropy"]


def entropy(weights: Float[Array, "*H K"]) -> Float[Array, "*H"]:
    """Return how widely each row spreads its weight, in nats: ``−Σ a ln a``, where ``0 ln 0 = 0``.

    0 is all on one token, ``ln K`` is even over K tokens (Clark et al. 2019, section 3.3).
    """
    logarithms = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    per_row = np.einsum("...k,...k->...", weights, logarithms).astype(np.float64)
    return np.maximum(0 - per_row, 0)


def normalised_entropy(entropies: Float[Array, "*H Q"], n_visible: Int[Array, "*1 Q"]) -> Float[Array, "*H Q"]:
    """Return each row's entropy as a part of the most it could be: ``entropy / ln K``, from 0 to 1.

    K is the number of keys that the row may see. A row that may see one key, or none, has no choice: 0.
    """
    highest = np.log(np.maximum(n_visible, 2))
    return np.where(n_visible > 1, np.minimum(entropies / highest, 1), 0)
