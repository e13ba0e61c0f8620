"""How a model encodes order: by vectors added to embeddings, biases added to scores, or rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array


@dataclass(frozen=True, slots=True)
class Rotary:
    """The rotation of each pair of numbers at each position: cosine and sine of the angle ``p·θ_i`` (radians).

    There are R / 2 pairs: R is the width of queries and keys, or less in a model that rotates only a part of them.
    Number i is paired with number i + R/2 or, if pairs are ``adjacent``, number 2i with number 2i + 1.
    """

    cosines: Float[Array, "T R/2"]
    sines: Float[Array, "T R/2"]
    adjacent: bool = False

    @property
    def width(self) -> int:
        """The number of rotated dimensions of a query or key: R."""
        return 2 * self.cosines.shape[1]

    def pair(self, number: int) -> tuple[int, int]:
        """Return the two dimensions of a pair."""
        return (2 * number, 2 * number + 1) if self.adjacent else (number, number + self.width // 2)

    def pair_of(self, dimension: int) -> int:
        """Return the pair of a rotated dimension."""
        return dimension // 2 if self.adjacent else dimension % (self.width // 2)

    def split(self, x: Float[Array, "*H T D"]) -> tuple[Float[Array, "*H T R/2"], Float[Array, "*H T R/2"]]:
        """Return the first and the second number of every pair."""
        half = self.width // 2
        if self.adjacent:
            return x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]
        return x[..., :half], x[..., half : 2 * half]


def sinusoidal(n_tokens: int, width: int, base: float = 10_000.0) -> Float[Array, "T M"]:
    r"""Return the sinusoidal positional encodings.

    .. math:: PE_{p,2i} = \sin(p / base^{2i/width}), \quad PE_{p,2i+1} = \cos(p / base^{2i/width})

    (Vaswani et al. 2017, "Attention Is All You Need", section 3.5.)

    Args:
        n_tokens: the number of positions p, which are counted from 0.
        width: d_model, an even number.
        base: the ratio of the fastest to the slowest frequency, in the limit of a large width.

    Raises:
        ValueError: the width is odd or negative.
    """
    return waves(n_tokens, _frequencies(width, base))


def waves(n_tokens: int, frequencies: Sequence[float] | Float[Array, " N"]) -> Float[Array, "T 2*N"]:
    """Return sine and cosine, side by side, of every frequency (radians per token) at every position from 0.

    The dot product of the waves of two positions is ``Σ cos(frequency · distance)``: it depends only on their distance.
    """
    # In float64, so that the rounding error of an angle does not grow with its position.
    angles = np.outer(np.arange(n_tokens, dtype=np.float64), np.asarray(frequencies, np.float64))
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (T, N, 2)
    return pairs.reshape(n_tokens, 2 * angles.shape[1]).astype(np.float32)


def apply_rotary(x: Float[Array, "*H T D"], turns: Rotary) -> Float[Array, "*H T D"]:
    r"""Rotate every query or key by given angles; by default, number i is paired with number i + R/2.

    .. math:: x'_i = x_i \cos p\theta_i - x_{i+R/2} \sin p\theta_i, \quad
              x'_{i+R/2} = x_{i+R/2} \cos p\theta_i + x_i \sin p\theta_i

    (Su et al. 2021, "RoFormer", section 3.2.2, in the order of Llama; with ``adjacent`` pairs, in the paper's.) The
    numbers after the first R are unchanged (Black et al. 2022, "GPT-NeoX-20B", section 2.1.1).

    Raises:
        ValueError: x and ``turns`` differ in the number of positions, or x is too narrow.
    """
    n_tokens, half = turns.cosines.shape
    if x.ndim < 2 or x.shape[-2] != n_tokens or x.shape[-1] < 2 * half:
        raise ValueError(
            f"x must have {n_tokens} tokens and a width of at least {2 * half} to be turned, got shape {x.shape}"
        )
    first, second = turns.split(x)
    turned = [first * turns.cosines - second * turns.sines, second * turns.cosines + first * turns.sines]
    if turns.adjacent:
        turned = [np.stack(turned, axis=-1).reshape(*x.shape[:-1], 2 * half)]
    return np.concatenate([*turned, x[..., 2 * half :]], axis=-1)


def apart(
    query: Float[Array, " D"], key: Float[Array, " D"], turns: Rotary, n_places: int
) -> Float[Array, " n_places"]:
    r"""Return the dot products of a query with a key 0, 1, 2, … positions before it.

    .. math:: R_{p+n}\,q \cdot R_p\,k = R_n\,q \cdot k \quad \text{for every } p

    (Su et al. 2021, "RoFormer", section 3.2.1.) Both are given before rotation. For a key after the query, exchange
    them.

    Raises:
        ValueError: ``turns`` has fewer than two positions.
    """
    rotated = begun_at(turns, 0, n_places)
    moved = apply_rotary(np.broadcast_to(query, (n_places, len(query))), rotated)
    begun = replace(rotated, cosines=rotated.cosines[:1], sines=rotated.sines[:1])
    return moved @ apply_rotary(key[None], begun)[0]


def begun_at(turns: Rotary, place: int, n_tokens: int | None = None) -> Rotary:
    """Return the rotations of a text that begins at ``place`` instead of 0, of the same length by default.

    Pair i rotates by ``(place + p) · θ_i``, with ``θ_i`` from ``speeds``.

    Raises:
        ValueError: there are fewer than two positions.
    """
    count = len(turns.cosines) if n_tokens is None else n_tokens
    angles = np.outer(np.arange(place, place + count), speeds(turns))
    # Some models multiply cosines and sines by a factor.
    factors = np.hypot(turns.cosines[1], turns.sines[1], dtype=np.float64)
    cosines, sines = (factors * wave(angles) for wave in (np.cos, np.sin))
    return replace(turns, cosines=cosines.astype(np.float32), sines=sines.astype(np.float32))


def speeds(turns: Rotary) -> Float[Array, " D/2"]:
    """Return θ_i, each pair's rotation per position in radians; raise ValueError without a second position."""
    if len(turns.cosines) < 2:
        raise ValueError(f"turns must have at least 2 positions to tell how fast they are, got {len(turns.cosines)}")
    return np.arctan2(turns.sines[1].astype(np.float64), turns.cosines[1].astype(np.float64))


def turns_of(n_tokens: int, width: int, base: float = 10_000.0) -> Rotary:
    r"""Return the rotations at the positions p from 0, by the angles :math:`p \cdot base^{-2i/width}`, in float64.

    Raises:
        ValueError: the width is odd.
    """
    angles = np.outer(np.arange(n_tokens, dtype=np.float64), _frequencies(width, base))
    return Rotary(np.cos(angles), np.sin(angles))


def distances(n_tokens: int) -> Int[Array, "T T"]:
    """Return how many positions the key of each column comes after the query of each row."""
    places = np.arange(n_tokens)
    return places - places[:, None]


def alibi_slopes(n_heads: int) -> Float[Array, " H"]:
    """Return the slope of each head's bias, ``2^(-8h/H)`` for h from 1 to H (ALiBi, Press et al. 2022, section 3)."""
    return 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)


def alibi(slope: float, n_tokens: int) -> Float[Array, "T T"]:
    """Return the bias added to a head's scaled scores: ``-slope · |i - j|``.

    It is not divided by √d_k (Press et al. 2022, section 3). The paper's decoder has no keys after the query; an
    encoder has them at the same distances.
    """
    return (-slope * np.abs(distances(n_tokens))).astype(np.float32)


def t5_buckets(distances: Int[Array, "*axes"], n_buckets: int = 32, furthest: int = 128) -> Int[Array, "*axes"]:
    """Return the index of the bias that T5's encoder adds to a key's score, by the distance from the query.

    Half of the buckets are for keys before the query, half for keys after it. Of each half, the first half holds one
    distance each, the others logarithmic ranges up to ``furthest``; the last holds everything beyond (Raffel et al.
    2020, "Exploring the Limits of Transfer Learning", section 2.1).
    """
    half = n_buckets // 2
    n_exact = half // 2
    far = np.maximum(np.abs(distances), 1).astype(np.float32)
    # In float32, as in T5, so that distances at the edge of a range fall on the same side.
    powers = np.log(far / n_exact) / np.float32(np.log(furthest / n_exact)) * (half - n_exact)
    ranges = np.minimum(n_exact + powers.astype(np.int64), half - 1)
    return np.where(np.abs(distances) < n_exact, np.abs(distances), ranges) + half * (distances > 0)


def _frequencies(width: int, base: float) -> Float[Array, " N"]:
    """Return ``base^(-2i/width)`` for i from 0 to width/2 - 1, in radians per token."""
    if width < 0 or width % 2:
        raise ValueError(f"width must be an even number, got {width}")
    return base ** (-np.arange(0, width, 2, dtype=np.float64) / max(width, 1))
