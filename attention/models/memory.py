"""The memory that a model needs, and the memory that the server's owner allows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from attention.core.messages import message
from attention.core.trace import ModelInfo

# The owner's limit for all loaded models and their records, in MB.
MAX_MEMORY_VARIABLE = "ATTENTION_MAX_MEMORY_MB"
# The default limit leaves the rest to the server and other programs.
SHARE = 0.75
# Weights and records are float32.
_BYTES_OF_NUMBER = 4
# A container's memory limit on Linux.
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_MB = 10**6


@dataclass(frozen=True, slots=True)
class Needed:
    """The bytes a model needs: its weights, and the record of the longest text shown."""

    weights: int
    record: int

    @classmethod
    def by(cls, info: ModelInfo) -> Needed:
        """Compute it from a model's sizes.

        A record has, for each layer and token, the layer's input and output, the projections' input, queries, keys,
        values, the heads' outputs and ΔE; and a mask.
        """
        of_heads = (info.n_heads + info.n_key_value_heads) * (info.d_head + (info.d_value or info.d_head))
        of_layer = info.max_tokens * (3 * info.d_model + of_heads)
        # A decoder layer has two attentions.
        n_attentions = info.n_layers + 2 * info.n_decoder_layers
        numbers = n_attentions * of_layer + 2 * info.max_tokens**2
        return cls(info.n_parameters * _BYTES_OF_NUMBER, numbers * _BYTES_OF_NUMBER)

    @property
    def total(self) -> int:
        """The sum of both."""
        return self.weights + self.record


def allowed_bytes() -> int:
    """Return the memory limit for all models: ``ATTENTION_MAX_MEMORY_MB``, or a share of the available memory."""
    chosen = os.environ.get(MAX_MEMORY_VARIABLE, "").strip()
    return int(chosen) * _MB if chosen.isdecimal() else int(SHARE * _available_bytes())


def check_fits(info: ModelInfo) -> None:
    """Raise ValueError, with a message for the page, if a model needs more memory than allowed."""
    needed, allowed = Needed.by(info), allowed_bytes()
    if needed.total > allowed:
        raise ValueError(
            message(
                "It needs {total} GB of memory; {allowed} GB are allowed.",
                total=_gigabytes(needed.total),
                allowed=_gigabytes(allowed),
            )
        )


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 10**9:,.2f}"


def _available_bytes() -> int:
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = _CONTAINER_LIMIT.read_text("ascii").strip()
    except (OSError, ValueError):
        limit = ""
    return min(there, int(limit)) if limit.isdecimal() else there
