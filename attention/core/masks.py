"""Additive masks: 0 where a query may attend to a key and ``-inf`` where it may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

MaskName = Literal["none", "causal", "padding"]
MASK_NAMES: tuple[MaskName, ...] = get_args(MaskName)

# The number of [PAD] tokens that the padding mask appends: a visible block that does not crowd the sentence.
N_PADDING = 3


def none(n_tokens: int) -> Float[Array, "T T"]:
    """Let every token attend to every token."""
    return np.zeros((n_tokens, n_tokens), np.float32)


def causal(n_tokens: int) -> Float[Array, "T T"]:
    """Hide all later tokens from each token, as in a decoder (Vaswani et al. 2017, section 3.2.3)."""
    return painted(later(n_tokens))


def later(n_tokens: int) -> Bool[Array, "T T"]:
    """Return which keys come after each query."""
    return np.triu(np.ones((n_tokens, n_tokens), bool), k=1)


def padding(is_padding: Sequence[bool]) -> Float[Array, "T T"]:
    """Hide padding: its columns are ``-inf``."""
    hidden = np.asarray(is_padding, bool)
    return painted(np.broadcast_to(hidden, (hidden.size, hidden.size)))


def window(n_tokens: int, reach: int) -> Float[Array, "T T"]:
    """Hide tokens more than ``reach`` positions away (Beltagy et al. 2020, section 3.1)."""
    places = np.arange(n_tokens)
    return painted(np.abs(places[:, None] - places) > reach)


def prefix(n_tokens: int, length: int) -> Float[Array, "T T"]:
    """Hide later tokens, except the first ``length`` (Raffel et al. 2020, section 3.2.1)."""
    return painted(np.isneginf(causal(n_tokens)) & (np.arange(n_tokens) >= length))


def painted(hidden: Bool[Array, "Q K"]) -> Float[Array, "Q K"]:
    """Return the additive mask that hides the cells marked True."""
    return np.where(hidden, np.float32(-np.inf), np.float32(0))


def n_padding(mask: MaskName | Array | None) -> int:
    """Return the number of [PAD] tokens appended for this mask."""
    return N_PADDING if isinstance(mask, str) and mask == "padding" else 0


def build(mask: MaskName | Array | None, n_tokens: int) -> Float[Array, "Q K"] | None:
    """Return the additive mask over ``n_tokens`` tokens (padding included), or None if nothing is hidden.

    Raises:
        ValueError: the name is unknown, or the array has the wrong shape, is not of floats, or holds NaN or ``+inf``.
    """
    if mask is None or (isinstance(mask, str) and mask == "none"):
        return None
    if isinstance(mask, str):
        if mask == "causal":
            return causal(n_tokens)
        if mask == "padding":
            return padding([position >= n_tokens - N_PADDING for position in range(n_tokens)])
        raise ValueError(f"mask must be one of {', '.join(MASK_NAMES)} or an array, got {mask!r}")
    mask = np.asarray(mask)
    if mask.shape != (n_tokens, n_tokens):
        raise ValueError(f"mask must have shape {(n_tokens, n_tokens)} for {n_tokens} tokens, got {mask.shape}")
    if not np.issubdtype(mask.dtype, np.floating):
        raise ValueError(f"mask must be additive, of floats with 0 and -inf, got {mask.dtype}; see masks.painted")
    if np.isnan(mask).any() or np.isposinf(mask).any():
        raise ValueError("mask must hold finite numbers and -inf only, got NaN or +inf")
    return hide_lowest(mask.astype(np.float32))


def hide_lowest(mask: Float[Array, "*H Q K"]) -> Float[Array, "*H Q K"]:
    """Replace the lowest number of a float type, which libraries use for masked cells, with ``-inf``."""
    return np.where(mask <= np.finfo(mask.dtype).min, np.array(-np.inf, mask.dtype), mask)


def is_causal(mask: Float[Array, "*H Q K"] | None) -> bool:
    """Return whether the mask hides all later tokens; False for a single token."""
    if mask is None or mask.shape[-1] < 2 or mask.shape[-1] != mask.shape[-2]:
        return False
    later = np.triu_indices(mask.shape[-1], k=1)
    return bool(np.isneginf(mask[..., later[0], later[1]]).all())
