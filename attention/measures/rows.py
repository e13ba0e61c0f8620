"""The rows of heads' weights: visible keys, which rows count, and averages over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array


@dataclass(frozen=True, slots=True)
class Rows:
    """Weights, with rows that do not count set to 0, the cells visible under the mask, and which rows count.

    ``totals`` are the original row sums: 1, or 0 for a fully masked row.
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
        """Take weights that are 0 wherever the additive mask hides a cell; rows count if in ``rows`` and not all 0."""
        totals = sum_rows(weights)
        looking = totals != 0
        if rows is not None and not rows.all():
            looking = looking & rows
            weights = weights * rows[..., None]
        visible = np.ones(weights.shape[-2:], bool) if mask is None else ~np.isneginf(mask)
        return cls(weights, totals, visible, _once(looking))

    @property
    def n(self) -> Int[Array, "*1"]:
        """The number of rows to average over, at least 1."""
        return np.maximum(self.counted.sum(axis=-1), 1)

    @property
    def n_visible(self) -> Int[Array, "*1 Q"]:
        """The number of keys visible to each query."""
        return self.visible.sum(axis=-1)

    @property
    def has_choice(self) -> Bool[Array, "*1 Q"]:
        """Which queries see more than one key."""
        return self.n_visible > 1

    def even(self) -> Float[Array, "*1 Q K"]:
        """Return uniform weights over the visible keys of each row that counts."""
        return self.visible * (self.counted / np.maximum(self.n_visible, 1))[..., None]

    def mean(self, per_row: Float[Array, "*H Q"], among: Bool[Array, "*1 Q"] | None = None) -> Float[Array, "*H"]:
        """Return the mean over the counted rows (within ``among``, if given); 0 without any."""
        counted = self.counted if among is None else self.counted & among
        n_rows = np.maximum(counted.sum(axis=-1), 1)
        return sum_rows(np.where(counted, per_row, 0)) / n_rows


def sum_rows(cells: Float[Array, "*H K"]) -> Float[Array, "*H"]:
    """Sum along the last axis."""
    # Several times as fast as sum() if that axis is short, as for a sentence.
    return np.einsum("...k->...", cells)


def sum_columns(cells: Float[Array, "*H Q K"]) -> Float[Array, "*H K"]:
    """Sum over the rows."""
    return np.einsum("...qk->...k", cells)


def on_cells(weights: Float[Array, "*H Q K"], cells: Bool[Array, "*1 Q K"]) -> Float[Array, "*H Q"]:
    """Return each row's weight on the marked cells: ``Σ_k a_qk [cell qk]``."""
    return np.einsum("...k,...k->...", weights, cells.astype(weights.dtype)).astype(np.float64)


def _once(rows: Bool[Array, "*H Q"]) -> Bool[Array, "*1 Q"]:
    """Return the rows that count, with axes of length 1 if they are the same in all heads."""
    flat = rows.reshape(-1, rows.shape[-1])
    return flat[0].reshape((1,) * (rows.ndim - 1) + flat[0].shape) if (flat == flat[:1]).all() else rows
