"""How far a head attends: its weights summed by the offset ``k − q`` from query to key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from attention.measures.rows import Rows, sum_columns, sum_rows

# Weights that vary by less than this (root mean square) count as uniform.
EVEN = 1e-5


@dataclass(frozen=True, slots=True)
class Offsets:
    """The offsets from ``−(Q − 1)`` to ``K − 1``, and the weight and the visible cells of the counted rows on each."""

    offsets: Int[Array, " Q+K-1"]
    sums: Float[Array, "*H Q+K-1"]
    n_cells: Float[Array, "*1 Q+K-1"]
    n_rows: Int[Array, "*1"]

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Sum weights by offset."""
        n_queries, n_keys = rows.weights.shape[-2:]
        n_cells = by_offset((rows.visible & rows.counted[..., None]).astype(np.float64))
        return cls(np.arange(1 - n_queries, n_keys), by_offset(rows.weights).astype(np.float64), n_cells, rows.n)

    def share(self, offset: int) -> Float[Array, "*H"]:
        """Return the share of a row's weight at one offset, averaged over the rows that can see such a key; else 0.

        Clark et al. 2019, section 3.1, average over all rows: the first, which has no previous token, counts as 0.
        """
        at = offset - self.offsets[0]
        if not 0 <= at < self.offsets.size:
            return np.zeros(self.sums.shape[:-1])
        return self.sums[..., at] / np.maximum(self.n_cells[..., at], 1)

    def near(self) -> Float[Array, "*H"]:
        """Return the share of weight on the token itself and its neighbours, averaged over rows."""
        return sum_rows(self.sums * (np.abs(self.offsets) <= 1)) / self.n_rows

    def mean_distance(self) -> Float[Array, "*H"]:
        """Return the mean distance in tokens: ``Σ_k a_qk |k − q|``, averaged over rows."""
        return self.sums @ np.abs(self.offsets) / self.n_rows

    def mean_offset(self) -> Float[Array, "*H"]:
        """Return the mean offset in tokens, positive for forward: ``Σ_k a_qk (k − q)``, averaged over rows."""
        return self.sums @ self.offsets / self.n_rows

    def positional(self, rows: Rows) -> Float[Array, "*H"]:
        """Return how well the offset alone predicts the weights, from 0 to 1.

        Each visible weight is predicted by the mean weight at its offset. The score is the explained share of the
        variance, adjusted because a short text has nearly as many offsets as cells: ``1 − (1 − R²)(n − 1)/(n − p)`` for
        n cells and p offsets, or 0 if that is negative. Uniform weights give 0. This measure is the project's own.
        """
        n, p = self.n_cells.sum(axis=-1), (self.n_cells > 0).sum(axis=-1)
        correction = sum_rows(self.sums) ** 2 / np.maximum(n, 1)  # n times the mean's square
        squares = np.einsum("...k,...k->...", rows.weights, rows.weights)  # (*H, Q)
        variation = sum_rows(squares.astype(np.float64)) - correction
        explained = sum_rows(self.sums**2 / np.maximum(self.n_cells, 1)) - correction
        can_tell = (n > p) & (variation > n * EVEN**2)
        unexplained = (variation - explained) / np.where(can_tell, variation, 1)
        adjusted = 1 - unexplained * (n - 1) / np.where(n > p, n - p, 1)
        return np.where(can_tell, np.clip(adjusted, 0, 1), 0)


def by_offset(cells: Float[Array, "*H Q K"]) -> Float[Array, "*H Q+K-1"]:
    """Sum the cells of each offset ``k − q``, from ``−(Q − 1)`` to ``K − 1``.

    With the rows reversed and each shifted one place right of the one above, every column is one offset; padding the
    rows to Q + K and reading them as rows of Q + K − 1 does exactly that.
    """
    *heads, n_queries, n_keys = cells.shape
    padded = np.zeros((*heads, n_queries, n_queries + n_keys), cells.dtype)
    padded[..., :n_keys] = cells[..., ::-1, :]
    width = n_queries + n_keys - 1
    slanted = padded.reshape(*heads, -1)[..., : n_queries * width]
    return sum_columns(slanted.reshape(*heads, n_queries, width))
