"""Two sentences read as one text, in words: to which of them each token belongs, and how much weight goes across."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import fact, lesson, listed, word

__all__ = ["tell_pair", "tell_shares"]


def tell_pair(scene: HeadContext, second: str) -> str:
    """Return as HTML which sentence is A and which is B, and to which of them each special token belongs."""
    told = lesson("pair/words", first=word(scene.trace.text), second=word(second))
    special = [token for token in scene.tokens if token.is_special and not token.is_padding]
    ours, theirs = ([word(token.text) for token in special if token.segment == part] for part in (0, 1))
    if not (ours and theirs):
        return told
    told += lesson("pair/special", ours=listed(ours), theirs=listed(theirs))
    parts = scene.trace.embeddings
    # A model that has not learnt a vector for the second text does not know where that begins.
    is_told = parts is not None and parts.segments is not None and bool((parts.segments != parts.segments[0]).any())
    return told + lesson("pair/segments" if is_told else "pair/no-segments", model=word(scene.info.name))


def tell_shares(shares: Float[Array, "2 2"], special: Sequence[str]) -> str:
    """Return as HTML how much weight goes across in one head, counting the special tokens with these names."""
    return lesson(
        "pair/shares",
        across=fact(float(shares[0, 1])),
        back=fact(float(shares[1, 0])),
        special=listed([word(name) for name in special]) if special else message("special tokens"),
    )
