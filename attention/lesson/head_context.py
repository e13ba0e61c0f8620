"""The subject of a pane: a trace, a layer, a head, the word in focus and the opened cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Self, SupportsIndex

import numpy as np
from numpy import ndarray as Array

from attention.core.kinds import Use
from attention.core.messages import message
from attention.core.steps import HeadSteps, join_heads, output_projection
from attention.core.trace import LayerTrace, ModelInfo, Token, Trace
from attention.figures.matrix import Cell
from attention.lesson.prose import word


@dataclass(frozen=True)
class HeadContext:
    """A place in a trace, with layer, head and word counted from 0; derived arrays are cached."""

    trace: Trace
    layer: int
    head: int
    word: int
    cell: Cell | None = None

    @property
    def info(self) -> ModelInfo:
        """The model's description."""
        return self.trace.info

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The query tokens, including special ones and padding."""
        return self.trace.tokens

    @property
    def attention(self) -> LayerTrace:
        """The record of this layer."""
        return self.trace.layers[self.layer]

    @property
    def knows_layers(self) -> bool:
        """Whether it is known what the layer does with its heads' output."""
        is_recorded = self.attention.lengths is not None or self.trace.embeddings is not None
        return is_recorded or self.info.adds_as_is or self.attention.added_norm is not None

    @property
    def stream(self) -> Array | None:
        """The residual stream that the heads add to: the layer's input before any norm; None if not recorded."""
        return self.attention.inputs if self.attention.norm is None else self.trace.hidden_states[self.layer]

    @property
    def group(self) -> int:
        """The key/value head of this head."""
        return self.head // self.info.group_size

    @cached_property
    def projected(self) -> tuple[Array, Array]:
        """This head's queries and keys before any norm and rotation by position."""
        return self.attention.projected(self.head)

    @cached_property
    def unrotated(self) -> tuple[Array, Array]:
        """The same after their norm, if the model has one."""
        return self.attention.unrotated(self.head)

    @cached_property
    def steps(self) -> HeadSteps:
        """All steps of this head."""
        return self.attention.head(self.head)

    @cached_property
    def visible(self) -> Array:
        """Which keys the mask leaves visible to each query of this head."""
        return ~self.attention.hidden(self.head)

    @cached_property
    def all_outputs(self) -> Array:
        """The outputs of all heads of this layer, derived head by head to save memory."""
        return np.stack([self.attention.head(head).head_outputs for head in range(self.info.n_heads)])

    @cached_property
    def joined(self) -> Array:
        """The concatenated outputs of all heads: ``LayerTrace.joined``, cached."""
        return join_heads(self.all_outputs)

    @cached_property
    def change(self) -> Array:
        """ΔE, the heads' addition to each token's vector, if W_O is known: ``LayerTrace.output``, cached."""
        parts = self.attention.projections
        assert parts is not None
        return output_projection(self.joined, parts.W_O, parts.b_O)

    def with_cell(self, cell: Cell | None) -> Self:
        """Return the same context with another cell opened, or none; cached arrays are kept."""
        opened = replace(self, cell=cell)
        vars(opened).update({**vars(self), "cell": cell})
        return opened

    @property
    def key_tokens(self) -> tuple[Token, ...]:
        """The key tokens; in cross-attention, those of the source text."""
        return self.trace.key_tokens

    @property
    def use(self) -> Use:
        """The kind of attention: self- or cross-attention, encoder or decoder."""
        return self.trace.use

    @property
    def own_key(self) -> int | None:
        """The position of the word in focus among the keys; None in cross-attention."""
        return None if self.use.looks_elsewhere else self.word

    @property
    def other_keys(self) -> str:
        """Why its keys are not its tokens alone, for a page that needs such keys; empty if they are."""
        if self.key_tokens is self.tokens:
            return ""
        if self.use.looks_elsewhere:
            told = message("This attention is between two texts.")
            return told + " " + message("Choose {others}.", others=self.use.others)
        told = message("Each head of {name} also has a sink, a key that is not a token.", name=self.info.name)
        return told + " " + message("Choose another model.")

    @property
    def has_sink(self) -> bool:
        """Whether the last key is the head's sink."""
        return self.key_tokens is not self.tokens and not self.use.looks_elsewhere

    @property
    def hides_later(self) -> str:
        """The name of the lesson which says that the model always hides later tokens; empty if it does not."""
        return self.use.hides_later or self.info.build.hides_later

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The query tokens as in the vocabulary: labels of rows."""
        return tuple(token.text for token in self.tokens)

    @cached_property
    def key_labels(self) -> tuple[str, ...]:
        """The key tokens as in the vocabulary: labels of columns, and of the rows of keys and values."""
        return tuple(token.text for token in self.key_tokens)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The query tokens as named in a sentence, with positions where a token repeats."""
        return distinct(self.labels)

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The key tokens as named in a sentence."""
        return distinct(self.key_labels)

    @property
    def focus_word(self) -> str:
        """The word in focus as HTML for a sentence."""
        return self.query_word(self.word)

    def query_word(self, position: SupportsIndex) -> str:
        """Return a query token as HTML for a sentence."""
        return word(self.names[position])

    def key_word(self, position: SupportsIndex) -> str:
        """Return a key token as HTML for a sentence."""
        return word(self.key_names[position])

    @property
    def numbers(self) -> dict[str, int]:
        """The layer and head, counted from 1, as facts for a sentence."""
        return {"layer": self.layer + 1, "head": self.head + 1}

    @property
    def place(self) -> str:
        """The head and its model, as in a heading."""
        return message(
            "Layer {layer}, head {head} of {name}", layer=self.layer + 1, head=self.head + 1, name=self.info.name
        )

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the d_model dimensions: the toy's features, or numbers."""
        return self.info.feature_names or numbered(self.info.d_model)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The same names for use in a sentence, where a bare number would be unclear."""
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
        """Return the scores' divisor: ``root`` (√d_k in some notation) or a number; empty if they are not divided."""
        if self.attention.has_usual_scale:
            return root
        return "" if self.attention.scale == 1 else f"{1 / self.attention.scale:.4g}"

    def has_bias(self, symbol: str) -> bool:
        """Return whether the projection Q, K, V or O is known to add a bias."""
        parts = self.attention.projections
        return parts is not None and getattr(parts, f"b_{symbol}") is not None

    def selected(self, matrix: str) -> tuple[int, int] | None:
        """Return the row and column of the opened cell if it is in this matrix."""
        if self.cell is None or self.cell.matrix != matrix:
            return None
        return self.cell.row, self.cell.column


def needs_all_layers(info: ModelInfo) -> str:
    """Return why a page that needs attention in every layer cannot show this model; "" if it can."""
    if not info.layer_kinds:
        return ""
    return message(
        "Some layers of {name} have no attention, and all are needed here. Choose another model.", name=info.name
    )


def distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels with their positions where they repeat.

    >>> distinct(["the", "cat", "the"])
    ('the (0)', 'cat', 'the (2)')
    """
    count = Counter(labels)
    return tuple(f"{label} ({position})" if count[label] > 1 else label for position, label in enumerate(labels))


def numbered(count: int) -> tuple[str, ...]:
    """Return the numbers from 0, as names of dimensions."""
    return tuple(map(str, range(count)))


@cache
def named(count: int) -> tuple[str, ...]:
    """Return names of numbered dimensions for use in a sentence."""
    return tuple(message("dimension {dimension}", dimension=name) for name in numbered(count))
