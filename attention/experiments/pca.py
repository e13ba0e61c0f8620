"""How a vector moves: a plane in which it can be seen, and what each token sends to it.

The plane is that of the two first principal components (Pearson 1901, "On lines and planes of closest fit to systems of
points in space"): of all planes, the one from which the vectors are least far away, by the sum of squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.steps import join_heads
from attention.core.trace import LayerTrace

__all__ = ["Plane", "along", "cosines", "fit", "mean_cosine", "of_row", "of_states", "sent"]

# What is no larger than this part of a vector may be the rounding of 32 bits.
ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class Plane:
    """A plane through ``centre`` with two perpendicular ``axes`` of length 1, each with its share of the variance."""

    centre: Float[Array, " M"]
    axes: Float[Array, "2 M"]
    shares: Float[Array, " 2"]

    @property
    def nbytes(self) -> int:
        """Bytes of memory that its arrays occupy."""
        return self.centre.nbytes + self.axes.nbytes + self.shares.nbytes

    def places(self, vectors: Float[Array, "*N M"]) -> Float[Array, "*N 2"]:
        """Return where vectors are seen: ``(x − centre) Aᵀ``."""
        return self.steps(vectors - self.centre)

    def steps(self, changes: Float[Array, "*N M"]) -> Float[Array, "*N 2"]:
        """Return how changes of vectors are seen: ``Δx Aᵀ``. What adds up to a change also adds up in the plane."""
        seen: Array = changes @ self.axes.T
        return seen


def fit(vectors: Float[Array, "N M"]) -> Plane:
    """Return the plane closest to some vectors: their mean, and the first two right singular vectors about it."""
    first, *others = _principal(vectors - vectors.mean(axis=0), 2)
    if not first.any():
        # The vectors do not differ, and any plane is as close.
        first = np.eye(1, len(first))[0]
    return _plane(vectors, first, next(iter(others), first))


def of_states(states: Sequence[Float[Array, "T M"]], tokens: Sequence[int]) -> Plane:
    """Return the plane closest to the vectors of some tokens, before and after every layer; it is read-only."""
    plane = fit(np.concatenate([state[list(tokens)] for state in states]))
    for each in (plane.centre, plane.axes, plane.shares):
        each.setflags(write=False)
    return plane


def along(vectors: Float[Array, "N M"], steps: Float[Array, "K M"]) -> Plane:
    """Return the plane in which some steps are seen best whose sum leads to the right, through the mean of vectors.

    Its first axis is the direction of the sum, and its second one, of all at right angles to it, that along which the
    squares of the steps add up to most or, if none goes to the side, those of the vectors. If the sum is 0, it is the
    plane closest to the vectors.
    """
    change = steps.sum(axis=0)
    size = np.linalg.norm(change)
    if not size:
        return fit(vectors)
    first = change / size
    rest = steps - np.outer(steps @ first, first)
    if np.linalg.norm(rest) <= ROUNDING * np.linalg.norm(steps):
        # All steps lead the same way, and rounding leads nowhere: the vectors decide.
        spread = vectors - vectors.mean(axis=0)
        rest = spread - np.outer(spread @ first, first)
    return _plane(vectors, first, _principal(rest, 1)[0])


def _plane(vectors: Float[Array, "N M"], first: Float[Array, " M"], second: Float[Array, " M"]) -> Plane:
    """Return the plane with these two directions, of length 1, through the mean of vectors.

    Vectors that do not differ have no variance, of which each axis has a share of 0.
    """
    upwards = second - (second @ first) * first
    if np.linalg.norm(upwards) < 0.5:
        # Nothing is at right angles to the first axis: any other will do.
        other = int(np.abs(first).argmin())
        upwards = np.eye(1, len(first), other, dtype=first.dtype)[0] - first[other] * first
    axes, centre = np.stack([first, upwards / np.linalg.norm(upwards)]), vectors.mean(axis=0)
    spread = vectors - centre
    variances, total = np.square(spread @ axes.T).sum(axis=0), float(np.square(spread).sum())
    return Plane(centre, axes, variances / total if total else variances * 0)


def _principal(spread: Float[Array, "N M"], count: int) -> list[Float[Array, " M"]]:
    """Return at most so many directions in which vectors spread most about 0, in this order: right singular vectors.

    They are eigenvectors of the Gram matrix of the rows or of the columns, whichever is smaller: all singular vectors
    of hundreds of states would take several times as long. In 64 bits, squaring costs no digit of a 32-bit number.
    The largest number of each is positive, so that the same vectors are always seen the same way round.
    """
    spread = spread.astype(np.float64)
    has_few_rows = len(spread) <= spread.shape[1]
    found = np.linalg.eigh(spread @ spread.T if has_few_rows else spread.T @ spread).eigenvectors[:, : -count - 1 : -1]
    axes = (spread.T @ found if has_few_rows else found).T
    return [_turned(axis) for axis in axes]


def _turned(axis: Float[Array, " M"]) -> Float[Array, " M"]:
    """Return a direction with length 1, the way round in which its largest number is positive; 0 stays 0."""
    size = axis[np.abs(axis).argmax()]
    # The largest number first, or the square of a very small one would be 0.
    turned: Array = axis / size if size else axis
    return turned / (np.linalg.norm(turned) or 1.0)


def of_row(layer: LayerTrace, row: int) -> LayerTrace:
    """Return a layer with the query of one token alone: what is derived from it is derived for that row."""
    at = slice(row, row + 1)

    def cut(added: Float[Array, "*H Q K"] | None) -> Float[Array, "*H 1 K"] | None:
        return added if added is None or added.shape[-2] == 1 else added[..., at, :]

    output = layer.model_output[:, at]
    return replace(layer, queries=layer.queries[:, at], mask=cut(layer.mask), bias=cut(layer.bias), model_output=output)


def sent(layer: LayerTrace, row: int, head: int | None = None) -> Float[Array, "K M"]:
    """Return what each token sends to the vector of one: ``Σ_h a_h[row, k] · v_h[k] W_O[rows of h]``.

    It is what one head sends, or all do if none is named: then the sum over the tokens and the bias b_O is ΔE
    (Kobayashi et al. 2020, section 2).

    Raises:
        ValueError: W_O is not known.
    """
    if layer.projections is None:
        raise ValueError("the output projection of this layer is not known, so nothing can be sent through it")
    alone, weight, width = of_row(layer, row), layer.projections.W_O, layer.values.shape[-1]
    if head is None:
        steps = alone.steps()
        weights, values = steps.weights[:, 0], steps.values
    else:
        steps = alone.head(head)
        weights, values = steps.weights, steps.values[None]
        weight = weight[head * width : (head + 1) * width]
    found = np.zeros((layer.keys.shape[1], weight.shape[1]), np.float32)
    # A key without any weight sends nothing. All others go through W_O at once, with the heads side by side.
    keys = weights.any(axis=0)
    found[keys] = join_heads(weights[:, keys, None] * values[:, keys]) @ weight
    return found


def cosines(first: Float[Array, "*N M"], second: Float[Array, "*N M"]) -> Float[Array, "*N"]:
    """Return the cosine between vectors: ``x · y / (‖x‖ ‖y‖)``; NaN where one of them is 0."""
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    products = np.einsum("...m,...m->...", first, second)
    found: Array = np.divide(products, lengths, out=np.full_like(products, np.nan), where=lengths > 0)
    return found


def mean_cosine(first: Float[Array, "A M"], second: Float[Array, "B M"], which: Bool[Array, "A B"]) -> float:
    """Return the mean cosine between each vector of ``first`` and those of ``second`` that belong to ``which``.

    Vectors of length 0 do not count; it is NaN if nothing counts.
    """
    lengths = np.linalg.norm(first, axis=-1)[:, None] * np.linalg.norm(second, axis=-1)
    counted = which & (lengths > 0)
    if not counted.any():
        return float("nan")
    return float(np.mean((first @ second.T)[counted] / lengths[counted], dtype=np.float64))
