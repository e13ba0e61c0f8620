"""The steps of attention, in order; to add one, write a module and list it here."""

from __future__ import annotations

from attention.lesson.steps import embed, heads, mask, qkv, scale, scores, softmax, tokens, weighted_sum
from attention.lesson.steps.base import Step

STEPS: tuple[Step, ...] = (
    tokens.STEP,
    embed.STEP,
    qkv.STEP,
    scores.STEP,
    scale.STEP,
    mask.STEP,
    softmax.STEP,
    weighted_sum.STEP,
    heads.STEP,
)


def keys() -> tuple[str, ...]:
    """Return the steps' keys, which are their names in links, in order."""
    return tuple(step.key for step in STEPS)


def step_of(key: str) -> Step:
    """Return the step with this key.

    Raises:
        ValueError: there is no such step.
    """
    for step in STEPS:
        if step.key == key:
            return step
    raise ValueError(f"step must be one of {', '.join(keys())}, got {key!r}")


def number_of(step: Step) -> int:
    """Return a step's number, counted from 1."""
    return keys().index(step.key) + 1
