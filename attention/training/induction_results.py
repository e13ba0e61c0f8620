"""Results of training two small attention-only networks, with two layers and with one, on repeated sequences.

``attention.training.induction`` trains them in a process of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from attention.training.jobs import Frame, Job

JOB = Job("train_one", "attention.training.induction", most_seconds=60)

# The numbers of layers of the two networks, and of heads in each layer.
NETWORKS = (2, 1)
N_HEADS = 4
# The places of heads: network and layer, counted from 0.
PLACES = tuple((network, layer) for network, n_layers in enumerate(NETWORKS) for layer in range(n_layers))
STEPS, EVERY, BATCH = 600, 15, 32
N_CHECKPOINTS = STEPS // EVERY + 1
# The number of seeds to choose from; induction heads form with each of them.
N_STARTS = 20

# The tokens are syllables, to be readable: ba, be, bi, bo, da …
SYLLABLES = tuple(consonant + vowel for consonant in "bdfklmnt" for vowel in "aeio")
N_TOKENS = len(SYLLABLES)
# The score is measured on this many tokens, repeated four times (Olsson et al. 2022).
N_SCORED, N_TIMES = 25, 4
# The sequence on which heads are drawn: this many different syllables, twice.
HALF = 8
EXAMPLE: Int[Array, " T"] = np.tile(np.random.default_rng(7).permutation(N_TOKENS)[:HALF], 2)
EXAMPLE.flags.writeable = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Measurements of both networks after a number of steps.

    Attributes:
        step: the number of training steps.
        losses: the mean loss in nats on the first halves of sequences, and on the second halves, which repeat them.
        hits: the share of tokens in second halves that get the highest probability.
        scores: the prefix-matching score of each head.
        weights: each head's weights on the example.
    """

    step: int
    losses: Float[Array, "networks 2"]
    hits: Float[Array, " networks"]
    scores: Float[Array, "places H"]
    weights: Float[Array, "places H T T"]

    @classmethod
    def of(cls, frame: Frame) -> Self:
        """Read it from a frame."""
        return cls(int(frame["step"]), frame["losses"], frame["hits"], frame["scores"], frame["weights"])


def checkpoints(frames: Sequence[Frame]) -> tuple[Checkpoint, ...]:
    """Read the checkpoints from the frames of a run."""
    return tuple(map(Checkpoint.of, frames))
