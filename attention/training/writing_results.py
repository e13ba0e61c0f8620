"""Inputs, sizes and results of training a small Transformer on a text until it imitates the style.

``attention.training.writing`` trains it in a process of its own. Only that process reads a user's text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.core.text import clean
from attention.training.jobs import Frame, Job

# The least and the most characters of a text.
LEAST, MOST = 2_000, 200_000
# The fewest and the most different characters; each is a token.
FEWEST_SYMBOLS, MOST_SYMBOLS = 2, 1_000
# The share at the end of the text that is held out to measure the loss.
HELD_OUT = 0.1

# The selectable numbers of layers, the width and the number of heads.
DEPTHS = (1, 2, 3)
WIDTH, N_HEADS = 96, 4
# The context length in characters, and the number of sequences in a batch.
CONTEXT, BATCH = 64, 12
# The most sequences measured in each part of the text.
N_MEASURED = 100
# The steps after which it is measured; most changes at the beginning.
MOMENTS = (0, 10, 25, 50, 100, 150, 200, 250, 300, 400, 500)
STEPS = MOMENTS[-1]

# The number of characters it writes at each temperature.
N_WRITTEN = 280
TEMPERATURES = (1.0, 0.5)
# Heads are drawn on this many characters from the beginning of the text.
N_SHOWN = 24

_STORY = ASSETS / "story.txt"


@cache
def bundled() -> str:
    """Return the bundled story."""
    return read(_STORY.read_text("utf-8"))


def read(given: str) -> str:
    """Clean a text for training: safe lines (``attention.core.text.clean``) without blank ends.

    Letters of every script and emoji are kept; several spaces become one.

    Raises:
        ValueError: it is too short, too long or too varied; the message is for the user.
    """
    text = "\n".join(map(clean, given.splitlines())).strip() if len(given) <= MOST else given
    n_symbols = len(set(text))
    problem = ""
    if not text:
        problem = message("This text is blank. Paste some text.")
    elif len(text) > MOST:
        problem = message("This text is too long. Use at most {most} characters.", most=f"{MOST:,}")
    elif len(text) < LEAST:
        problem = message("Use at least {least} characters; this text has {n}.", least=f"{LEAST:,}", n=f"{len(text):,}")
    elif n_symbols < FEWEST_SYMBOLS or n_symbols > MOST_SYMBOLS:
        problem = message(
            "Use {fewest} to {most} different characters; this text has {n}.",
            fewest=FEWEST_SYMBOLS,
            most=f"{MOST_SYMBOLS:,}",
            n=f"{n_symbols:,}",
        )
    if problem:
        raise ValueError(problem)
    return text


JOB = Job("write", "attention.training.writing", most_seconds=60, accepts=read)


# --------------------------------------------------------------------------------- what it is compared with


def divide(text: str) -> tuple[str, str]:
    """Split a text into the training part and the held-out part at its end."""
    at = len(text) - round(HELD_OUT * len(text))
    return text[:at], text[at:]


def uniform(n_symbols: int) -> float:
    """Return the loss if all characters are equally likely: ln V nats per character."""
    return float(np.log(n_symbols))


def unigram(learnt: str, held_out: str) -> float:
    """Return the held-out loss, in nats per character, of the character frequencies in the training part.

    −1/n · Σ ln((count + 1) / (N + V)): with add-one smoothing, so that no character is impossible (Laplace).
    """
    symbols, numbers = np.unique(list(learnt + held_out), return_inverse=True)
    counts = np.bincount(numbers[: len(learnt)], minlength=len(symbols)) + 1
    return float(-np.log(counts / counts.sum())[numbers[len(learnt) :]].mean())


def longest_copied(written: str, learnt: str) -> int:
    """Return the length of the longest passage that both texts contain.

    >>> longest_copied("the old cat sat", "a cat sat here")
    8
    """
    longest = 0
    for start in range(len(written)):
        while start + longest < len(written) and written[start : start + longest + 1] in learnt:
            longest += 1
    return longest


def parameters(n_symbols: int, n_layers: int, width: int = WIDTH) -> Mapping[str, int]:
    """Return the number of parameters of each part of the Transformer, biases included."""
    return {
        "embedding": n_symbols * width,
        "positions": CONTEXT * width,
        "attention": n_layers * 4 * (width * width + width),
        "feed_forward": n_layers * (8 * width * width + 5 * width),
        "norms": (2 * n_layers + 1) * 2 * width,
        "output": n_symbols * (width + 1),
    }


# -------------------------------------------------------------------------------------- what was measured


@dataclass(frozen=True, slots=True)
class Moment:
    """The Transformer after a number of steps.

    Attributes:
        step: the number of training steps.
        losses: the mean loss in nats per character, on the training part and on the held-out part.
        written: what it wrote at each temperature.
        copied: for each of these, the length of its longest passage from the training part, in characters.
        weights: each head's weights on the beginning of the text.
        beginning: the characters of these weights.
        sizes: the numbers of training characters, held-out characters and different characters.
        unigram: the held-out loss of the character frequencies.
    """

    step: int
    losses: Float[Array, " 2"]
    written: tuple[str, ...]
    copied: tuple[int, ...]
    weights: Float[Array, "L H T T"]
    beginning: str
    sizes: tuple[int, int, int]
    unigram: float

    @classmethod
    def of(cls, frame: Frame) -> Self:
        """Read it from a frame."""
        n_learnt, n_held_out, n_symbols = frame["sizes"].tolist()
        return cls(
            int(frame["step"]),
            frame["losses"],
            tuple(frame["written"].tolist()),
            tuple(frame["copied"].tolist()),
            frame["weights"],
            str(frame["beginning"]),
            (n_learnt, n_held_out, n_symbols),
            float(frame["unigram"]),
        )


def moments(frames: Sequence[Frame]) -> tuple[Moment, ...]:
    """Read the moments from the frames of a run."""
    return tuple(map(Moment.of, frames))
