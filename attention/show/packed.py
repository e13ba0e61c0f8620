"""Weights as few bytes: each is kept so closely that two digits are written as they are."""

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

__all__ = ["Packed", "deflated", "scale_for"]

# A step is at most so large a part of 1/K, the mean weight of K tokens attended to.
_PART_OF_MEAN = 50
# Whole steps lead to every threshold of a picture, and to where three decimals begin.
_COARSEST = 1000
HIDDEN, NOTHING, LEAST = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Packed:
    """The weights of all heads as codes of a few bytes each, compressed.

    With steps of ``s = 1 / scale``, the codes are 0 for what a mask hides, 1 for a weight below s/2, 2 for one below s,
    and n + 2 for one from n·s up to (n + 1)·s. They stand for 0, 0, ¾·s and the middle of the step (1 at most), so that
    a weight is off by s/2 at most; and since rounding to one or two decimals never has its limit inside a step, what is
    written with two decimals is written as the weight itself would be.

    ``data`` has, for all codes one after the other, first their highest bytes, and last their lowest, compressed.
    """

    scale: int
    planes: int
    data: bytes

    @classmethod
    def of(cls, parts: Iterable[Weights]) -> Self:
        """Pack the weights of several uses of attention, in steps as small as the longest of them needs."""
        parts = tuple(parts)
        scale = max(scale_for(len(part.columns)) for part in parts)
        codes = np.concatenate([_codes(part, scale) for part in parts])
        planes = 2 if codes.max() < 2**16 else 3
        shifts = (8 * place for place in reversed(range(planes)))
        data = deflated(*(((codes >> shift) & 255).astype(np.uint8).tobytes() for shift in shifts))
        return cls(scale, planes, data)

    @property
    def error(self) -> float:
        """How far a weight may be off, rounded up to seven decimals."""
        return -(-5_000_000 // self.scale) / 10_000_000


def scale_for(n_keys: int) -> int:
    """Return the steps from 0 to 1 of a weight that is one of so many: each is at most a fiftieth of their mean.

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
    """Compress as browsers unpack by themselves (RFC 1951), each part in whichever way is shortest for it.

    It is unpacked as one: a part that is not the last ends with an empty block instead of the end.
    """
    return b"".join(_shortest(part, is_last=number == len(parts)) for number, part in enumerate(parts, 1))


def _shortest(data: bytes, *, is_last: bool) -> bytes:
    def packed(strategy: int) -> bytes:
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, strategy)
        return packer.compress(data) + packer.flush(zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH)

    # Weights are noise with runs of zeros: which strategy finds more in them depends on the model.
    return min(map(packed, (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_RLE)), key=len)
