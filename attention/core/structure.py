"""The structure of a layer: its branches off the residual stream and its norms.

These are facts read from a loaded model's modules, for any architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Branch = Literal["self", "cross", "feed-forward"]


@dataclass(frozen=True, slots=True)
class Sublayer:
    """One branch of a layer, whose output is added to the residual stream: ``x ← after(x + of(f(before(x))))``.

    ``norm_before``, ``norm_of`` and ``norm_after`` name the norms in these places; empty if there is none. A
    feed-forward network has a ``width``, the number of its hidden units (d_ff), and may be gated (Shazeer 2020).
    """

    branch: Branch
    norm_before: str = ""
    norm_after: str = ""
    norm_of: str = ""
    width: int = 0
    is_gated: bool = False

    @property
    def is_attention(self) -> bool:
        """Whether it is attention."""
        return self.branch != "feed-forward"


@dataclass(frozen=True, slots=True)
class Structure:
    """A stack of identical layers: the sublayers of each, and the norms before and after the stack.

    ``embedding_norm`` follows the sum of the embeddings, ``final_norm`` the last layer; empty if there is none.
    """

    sublayers: tuple[Sublayer, ...]
    embedding_norm: str = ""
    final_norm: str = ""

    def after(self, branch: Branch) -> tuple[str, Sublayer | None]:
        """Return the first norm after this branch in the layer, and the next sublayer; StopIteration if absent."""
        index = next(i for i, each in enumerate(self.sublayers) if each.branch == branch)
        following = next(iter(self.sublayers[index + 1 :]), None)
        return self.sublayers[index].norm_after or (following.norm_before if following else ""), following
