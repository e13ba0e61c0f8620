"""What one pane of the page is about: a trace, a layer, a head, the word in focus and the opened cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Self

import numpy as np
from numpy import ndarray as Array

from attention.core.kinds import Use
from attention.core.messages import message
from attention.core.steps import join_heads, output_projection
from attention.core.trace import HeadSteps, LayerTrace, ModelInfo, Token, Trace
from attention.figures.matrix import Cell

__all__ = ["HeadContext", "named", "numbered"]


@dataclass(frozen=True)
class HeadContext:
    """A place in a trace, with layers, heads and words counted from 0; what is derived from it is derived once."""

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
        """The tokens, including special ones and padding."""
        return self.trace.tokens

    @property
    def attention(self) -> LayerTrace:
        """The record of this layer."""
        return self.trace.layers[self.layer]

    @property
    def knows_layers(self) -> bool:
        """Tell whether it is known what becomes of what the heads give: not of a model that is not in the table."""
        return self.attention.lengths is not None or self.trace.embeddings is not None

    @property
    def stream(self) -> Array | None:
        """The residual stream to which the heads add: the layer's input before any norm; None if not recorded."""
        return self.attention.inputs if self.attention.norm is None else self.trace.hidden_states[self.layer]

    @property
    def group(self) -> int:
        """The key/value head that this head uses."""
        return self.head // self.info.group_size

    @cached_property
    def projected(self) -> tuple[Array, Array]:
        """The queries and keys of this head before they are rotated by their positions."""
        return self.attention.projected(self.head)

    @cached_property
    def steps(self) -> HeadSteps:
        """Every step of this head."""
        return self.attention.head(self.head)

    @cached_property
    def visible(self) -> Array:
        """Which keys each query of this head may attend to: those that the mask does not hide."""
        return ~self.attention.hidden(self.head)

    @cached_property
    def all_outputs(self) -> Array:
        """The outputs of all heads of this layer, derived head by head, because all their steps take much memory."""
        return np.stack([self.attention.head(head).head_outputs for head in range(self.info.n_heads)])

    @cached_property
    def joined(self) -> Array:
        """The outputs of all heads side by side, as from ``LayerTrace.joined``, but derived only once."""
        return join_heads(self.all_outputs)

    @cached_property
    def change(self) -> Array:
        """What the heads add to each token's vector, if W_O is known: ``LayerTrace.output``, but derived only once."""
        parts = self.attention.projections
        assert parts is not None
        return output_projection(self.joined, parts.W_O, parts.b_O)

    def with_cell(self, cell: Cell | None) -> Self:
        """Return the same place with another cell opened, or with none; what has been derived is kept."""
        opened = replace(self, cell=cell)
        vars(opened).update({**vars(self), "cell": cell})
        return opened

    @property
    def key_tokens(self) -> tuple[Token, ...]:
        """The tokens that are attended to; in cross-attention, not the same as those that attend."""
        return self.trace.key_tokens

    @property
    def use(self) -> Use:
        """The use of attention that this is."""
        return self.trace.use

    @property
    def own_key(self) -> int | None:
        """The position of the word in focus among the keys; None in cross-attention."""
        return self.word if self.trace.memory is None else None

    @property
    def hides_later(self) -> str:
        """The lesson which says that the model always hides later tokens; empty if it does not."""
        return self.use.hides_later or self.info.build.hides_later

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The tokens that attend, as in the vocabulary: the labels of rows."""
        return tuple(token.text for token in self.tokens)

    @cached_property
    def key_labels(self) -> tuple[str, ...]:
        """The tokens attended to, as in the vocabulary: the labels of columns, and of the rows of keys and values."""
        return tuple(token.text for token in self.key_tokens)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tokens that attend, as named in a sentence: with their positions if several are the same."""
        return _told_apart(self.labels)

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The tokens attended to, named in the same way."""
        return _told_apart(self.key_labels)

    @property
    def place(self) -> str:
        """The head and its model, as a heading says it."""
        return message(
            "Layer {layer}, head {head} of {name}", layer=self.layer + 1, head=self.head + 1, name=self.info.name
        )

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the d_model dimensions: the toy's features, or numbers."""
        return self.info.feature_names or numbered(self.info.d_model)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The same for use in a sentence, where a bare number would be unclear."""
        return self.info.feature_names or named(self.info.d_model)

    @property
    def focus(self) -> Token:
        """The word in focus."""
        return self.tokens[self.word]

    @property
    def d_head(self) -> int:
        """The width of a query and a key."""
        return self.steps.queries.shape[-1]

    def divisor(self, root: str) -> str:
        """Return what the scores are divided by: ``root`` (√d_k in some notation) or a number; empty if undivided."""
        if self.attention.has_usual_scale:
            return root
        return "" if self.attention.scale == 1 else f"{1 / self.attention.scale:.4g}"

    def has_bias(self, symbol: str) -> bool:
        """Tell whether the projection of this letter (Q, K, V or O) is known to add a bias."""
        parts = self.attention.projections
        return parts is not None and getattr(parts, f"b_{symbol}") is not None

    def selected(self, matrix: str) -> tuple[int, int] | None:
        """Return the row and column of the opened cell if it is in this matrix."""
        if self.cell is None or self.cell.matrix != matrix:
            return None
        return self.cell.row, self.cell.column


def _told_apart(labels: tuple[str, ...]) -> tuple[str, ...]:
    count = Counter(labels)
    return tuple(f"{label} ({position})" if count[label] > 1 else label for position, label in enumerate(labels))


def numbered(count: int) -> tuple[str, ...]:
    """Return names for dimensions without names: their numbers from 0."""
    return tuple(map(str, range(count)))


@cache
def named(count: int) -> tuple[str, ...]:
    """Return the same for use in a sentence."""
    return tuple(message("dimension {dimension}", dimension=name) for name in numbered(count))
