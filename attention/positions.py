"""How a model learns the order of the words: from waves added to their vectors, or from rotated queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

__all__ = ["Rotary", "apply_rotary", "rotary", "sinusoidal", "waves"]


@dataclass(frozen=True, slots=True)
class Rotary:
    """How far each pair of numbers is rotated at each position: cosine and sine of the angle ``p·θ_i`` (radians)."""

    cosines: Float[Array, "T D/2"]
    sines: Float[Array, "T D/2"]


def sinusoidal(n_tokens: int, width: int, base: float = 10_000.0) -> Float[Array, "T M"]:
    r"""Return the vectors that are added to the word vectors, one per position.

    .. math:: PE_{p,2i} = \sin(p / base^{2i/width}), \quad PE_{p,2i+1} = \cos(p / base^{2i/width})

    (Vaswani et al. 2017, "Attention Is All You Need", section 3.5.)

    Args:
        n_tokens: the number of positions p, which are counted from 0.
        width: d_model, an even number, because every wave takes a sine and a cosine.
        base: how many times slower the slowest wave is, in the limit of a large width, than the fastest; 10,000 in
            the paper.

    Raises:
        ValueError: the width is odd or negative.
    """
    return waves(n_tokens, _frequencies(width, base))


def waves(n_tokens: int, frequencies: Sequence[float] | Float[Array, " N"]) -> Float[Array, "T 2*N"]:
    """Return the sine and cosine, side by side, of every frequency (radians per token) at every position from 0.

    The dot product of the waves of two positions is ``Σ cos(frequency · distance)``: it depends on how far
    apart the positions are, not on where they are.
    """
    # In float64, so that the rounding error of an angle does not grow with its position.
    angles = np.outer(np.arange(n_tokens, dtype=np.float64), np.asarray(frequencies, np.float64))
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (T, N, 2)
    return pairs.reshape(n_tokens, 2 * angles.shape[1]).astype(np.float32)


def rotary(x: Float[Array, "*H T D"], base: float = 10_000.0) -> Float[Array, "*H T D"]:
    r"""Rotate every query or key by angles that grow with its position, so that q·k depends on the distance.

    .. math:: x'_i = x_i \cos p\theta_i - x_{i+D/2} \sin p\theta_i, \quad
              x'_{i+D/2} = x_{i+D/2} \cos p\theta_i + x_i \sin p\theta_i, \quad \theta_i = base^{-2i/D}

    (Su et al. 2021, "RoFormer", section 3.2.2. The paper pairs neighbouring numbers; here, as in Llama,
    number i is paired with number i + D/2.)

    Args:
        x: queries or keys, with positions p counted from 0 along the last axis but one.
        base: how many times slower the slowest rotation is, in the limit of a large width, than the fastest.

    Raises:
        ValueError: the width of x is odd, or x has no axis of positions.
    """
    if x.ndim < 2:
        raise ValueError(f"x must have the axes (…, tokens, width), got shape {x.shape}")
    n_tokens, width = x.shape[-2:]
    angles = np.outer(np.arange(n_tokens, dtype=np.float64), _frequencies(width, base))
    return apply_rotary(x, Rotary(np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)))


def apply_rotary(x: Float[Array, "*H T D"], turns: Rotary) -> Float[Array, "*H T D"]:
    r"""Rotate every query or key by known angles; number i is paired with number i + D/2.

    .. math:: x'_i = x_i \cos p\theta_i - x_{i+D/2} \sin p\theta_i, \quad
              x'_{i+D/2} = x_{i+D/2} \cos p\theta_i + x_i \sin p\theta_i

    (Su et al. 2021, "RoFormer", section 3.2.2, in the order of Llama.)

    Args:
        x: queries or keys, of shape (…, T, D).
        turns: the cosines and sines of T positions and D/2 pairs.

    Raises:
        ValueError: x and ``turns`` do not have the same number of positions or pairs.
    """
    n_tokens, half = turns.cosines.shape
    if x.shape[-2:] != (n_tokens, 2 * half):
        raise ValueError(f"x must have {n_tokens} tokens and width {2 * half} to be turned, got shape {x.shape}")
    first, second = x[..., :half], x[..., half:]
    return np.concatenate(
        [first * turns.cosines - second * turns.sines, second * turns.cosines + first * turns.sines], axis=-1
    )


def _frequencies(width: int, base: float) -> Float[Array, " N"]:
    """Return ``base^(-2i/width)`` for i from 0 to width/2 - 1, in radians per token."""
    if width < 0 or width % 2:
        raise ValueError(f"width must be an even number, got {width}")
    return base ** (-np.arange(0, width, 2, dtype=np.float64) / max(width, 1))
