"""Two sentences read as one text: the tokens of each, and the weight between them."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.lesson.prose import lesson, listed, word


def tell_pair(scene: HeadContext, second: str) -> str:
    """Return as HTML which sentence is A and which is B, and which of them each special token belongs to."""
    told = lesson("pair/words", first=word(scene.trace.text), second=word(second))
    special = [token for token in scene.tokens if token.is_special and not token.is_padding]
    ours, theirs = ([word(token.text) for token in special if token.segment == part] for part in (0, 1))
    if not (ours and theirs):
        return told
    told += lesson("pair/special", ours=listed(ours), theirs=listed(theirs))
    parts = scene.trace.embeddings
    # Without a segment embedding of its own, the second text is not marked for the model.
    is_told = parts is not None and parts.segments is not None and bool((parts.segments != parts.segments[0]).any())
    return told + lesson("pair/segments" if is_told else "pair/no-segments", model=word(scene.info.name))


def tell_shares(shares: Float[Array, "2 2"], special: Sequence[str]) -> str:
    """Return as HTML how much of one head's weight goes across, special tokens counted in."""
    return lesson(
        "pair/shares",
        across=shares[0, 1],
        back=shares[1, 0],
        special=listed([word(name) for name in special]) if special else message("special tokens"),
    )
