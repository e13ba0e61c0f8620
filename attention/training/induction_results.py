"""What comes of training two small networks of attention alone, with two layers and with one, on repeated sequences.

The training is ``attention.training.induction``, in a process of its own; here is what it measures, step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from attention.training.jobs import Frame, Job

__all__ = [
    "BATCH",
    "EVERY",
    "EXAMPLE",
    "HALF",
    "JOB",
    "NETWORKS",
    "N_CHECKPOINTS",
    "N_HEADS",
    "N_SCORED",
    "N_STARTS",
    "N_TIMES",
    "N_TOKENS",
    "PLACES",
    "STEPS",
    "SYLLABLES",
    "Checkpoint",
    "checkpoints",
]

JOB = Job("train_one", "attention.training.induction", most_seconds=60)

# How many layers the networks have that are trained side by side, and the heads in each of their layers.
NETWORKS = (2, 1)
N_HEADS = 4
# Where a head is: in which of the networks, and in which of its layers, counted from 0.
PLACES = tuple((network, layer) for network, n_layers in enumerate(NETWORKS) for layer in range(n_layers))
STEPS, EVERY, BATCH = 600, 15, 32
N_CHECKPOINTS = STEPS // EVERY + 1
# From so many different numbers a training may start, and each of them is known to end well.
N_STARTS = 20

# The tokens are syllables, so that one can read them: ba, be, bi, bo, da …
SYLLABLES = tuple(consonant + vowel for consonant in "bdfklmnt" for vowel in "aeio")
N_TOKENS = len(SYLLABLES)
# The score is measured on so many tokens, four times over (Olsson et al. 2022).
N_SCORED, N_TIMES = 25, 4
# The sequence on which the heads are drawn: so many syllables, all different, twice.
HALF = 8
EXAMPLE: Int[Array, " T"] = np.tile(np.random.default_rng(7).permutation(N_TOKENS)[:HALF], 2)
EXAMPLE.flags.writeable = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was measured after a number of steps, of the network with two layers and of that with one.

    Attributes:
        step: how many steps of training there were.
        losses: the mean loss in nats on the first halves of sequences, and on the second, which repeat them.
        hits: the share of tokens in second halves that get the highest probability.
        scores: the prefix-matching score of each head of each place.
        weights: the weights of each head on the example.
    """

    step: int
    losses: Float[Array, "networks 2"]
    hits: Float[Array, " networks"]
    scores: Float[Array, "places H"]
    weights: Float[Array, "places H T T"]

    @classmethod
    def of(cls, frame: Frame) -> Self:
        """Return what a frame of the training says."""
        return cls(int(frame["step"]), frame["losses"], frame["hits"], frame["scores"], frame["weights"])


def checkpoints(frames: Sequence[Frame]) -> tuple[Checkpoint, ...]:
    """Return what the frames of a training say."""
    return tuple(map(Checkpoint.of, frames))
