"""How scores spread, before and after scaling: the bins of their histograms, and what is said of them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message

__all__ = ["binned", "told_spread"]

N_BINS = 30


def told_spread(*, is_closer: bool) -> str:
    """Return in words what the histograms of scores show."""
    if is_closer:
        return message("How often each score occurs, before and after scaling: afterwards they are closer to 0.")
    return message("How often each score occurs, before and after scaling.")


def binned(before: Array, after: Array) -> tuple[Float[Array, " B+1"], Float[Array, "2 B"]]:
    """Return the edges of bins that cover both, and how many of each lie in every bin."""
    # If all scores are large, the scaled ones lie below the lowest unscaled one, so the bins must cover both.
    low, high = (float(extreme([extreme(before), extreme(after)])) for extreme in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    return edges, np.stack([np.histogram(scores, edges)[0].astype(float) for scores in (before, after)])
