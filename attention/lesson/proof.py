"""The proof beside the picture: our numbers against the model's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attention.figures.format import scientific
from attention.trace import Trace

__all__ = ["TOLERANCE", "Proof", "prove"]

# Two float32 computations of the same sums, in another order, stay well within this.
TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class Proof:
    """How far ours and the model's own are apart at most, over all layers, heads and tokens."""

    largest_difference: float
    largest_row_error: float
    n_masked_rows: int

    @property
    def holds(self) -> bool:
        """Tell whether both are within the tolerance."""
        return self.largest_difference <= TOLERANCE and self.largest_row_error <= TOLERANCE

    def sentence(self, name: str) -> str:
        """Say it in plain words, for the model of this name."""
        if self.largest_row_error <= TOLERANCE:
            rows = "rows sum to 1"
        else:
            rows = f"rows miss 1 by up to {scientific(self.largest_row_error)}"
        if self.n_masked_rows:
            rows += f" ({self.n_masked_rows} wholly masked rows to 0)"
        difference = scientific(self.largest_difference)
        return f"{rows} · recomputed vs. {name}'s own output: largest difference {difference}"


def prove(trace: Trace) -> Proof:
    """Recompute every head of every layer and compare it with what the model itself produced."""
    difference = row_error = 0.0
    n_masked_rows = 0
    for layer in (layer for part in trace.traces for layer in part.layers):
        # Head by head: all at once take much memory where the text is long.
        for head, model_output in enumerate(layer.model_output):
            steps = layer.head(head)
            sums = steps.weights.sum(axis=-1)
            is_masked = np.isneginf(steps.masked_scores).all(axis=-1)
            n_masked_rows += int(is_masked.sum())
            # NumPy's maximum, since Python's passes over NaN, and the proof must not.
            row_error = np.maximum(row_error, np.abs(sums - ~is_masked).max())
            difference = np.maximum(difference, np.abs(steps.head_outputs - model_output).max())
    return Proof(float(difference), float(row_error), n_masked_rows)
