"""What comes of training a small Transformer on a text until it writes in its style.

The training is ``attention.training.writing``, in a process of its own; here is what it reads, how large it is, and
what it measures, step by step. A text of somebody's own is read by that process alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message, messages
from attention.core.paths import ASSETS
from attention.core.text import clean
from attention.training.jobs import Frame, Job

__all__ = [
    "BATCH",
    "CONTEXT",
    "DEPTHS",
    "JOB",
    "LEAST",
    "MOMENTS",
    "MOST",
    "MOST_SYMBOLS",
    "N_HEADS",
    "N_MEASURED",
    "N_SHOWN",
    "N_WRITTEN",
    "STEPS",
    "TEMPERATURES",
    "WIDTH",
    "Moment",
    "bundled",
    "divide",
    "longest_copied",
    "moments",
    "parameters",
    "read",
    "uniform",
    "unigram",
]

# A text has so many characters at least, and at most.
LEAST, MOST = 2_000, 200_000
# So many of them are different: each is a token, with a row in the embedding and a logit.
FEWEST_SYMBOLS, MOST_SYMBOLS = 2, 1_000
# The last part of the text is not learnt from: the loss is measured on it.
HELD_OUT = 0.1

# How many layers the Transformer can have, and how wide it is.
DEPTHS = (1, 2, 3)
WIDTH, N_HEADS = 96, 4
# It reads so many characters at a time, and so many such pieces in each step.
CONTEXT, BATCH = 64, 12
# Of each part of the text, so many pieces at most are measured.
N_MEASURED = 100
# After so many steps it is looked at; most changes at the beginning.
MOMENTS = (0, 10, 25, 50, 100, 150, 200, 250, 300, 400, 500)
STEPS = MOMENTS[-1]

# It writes so many characters at each of these temperatures.
N_WRITTEN = 280
TEMPERATURES = (1.0, 0.5)
# The heads are drawn on so many characters from the beginning of the text.
N_SHOWN = 24

_STORY = ASSETS / "story.txt"


@cache
def bundled() -> str:
    """Return the story that comes with the project."""
    return read(_STORY.read_text("utf-8"))


def read(given: str) -> str:
    """Return a text as it is learnt: each line made safe (``attention.core.text.clean``), without blank ends.

    Letters of every script and emoji are kept; several spaces become one.

    Raises:
        ValueError: it is too short, too long or too varied; the message is a sentence for whoever has given it.
    """
    text = "\n".join(map(clean, given.splitlines())).strip() if len(given) <= MOST else given
    n_symbols = len(set(text))
    problem = ""
    if not text:
        problem = message("There is nothing but white space in this text.")
    elif len(text) > MOST:
        problem = message("This text is too long: at most {most} characters can be learnt here.", most=f"{MOST:,}")
    elif len(text) < LEAST:
        problem = messages(
            "This text has {n} character, and at least {least} are needed to learn how it is written.",
            "This text has {n} characters, and at least {least} are needed to learn how it is written.",
            len(text),
            n=f"{len(text):,}",
            least=f"{LEAST:,}",
        )
    elif n_symbols < FEWEST_SYMBOLS or n_symbols > MOST_SYMBOLS:
        problem = messages(
            "This text has {n} different character; it takes {fewest} to {most} to learn from it here.",
            "This text has {n} different characters; it takes {fewest} to {most} to learn from it here.",
            n_symbols,
            n=f"{n_symbols:,}",
            fewest=FEWEST_SYMBOLS,
            most=f"{MOST_SYMBOLS:,}",
        )
    if problem:
        raise ValueError(problem)
    return text


JOB = Job("write", "attention.training.writing", most_seconds=60, accepts=read)


# --------------------------------------------------------------------------------- what it is compared with


def divide(text: str) -> tuple[str, str]:
    """Return the part of a text that is learnt from, and the last part, which is held out."""
    at = len(text) - round(HELD_OUT * len(text))
    return text[:at], text[at:]


def uniform(n_symbols: int) -> float:
    """Return the loss, in nats per character, where all characters are equally likely: ln V."""
    return float(np.log(n_symbols))


def unigram(learnt: str, held_out: str) -> float:
    """Return the loss on the part held out if each character is as likely as it was often in the other part.

    −1/n · Σ ln((count + 1) / (N + V)), in nats per character: so that no character is impossible, each counts as seen
    once more than it was (Laplace).
    """
    symbols, numbers = np.unique(list(learnt + held_out), return_inverse=True)
    counts = np.bincount(numbers[: len(learnt)], minlength=len(symbols)) + 1
    return float(-np.log(counts / counts.sum())[numbers[len(learnt) :]].mean())


def longest_copied(written: str, learnt: str) -> int:
    """Return the length of the longest passage of one text that stands in another.

    >>> longest_copied("the old cat sat", "a cat sat here")
    8
    """
    longest = 0
    for start in range(len(written)):
        while start + longest < len(written) and written[start : start + longest + 1] in learnt:
            longest += 1
    return longest


def parameters(n_symbols: int, n_layers: int, width: int = WIDTH) -> Mapping[str, int]:
    """Return how many parameters each part of the Transformer has, biases included."""
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
    """What the Transformer was after a number of steps, and what it read.

    Attributes:
        step: how many steps of training there were.
        losses: the mean loss, in nats per character, on the part that is learnt from and on the one held out.
        written: what it wrote, at each temperature.
        copied: the longest passage in each of these that stands in the part that is learnt from, in characters.
        weights: the weights of each head on the beginning of the text.
        beginning: the characters that these are of.
        sizes: how many characters are learnt from, how many are held out, and how many different ones there are.
        unigram: the loss, on the part held out, of a model that knows how often each character comes.
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
        """Return what a frame of the training says."""
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
    """Return what the frames of a training say."""
    return tuple(map(Moment.of, frames))
