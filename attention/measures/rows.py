"""The rows of heads' weights: what each may see, which of them count, and averages over those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

__all__ = ["Rows", "on_cells", "sum_columns", "sum_rows"]


@dataclass(frozen=True, slots=True)
class Rows:
    """Weights whose rows that do not count are 0, with the cells that a mask leaves visible and the rows that count.

    ``totals`` are the sums of the rows as they came: 1, or 0 where all is masked.
    """

    weights: Float[Array, "*H Q K"]
    totals: Float[Array, "*H Q"]
    visible: Bool[Array, "*1 Q K"]
    counted: Bool[Array, "*1 Q"]

    @classmethod
    def of(
        cls,
        weights: Float[Array, "*H Q K"],
        mask: Float[Array, "*1 Q K"] | None = None,
        rows: Bool[Array, "*1 Q"] | None = None,
    ) -> Self:
        """Take weights, which are 0 wherever the additive mask hides a cell, and count those of ``rows`` that look."""
        totals = sum_rows(weights)
        looking = totals != 0
        if rows is not None and not rows.all():
            looking = looking & rows
            weights = weights * rows[..., None]
        visible = np.ones(weights.shape[-2:], bool) if mask is None else ~np.isneginf(mask)
        return cls(weights, totals, visible, _once(looking))

    @property
    def n(self) -> Int[Array, "*1"]:
        """How many rows an average is taken over; 1 where there is none, whose sum of 0 stays 0."""
        return np.maximum(self.counted.sum(axis=-1), 1)

    @property
    def n_visible(self) -> Int[Array, "*1 Q"]:
        """How many keys each query may see."""
        return self.visible.sum(axis=-1)

    @property
    def has_choice(self) -> Bool[Array, "*1 Q"]:
        """Which queries may see more than one key."""
        return self.n_visible > 1

    def even(self) -> Float[Array, "*1 Q K"]:
        """Return what the weights would be if each row that counts spread its own evenly over all that it may see."""
        return self.visible * (self.counted / np.maximum(self.n_visible, 1))[..., None]

    def mean(self, per_row: Float[Array, "*H Q"], among: Bool[Array, "*1 Q"] | None = None) -> Float[Array, "*H"]:
        """Return the mean over the rows that count, or over those among them that are asked for; 0 if there is none."""
        counted = self.counted if among is None else self.counted & among
        n_rows = np.maximum(counted.sum(axis=-1), 1)
        return sum_rows(np.where(counted, per_row, 0)) / n_rows


def sum_rows(cells: Float[Array, "*H K"]) -> Float[Array, "*H"]:
    """Add up along the last axis."""
    # Several times as fast as sum() where that axis is short, as a sentence is.
    return np.einsum("...k->...", cells)


def sum_columns(cells: Float[Array, "*H Q K"]) -> Float[Array, "*H K"]:
    """Add up the rows."""
    return np.einsum("...qk->...k", cells)


def on_cells(weights: Float[Array, "*H Q K"], cells: Bool[Array, "*1 Q K"]) -> Float[Array, "*H Q"]:
    """Return how much of each row lies on the marked cells: ``Σ_k a_qk [cell qk]``."""
    return np.einsum("...k,...k->...", weights, cells.astype(weights.dtype)).astype(np.float64)


def _once(rows: Bool[Array, "*H Q"]) -> Bool[Array, "*1 Q"]:
    """Return the rows that look; once where they are the same in all heads, so that what follows is found once too."""
    flat = rows.reshape(-1, rows.shape[-1])
    return flat[0].reshape((1,) * (rows.ndim - 1) + flat[0].shape) if (flat == flat[:1]).all() else rows
