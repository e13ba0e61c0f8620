"""What attention costs in time and memory: as measured on a server, and calculated for a large model.

``attention.experiments.timing`` measures in a process of its own. A multiplication means a multiply-accumulate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from attention.core.paths import ASSETS
from attention.experiments.scaling import exponent
from attention.training.jobs import Frame, Job

# Attention with all scores in memory and in PyTorch's own function; an LSTM layer; and a decoder that reads tokens one
# by one, recomputing all of them or with a KV cache.
Way = Literal["explicit", "fused", "lstm", "anew", "cached"]
WAYS: tuple[Way, ...] = get_args(Way)

# The sizes of BERT mini (Turc et al. 2019, table 1), in float32.
N_HEADS, D_HEAD = 4, 64
WIDTH = N_HEADS * D_HEAD
LENGTHS = tuple(2**power for power in range(6, 13))
# The decoder's number of layers, and its numbers of new tokens.
N_LAYERS = 2
NEW = tuple(2**power for power in range(4, 10))
# Bytes of a number in the caches and scores of large models.
N_BYTES = 2


# ------------------------------------------------------------------------------------- as it was measured


@dataclass(frozen=True, slots=True)
class Point:
    """The cost of one way at one number of tokens.

    Attributes:
        way: what was measured.
        length: the number of tokens.
        seconds: the shortest of several times or, for a decoder, the time for all tokens so far.
        n_bytes: the peak memory besides inputs and weights; for a decoder, its KV cache.
        difference: the largest difference from the output of the other way of its kind; 0 for the first.
    """

    way: Way
    length: int
    seconds: float
    n_bytes: int
    difference: float = 0.0

    def arrays(self) -> dict[str, np.generic]:
        """Return it as the arrays of a frame."""
        return {
            "way": np.int64(WAYS.index(self.way)),
            "length": np.int64(self.length),
            "seconds": np.float64(self.seconds),
            "n_bytes": np.int64(self.n_bytes),
            "difference": np.float64(self.difference),
        }

    @classmethod
    def of(cls, frame: Frame) -> Self:
        """Read it from a frame."""
        way = WAYS[int(frame["way"])]
        return cls(
            way, int(frame["length"]), float(frame["seconds"]), int(frame["n_bytes"]), float(frame["difference"])
        )


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine and date of a measurement: processor, cores, PyTorch version, day."""

    processor: str
    n_cores: int
    torch: str
    day: str


@dataclass(frozen=True, slots=True)
class Measured:
    """A measurement on a named machine."""

    machine: Machine
    points: tuple[Point, ...]

    def written(self) -> str:
        """Return it as JSON with a line for each point."""
        lines = ",\n".join(json.dumps(asdict(point)) for point in self.points)
        return f'{{"machine": {json.dumps(asdict(self.machine))},\n"points": [\n{lines}\n]}}\n'

    @classmethod
    def read(cls, written: str) -> Self:
        """Parse JSON; raise ValueError, LookupError or TypeError if it is not a measurement."""
        found: Mapping[str, Any] = json.loads(written)
        return cls(Machine(**found["machine"]), tuple(Point(**point) for point in found["points"]))


@cache
def shipped() -> Measured:
    """Return the bundled measurement, for a server without its own."""
    return Measured.read((ASSETS / "measurement.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Curve:
    """The costs of one way by number of tokens, in ascending order."""

    lengths: Int[Array, " N"]
    seconds: Float[Array, " N"]
    n_bytes: Int[Array, " N"]
    differences: Float[Array, " N"]

    def cut(self, count: int) -> Self:
        """Return its first ``count`` points."""
        return type(self)(*(each[:count] for each in (self.lengths, self.seconds, self.n_bytes, self.differences)))


def points(frames: Sequence[Frame]) -> tuple[Point, ...]:
    """Read the points from the frames of a run."""
    return tuple(map(Point.of, frames))


# The measurement is the server's and no user's, so every later visitor may see it.
JOB = Job("cost", "attention.experiments.timing", most_seconds=60, checks=points)


def curves(measured: Sequence[Point]) -> Mapping[Way, Curve]:
    """Return the curve of each way measured so far."""
    found: dict[Way, Curve] = {}
    for way in WAYS:
        own = sorted((each for each in measured if each.way == way), key=lambda each: each.length)
        if own:
            found[way] = Curve(
                np.array([each.length for each in own]),
                np.array([each.seconds for each in own]),
                np.array([each.n_bytes for each in own]),
                np.array([each.difference for each in own]),
            )
    return found


class Growth(NamedTuple):
    """The law ``amount ∝ length^exponent`` and the lengths between which it was fitted."""

    exponent: float
    first: int
    last: int


def growth(lengths: Int[Array, " N"], amounts: Float[Array, " N"] | Int[Array, " N"]) -> Growth | None:
    """Fit the growth over the longer half of the lengths, where fixed costs are small; None with fewer than two.

    With an odd number of lengths, the half includes the middle one.
    """
    longer = slice(len(lengths) // 2, None)
    if len(lengths[longer]) < 2:
        return None
    return Growth(exponent(lengths[longer].tolist(), amounts[longer]), int(lengths[longer][0]), int(lengths[-1]))


# -------------------------------------------------------------------------------------------- on paper


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a decoder with gated feed-forward networks and no biases."""

    n_layers: int
    d_model: int
    n_heads: int
    n_key_value_heads: int
    d_head: int
    d_hidden: int
    n_vocabulary: int

    def scores(self, length: int) -> int:
        """Return the number of scores in all heads and layers: L·H·T². A causal mask would halve it."""
        return self.n_layers * self.n_heads * length**2

    def cache(self, length: int) -> int:
        """Return the bytes of a 16-bit KV cache: 2·L·G·d_head·2·T."""
        return 2 * self.n_layers * self.n_key_value_heads * self.d_head * N_BYTES * length

    @property
    def projections(self) -> int:
        """The multiplications of W_Q, W_K, W_V and W_O for one token, in all layers."""
        of_queries = self.d_model * self.n_heads * self.d_head
        of_keys = self.d_model * self.n_key_value_heads * self.d_head
        return self.n_layers * 2 * (of_queries + of_keys)

    @property
    def feed_forward(self) -> int:
        """The multiplications of the feed-forward networks for one token, in all layers: three matrices each."""
        return self.n_layers * 3 * self.d_model * self.d_hidden

    @property
    def logits(self) -> int:
        """The multiplications of the logits at one token."""
        return self.n_vocabulary * self.d_model

    @property
    def per_token(self) -> int:
        """The multiplications for one predicted token, without those of attention scores and weighted sums."""
        return self.projections + self.feed_forward + self.logits

    def looking_back(self, length: int) -> int:
        """Return the multiplications of q·Kᵀ and a·V for the last of ``length`` tokens: 2·L·H·d_head·T."""
        return 2 * self.n_layers * self.n_heads * self.d_head * length

    @property
    def even(self) -> float:
        """The length at which attention costs the last token as much as all the rest."""
        return self.per_token / self.looking_back(1)


# Grattafiori et al. 2024, "The Llama 3 Herd of Models", table 3; the vocabulary as in the model's own configuration.
LLAMA = Sizes(32, 4096, 32, 8, 128, 14336, 128256)
