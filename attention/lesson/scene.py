"""What one pane of the page is about: a trace, a layer, a head, the word in focus and the clicked cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy import ndarray as Array

from attention.figures.matrix import Cell
from attention.kinds import Use
from attention.steps import join_heads, output_projection
from attention.trace import HeadSteps, LayerTrace, ModelInfo, Token, Trace

__all__ = ["Scene"]


@dataclass(frozen=True)
class Scene:
    """A place in a trace; layers, heads and words count from 0. What follows from it is derived once."""

    trace: Trace
    layer: int
    head: int
    word: int
    cell: Cell | None = None

    @property
    def info(self) -> ModelInfo:
        """What the model is."""
        return self.trace.info

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens, special ones and padding among them."""
        return self.trace.tokens

    @property
    def attention(self) -> LayerTrace:
        """The record of this layer."""
        return self.trace.layers[self.layer]

    @property
    def stream(self) -> Array | None:
        """The tokens' vectors that the heads add to: what enters the layer, before any norm; None if not recorded."""
        return self.attention.inputs if self.attention.norm is None else self.trace.hidden_states[self.layer]

    @property
    def group(self) -> int:
        """The key/value head that this head uses."""
        return self.head // self.info.group_size

    @cached_property
    def projected(self) -> tuple[Array, Array]:
        """Queries and keys of this head before they are turned by their positions."""
        return self.attention.projected(self.head)

    @cached_property
    def steps(self) -> HeadSteps:
        """Every step of this head."""
        return self.attention.head(self.head)

    @cached_property
    def visible(self) -> Array:
        """Which keys each query of this head may look at: those that the mask does not hide."""
        return ~self.attention.hidden(self.head)

    @cached_property
    def all_outputs(self) -> Array:
        """The outputs of all heads of this layer, derived head by head: all steps of all of them take much memory."""
        return np.stack([self.attention.head(head).head_outputs for head in range(self.info.n_heads)])

    @cached_property
    def joined(self) -> Array:
        """The outputs of all heads side by side: what ``LayerTrace.joined`` derives anew."""
        return join_heads(self.all_outputs)

    @cached_property
    def change(self) -> Array:
        """What the heads add to each token's vector, where W_O is known: what ``LayerTrace.output`` derives anew."""
        parts = self.attention.projections
        assert parts is not None
        return output_projection(self.joined, parts.W_O, parts.b_O)

    def with_cell(self, cell: Cell | None) -> Self:
        """Return the same place with another cell opened, or with none; what has been derived stays."""
        opened = replace(self, cell=cell)
        vars(opened).update({**vars(self), "cell": cell})
        return opened

    @property
    def key_tokens(self) -> tuple[Token, ...]:
        """The tokens that are looked at: in cross-attention others than those that look."""
        return self.trace.key_tokens

    @property
    def use(self) -> Use:
        """What this attention is."""
        return self.trace.use

    @property
    def own_key(self) -> int | None:
        """The key of the word in focus itself; None if other tokens are looked at."""
        return self.word if self.trace.memory is None else None

    @property
    def hides_later(self) -> str:
        """The lesson that says that the model itself hides what comes later; empty if it does not."""
        return self.use.hides_later or self.info.build.hides_later

    @property
    def labels(self) -> tuple[str, ...]:
        """The tokens that look as the model has them: names of rows."""
        return tuple(token.text for token in self.tokens)

    @property
    def key_labels(self) -> tuple[str, ...]:
        """The tokens that are looked at as the model has them: names of columns, and of rows of keys and values."""
        return tuple(token.text for token in self.key_tokens)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tokens that look as a sentence names them: with their position where several are alike."""
        return _told_apart(self.labels)

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The tokens that are looked at, named in the same way."""
        return _told_apart(self.key_labels)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the d_model dimensions: the toy's features, else their numbers."""
        return self.info.feature_names or numbered(self.info.d_model)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The same, as a sentence needs them: a number alone says nothing there."""
        return self.info.feature_names or tuple(f"dimension {name}" for name in self.dimensions)

    @property
    def focus(self) -> Token:
        """The word in focus."""
        return self.tokens[self.word]

    @property
    def d_head(self) -> int:
        """The width of a query and a key."""
        return self.steps.queries.shape[-1]

    def divisor(self, root: str) -> str:
        """Return what the scores are divided by: ``root``, as one writes √d_k, or a number; empty if by nothing."""
        if self.attention.has_usual_scale:
            return root
        return "" if self.attention.scale == 1 else f"{1 / self.attention.scale:.4g}"

    def has_bias(self, symbol: str) -> bool:
        """Tell whether the projection of this letter (Q, K, V or O) is known to add a bias."""
        parts = self.attention.projections
        return parts is not None and getattr(parts, f"b_{symbol}") is not None

    def selected(self, matrix: str) -> tuple[int, int] | None:
        """Return the clicked cell if it is in this matrix."""
        if self.cell is None or self.cell.matrix != matrix:
            return None
        return self.cell.row, self.cell.column


def _told_apart(labels: tuple[str, ...]) -> tuple[str, ...]:
    count = Counter(labels)
    return tuple(f"{label} ({position})" if count[label] > 1 else label for position, label in enumerate(labels))


def numbered(count: int) -> tuple[str, ...]:
    """Return the names of dimensions that have none: their numbers, from 0."""
    return tuple(map(str, range(count)))
