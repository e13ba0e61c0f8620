"""Histograms of scores before and after scaling."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

N_BINS = 30


def binned(before: Array, after: Array) -> tuple[Float[Array, " B+1"], Float[Array, "2 B"]]:
    """Return the edges of the bins and the counts before and after scaling."""
    # The bins cover both: scaling can move all scores out of their original range.
    low, high = (float(extreme([extreme(before), extreme(after)])) for extreme in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    return edges, np.stack([np.histogram(scores, edges)[0].astype(float) for scores in (before, after)])
