"""How a vector moves: a plane to draw it in, and each token's contribution to it.

The plane is that of the first two principal components (Pearson 1901, "On lines and planes of closest fit to systems of
points in space"), which minimises the sum of squared distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.steps import join_heads
from attention.core.trace import LayerTrace

# Smaller parts of a vector may be float32 rounding.
ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class Plane:
    """A plane through ``centre`` with two orthonormal ``axes`` and each one's share of the variance."""

    centre: Float[Array, " M"]
    axes: Float[Array, "2 M"]
    shares: Float[Array, " 2"]

    def places(self, vectors: Float[Array, "*N M"]) -> Float[Array, "*N 2"]:
        """Project vectors onto the plane: ``(x − centre) Aᵀ``."""
        return self.steps(vectors - self.centre)

    def steps(self, changes: Float[Array, "*N M"]) -> Float[Array, "*N 2"]:
        """Project changes of vectors: ``Δx Aᵀ``. Changes that add up still add up in the plane."""
        seen: Array = changes @ self.axes.T
        return seen


def fit(vectors: Float[Array, "N M"]) -> Plane:
    """Return the plane closest to the vectors: their mean and first two right singular vectors."""
    first, *others = _principal(vectors - vectors.mean(axis=0), 2)
    if not first.any():
        # All vectors are equal, so any plane is equally close.
        first = np.eye(1, len(first))[0]
    return _plane(vectors, first, next(iter(others), first))


def of_states(states: Sequence[Float[Array, "T M"]], tokens: Sequence[int]) -> Plane:
    """Return the plane closest to some tokens' vectors before and after every layer; it is read-only."""
    plane = fit(np.concatenate([state[list(tokens)] for state in states]))
    for each in (plane.centre, plane.axes, plane.shares):
        each.setflags(write=False)
    return plane


def along(vectors: Float[Array, "N M"], steps: Float[Array, "K M"]) -> Plane:
    """Return the plane through the mean of the vectors that shows best how the steps add up; their sum points right.

    The second axis is the direction orthogonal to the sum with the largest sum of squared steps or, if all steps are
    parallel, of squared vectors. If the sum is 0, it is the plane closest to the vectors.
    """
    change = steps.sum(axis=0)
    size = np.linalg.norm(change)
    if not size:
        return fit(vectors)
    first = change / size
    rest = steps - np.outer(steps @ first, first)
    if np.linalg.norm(rest) <= ROUNDING * np.linalg.norm(steps):
        # The steps are parallel up to rounding, so the vectors decide.
        spread = vectors - vectors.mean(axis=0)
        rest = spread - np.outer(spread @ first, first)
    return _plane(vectors, first, _principal(rest, 1)[0])


def _plane(vectors: Float[Array, "N M"], first: Float[Array, " M"], second: Float[Array, " M"]) -> Plane:
    """Return the plane through the mean of the vectors with these unit directions; equal vectors get shares of 0."""
    upwards = second - (second @ first) * first
    if np.linalg.norm(upwards) < 0.5:
        # The second direction is parallel to the first: any orthogonal one will do.
        other = int(np.abs(first).argmin())
        upwards = np.eye(1, len(first), other, dtype=first.dtype)[0] - first[other] * first
    axes, centre = np.stack([first, upwards / np.linalg.norm(upwards)]), vectors.mean(axis=0)
    spread = vectors - centre
    variances, total = np.square(spread @ axes.T).sum(axis=0), float(np.square(spread).sum())
    return Plane(centre, axes, variances / total if total else variances * 0)


def _principal(spread: Float[Array, "N M"], count: int) -> list[Float[Array, " M"]]:
    """Return at most ``count`` right singular vectors, largest singular value first.

    They are eigenvectors of the smaller Gram matrix, of the rows or of the columns: a full SVD of hundreds of states
    takes several times as long. In float64, squaring loses no digit of a float32. The largest component of each is
    positive, so that equal vectors give equal signs.
    """
    spread = spread.astype(np.float64)
    has_few_rows = len(spread) <= spread.shape[1]
    found = np.linalg.eigh(spread @ spread.T if has_few_rows else spread.T @ spread).eigenvectors[:, : -count - 1 : -1]
    axes = (spread.T @ found if has_few_rows else found).T
    return [_turned(axis) for axis in axes]


def _turned(axis: Float[Array, " M"]) -> Float[Array, " M"]:
    """Normalise a direction and make its largest component positive; 0 stays 0."""
    size = axis[np.abs(axis).argmax()]
    # Divided by the largest number first, because the square of a very small one would be 0.
    turned: Array = axis / size if size else axis
    return turned / (np.linalg.norm(turned) or 1.0)


def of_row(layer: LayerTrace, row: int) -> LayerTrace:
    """Return a layer with the query of a single token."""
    at = slice(row, row + 1)

    def cut(added: Float[Array, "*H Q K"] | None) -> Float[Array, "*H 1 K"] | None:
        return added if added is None or added.shape[-2] == 1 else added[..., at, :]

    output = layer.model_output[:, at]
    return replace(layer, queries=layer.queries[:, at], mask=cut(layer.mask), bias=cut(layer.bias), model_output=output)


def sent(layer: LayerTrace, row: int, head: int | None = None) -> Float[Array, "K M"]:
    """Return each token's contribution to one token's vector: ``Σ_h a_h[row, k] · v_h[k] W_O[rows of h]``.

    The sum is over all heads, or only ``head``. Over all heads, the sum over the tokens plus b_O is ΔE (Kobayashi et
    al. 2020, section 2).

    Raises:
        ValueError: W_O is unknown.
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
    # Keys without weight send nothing; all others go through W_O at once, heads side by side.
    keys = weights.any(axis=0)
    found[keys] = join_heads(weights[:, keys, None] * values[:, keys]) @ weight
    return found


def cosines(first: Float[Array, "*N M"], second: Float[Array, "*N M"]) -> Float[Array, "*N"]:
    """Return cosine similarities ``x · y / (‖x‖ ‖y‖)``; NaN where a vector is 0."""
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    products = np.einsum("...m,...m->...", first, second)
    found: Array = np.divide(products, lengths, out=np.full_like(products, np.nan), where=lengths > 0)
    return found


def mean_cosine(first: Float[Array, "A M"], second: Float[Array, "B M"], which: Bool[Array, "A B"]) -> float:
    """Return the mean cosine similarity over the pairs in ``which``, without zero vectors; NaN if no pair remains."""
    lengths = np.linalg.norm(first, axis=-1)[:, None] * np.linalg.norm(second, axis=-1)
    counted = which & (lengths > 0)
    if not counted.any():
        return float("nan")
    return float(np.mean((first @ second.T)[counted] / lengths[counted], dtype=np.float64))
