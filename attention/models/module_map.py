"""How the table of architectures describes a model: where its parts are, and how its ``config.json`` names its sizes.

Names are those of transformers' modules and configurations, which are also the names in the weight files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention.core.reading import PICTURE, TEXT, Reading

__all__ = ["Architecture", "Attention", "FeedForward", "Sizes", "Stack", "TextPart"]


@dataclass(frozen=True, slots=True)
class Attention:
    """Where in a layer an attention module is: its four linear maps, and the norm before or after it (None: absent).

    If queries, keys and values have the same name, one matrix produces all three: side by side or, ``is_by_head``,
    those of the first head, then those of the second, and so on. ``query_norm`` and ``key_norm`` normalise each query
    and key; ``output_norm`` normalises what the output map gives before it is added to the stream. A model that
    ``scales_queries`` divides its queries by √d_k, and not its scores.
    """

    query: str
    key: str
    value: str
    output: str
    norm: str | None = None
    norm_after: str | None = None
    query_norm: str | None = None
    key_norm: str | None = None
    output_norm: str | None = None
    is_by_head: bool = False
    scales_queries: bool = False


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Where in a layer its feed-forward network is: the maps into it and out of it, and the norm before or after it.

    Of several names, the first that is there counts. It is gated if there is a ``gate`` beside the map into it, or if
    that map ``has_gate`` in its second half. ``output_norm`` is as in ``Attention``.
    """

    inner: tuple[str, ...]
    output: str
    gate: str | None = None
    has_gate: bool = False
    norm: str | None = None
    norm_after: str | None = None
    output_norm: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """Where in a model a stack of layers is, and the parts that produce its first layer's input (None: absent).

    If layers share their weights, ``layers`` names the groups of them, and ``shared`` the layers in a group.
    ``projection`` makes vectors of the width of the layers from those of the embeddings, after their norm;
    ``word_projection`` does so with the word vectors alone, and ``last_projection`` undoes it after the last layer.
    ``norm`` is applied to the sum of the parts, ``word_norm`` to the word vectors before anything is added to them.
    """

    layers: str
    attention: Attention
    feed_forward: FeedForward
    words: str
    root: str | None = None
    shared: str | None = None
    cross: Attention | None = None
    positions: str | None = None
    first_position: int = 0
    # Padding has a row of its own in the table of positions, and the text begins with the row after it.
    has_padding_position: bool = False
    segments: str | None = None
    norm: str | None = None
    word_norm: str | None = None
    projection: str | None = None
    word_projection: str | None = None
    last_projection: str | None = None
    # The norm after the last layer, before a decoder's prediction.
    final_norm: str | None = None
    is_rotary: bool = False
    # A norm after the last layer that nothing here reads through.
    end_norm: str | None = None
    is_causal: bool = False
    # The model makes its masks itself, perhaps another one for each layer: what is asked for is added to them.
    has_own_masks: bool = False
    # Attention and feed-forward network read the same stream, and what both add is added to it at once.
    is_parallel: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """The names of a model's sizes in its configuration; of several names, the first one present counts."""

    layers: tuple[str, ...] = ("num_hidden_layers",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    width: tuple[str, ...] = ("hidden_size",)
    head_width: tuple[str, ...] = ("head_dim",)
    # The widths of two parts of a query, if only one of them is rotated; that of a value; and that of the vectors which
    # the heads share, if they are narrower than those between the layers.
    query_parts: tuple[str, ...] = ()
    value_width: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    positions: tuple[str, ...] = ("max_position_embeddings",)
    decoder_layers: tuple[str, ...] = ()
    inner: tuple[str, ...] = ("intermediate_size",)
    decoder_inner: tuple[str, ...] = ()
    # The width of the embeddings, if it may differ; the number of layers that have weights of their own.
    embedding: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPart:
    """Where, in a model that reads something else beside a text, the part is that reads the text: it alone is run.

    The model is known by its ``name``. ``weights`` matches what comes before a name of the part's own in the files. Of
    what its configuration may leave to transformers, which is not asked for it, ``kind`` is its own ``model_type`` and
    ``defaults`` are sizes. What the model reads beside the text is told in a ``note``.
    """

    name: str
    kind: str
    note: str
    weights: str = r"^(?:model\.)?(?:language_model|text_model)\.(?:model\.)?"
    defaults: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Architecture:
    """A kind of model: its name in plain words, its stacks of layers, and its inputs."""

    name: str
    encoder: Stack
    decoder: Stack | None = None
    sizes: Sizes = Sizes()
    # The stack of a model whose configuration has another value than usual: the name of the value, it, and the stack.
    variants: tuple[tuple[str, object, Stack], ...] = ()
    # Values with which a model is one of another kind, which is not shown.
    refused: tuple[tuple[str, object], ...] = ()
    # What its name does not say, in whole sentences.
    note: str = ""
    # The class of its modules that compute attention by themselves; empty if they call transformers' interface.
    own_attention: str = ""
    takes_pairs: bool = False
    takes_segments: bool = False
    text_part: TextPart | None = None
    reading: Reading = TEXT
    # Whether it is known where its parts are; of any other model, they are looked for when it is loaded.
    is_known: bool = True

    @property
    def reads_pictures(self) -> bool:
        """Tell whether the model's input is pixels, not token ids."""
        return self.reading is PICTURE

    @property
    def is_decoder(self) -> bool:
        """Tell whether the model has only one stack, and that is a decoder."""
        return self.encoder.is_causal

    @property
    def has_decoder(self) -> bool:
        """Tell whether any of the model's stacks is a decoder."""
        return self.is_decoder or self.decoder is not None
