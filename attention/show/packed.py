"""Attention weights in few bytes, exact enough that their first two decimals are right."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, UInt32
from numpy import ndarray as Array

from attention.show.weights import Weights

# Each step is at most 1/50 of 1/K, the mean weight over K keys.
_PART_OF_MEAN = 50
# Every threshold of a picture, and every limit for rounding to three decimals, is a multiple of the step.
_COARSEST = 1000
HIDDEN, NOTHING, LEAST = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Packed:
    """The weights of all heads, quantised and compressed.

    With steps of ``s = 1 / scale``, a weight's code is 0 if it is masked, 1 below s/2, 2 below s, and n + 2 from n·s up
    to (n + 1)·s. They stand for 0, 0, ¾·s and the middle of the step (at most 1), so the error is at most s/2. Rounding
    to one or two decimals never changes within a step, so two decimals are the same as those of the exact weight.

    ``data`` holds the highest bytes of all codes first, the lowest last (planes).
    """

    scale: int
    planes: int
    data: bytes

    @classmethod
    def of(cls, parts: Iterable[Weights]) -> Self:
        """Pack the weights of several uses of attention, with the step that the most keys require."""
        parts = tuple(parts)
        scale = max(scale_for(len(part.columns)) for part in parts)
        codes = np.concatenate([_codes(part, scale) for part in parts])
        planes = 2 if codes.max() < 2**16 else 3
        shifts = (8 * place for place in reversed(range(planes)))
        data = deflated(*(((codes >> shift) & 255).astype(np.uint8).tobytes() for shift in shifts))
        return cls(scale, planes, data)

    @property
    def error(self) -> float:
        """The largest possible error of a weight, rounded up to seven decimals."""
        return -(-5_000_000 // self.scale) / 10_000_000


def scale_for(n_keys: int) -> int:
    """Return the number of steps from 0 to 1 for rows of this many keys: each step is at most a fiftieth of the mean.

    >>> [scale_for(n_keys) for n_keys in (2, 20, 21, 200, 512)]
    [1000, 1000, 2000, 10000, 26000]
    """
    return _COARSEST * math.ceil(_PART_OF_MEAN * n_keys / _COARSEST)


def _codes(part: Weights, scale: int) -> UInt32[Array, " N"]:
    found = []
    for place, layer in enumerate(part.layers):
        codes = _coded(layer, scale)
        if part.hidden is not None:
            codes[part.hidden[place]] = HIDDEN
        found.append(codes.ravel())
    return np.concatenate(found)


def _coded(weights: Float[Array, "*shape"], scale: int) -> UInt32[Array, "*shape"]:
    exact = np.clip(weights.astype(np.float64), 0, 1) * scale
    codes = np.floor(exact) + LEAST
    codes[exact < 0.5] = NOTHING
    return codes.astype(np.uint32)


def deflated(*parts: bytes) -> bytes:
    """Compress with DEFLATE (RFC 1951), each part with the strategy that makes it shortest.

    The parts decompress as one stream: all but the last end with an empty block instead of the end marker.
    """
    return b"".join(_shortest(part, is_last=number == len(parts)) for number, part in enumerate(parts, 1))


def _shortest(data: bytes, *, is_last: bool) -> bytes:
    def packed(strategy: int) -> bytes:
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, strategy)
        return packer.compress(data) + packer.flush(zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH)

    # Weights are noise with runs of zeros: the best strategy depends on the model.
    return min(map(packed, (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_RLE)), key=len)
