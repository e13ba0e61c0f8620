"""How much memory a model takes, and how much the owner of the server allows it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from attention.core.messages import message
from attention.core.trace import ModelInfo

__all__ = ["MAX_MEMORY_VARIABLE", "Needed", "allowed_bytes", "check_fits"]

# The owner's limit for the models in memory with what they read, in MB.
MAX_MEMORY_VARIABLE = "ATTENTION_MAX_MEMORY_MB"
# Unless the owner says otherwise, the rest is left to the server itself, and to what else runs there.
SHARE = 0.75
# All numbers are kept as float32.
_BYTES_OF_NUMBER = 4
# Where Linux says how much memory a container may take.
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_MB = 10**6


@dataclass(frozen=True, slots=True)
class Needed:
    """How many bytes a model takes: its own numbers, and the record of the longest text that is shown."""

    weights: int
    record: int

    @classmethod
    def by(cls, info: ModelInfo) -> Needed:
        """Work it out from a model's sizes.

        A record has, for each layer and token, what enters and what leaves the layer, what the projections multiply,
        queries, keys, values, the heads' outputs and what they add; and a mask.
        """
        of_heads = (info.n_heads + info.n_key_value_heads) * (info.d_head + (info.d_value or info.d_head))
        of_layer = info.max_tokens * (3 * info.d_model + of_heads)
        # A layer of a decoder has two attentions.
        n_attentions = info.n_layers + 2 * info.n_decoder_layers
        numbers = n_attentions * of_layer + 2 * info.max_tokens**2
        return cls(info.n_parameters * _BYTES_OF_NUMBER, numbers * _BYTES_OF_NUMBER)

    @property
    def total(self) -> int:
        """Both together."""
        return self.weights + self.record


def allowed_bytes() -> int:
    """Return how much memory the models may take together: ``ATTENTION_MAX_MEMORY_MB``, or a share of what is there."""
    chosen = os.environ.get(MAX_MEMORY_VARIABLE, "").strip()
    return int(chosen) * _MB if chosen.isdecimal() else int(SHARE * _there())


def check_fits(info: ModelInfo) -> None:
    """Refuse a model that takes more memory than the owner allows, before anything of it is loaded.

    Raises:
        ValueError: it does; the message is a sentence with the sum.
    """
    needed, allowed = Needed.by(info), allowed_bytes()
    if needed.total > allowed:
        raise ValueError(
            message(
                "It takes {total} GB of memory, and {allowed} GB are allowed here: {weights} GB for its {count} "
                "million numbers of 4 bytes, and {record} GB for the record of a text of {tokens} tokens.",
                total=_gigabytes(needed.total),
                allowed=_gigabytes(allowed),
                weights=_gigabytes(needed.weights),
                count=f"{info.n_parameters / 10**6:,.0f}",
                record=_gigabytes(needed.record),
                tokens=info.max_tokens,
            )
        )


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 10**9:,.2f}"


def _there() -> int:
    """Return how much memory this process may use: that of the machine, or the limit of its container."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = _CONTAINER_LIMIT.read_text("ascii").strip()
    except (OSError, ValueError):
        limit = ""
    return min(there, int(limit)) if limit.isdecimal() else there
