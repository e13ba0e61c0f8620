"""How the table of architectures describes a model: its modules, and the names of its sizes in ``config.json``.

Names are those of transformers' modules and configurations, and of the weight files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention.core.reading import PICTURE, TEXT, Reading


@dataclass(frozen=True, slots=True)
class Attention:
    """An attention module's place in a layer: its four linear maps, and the norms around it (None: absent).

    If queries, keys and values have the same name, one matrix produces all three, side by side or, if ``is_by_head``,
    head by head. ``query_norm`` and ``key_norm`` normalise each query and key; ``output_norm`` normalises the output
    projection's result before it is added to the stream. A model that ``scales_queries`` divides queries, not scores,
    by √d_k.
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
    """A feed-forward network's place in a layer: its input and output maps, and the norms around it.

    The first of several ``inner`` names that exists counts. It is gated if there is a ``gate``, or if the inner map
    ``has_gate`` in its second half. ``output_norm`` is as in ``Attention``.
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
    """A stack of layers' place in a model, and the modules that produce its first layer's input (None: absent).

    If layers share weights, ``layers`` names their groups, and ``shared`` the layers in a group. ``projection`` maps
    the normalised embeddings to the layers' width; ``word_projection`` maps the word vectors alone, and
    ``last_projection`` undoes it after the last layer. ``norm`` is applied to the sum of the embeddings, ``word_norm``
    to the word vectors alone.
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
    # Padding has its own row in the table of positions, and the text begins with the next row.
    has_padding_position: bool = False
    segments: str | None = None
    norm: str | None = None
    word_norm: str | None = None
    projection: str | None = None
    word_projection: str | None = None
    last_projection: str | None = None
    # The norm before a decoder's prediction.
    final_norm: str | None = None
    is_rotary: bool = False
    # A norm after the last layer that is not used here.
    end_norm: str | None = None
    is_causal: bool = False
    # The model makes its masks itself, possibly one for each layer: a requested mask is added to them.
    has_own_masks: bool = False
    # Attention and feed-forward network read the same stream, and both outputs are added at once.
    is_parallel: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """The names of a model's sizes in its configuration; the first one present counts."""

    layers: tuple[str, ...] = ("num_hidden_layers",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    width: tuple[str, ...] = ("hidden_size",)
    head_width: tuple[str, ...] = ("head_dim",)
    # The widths of the two parts of a query of which only one is rotated; of a value; and of the vectors that the heads
    # share, if narrower than the stream.
    query_parts: tuple[str, ...] = ()
    value_width: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    positions: tuple[str, ...] = ("max_position_embeddings",)
    decoder_layers: tuple[str, ...] = ()
    inner: tuple[str, ...] = ("intermediate_size",)
    decoder_inner: tuple[str, ...] = ()
    # The width of the embeddings, if different, and the number of layers with their own weights.
    embedding: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPart:
    """The text part of a multimodal model, which alone is run.

    ``name`` is the model's. ``weights`` matches the prefix of the part's names in the files. ``kind`` (its
    ``model_type``) and ``defaults`` (sizes) complete its configuration. ``note`` names other input of the model.
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
    # Other stacks for unusual configurations: a key, its value, and the stack.
    variants: tuple[tuple[str, object, Stack], ...] = ()
    # Keys and values of models that cannot be shown.
    refused: tuple[tuple[str, object], ...] = ()
    # Remarks for the page, in whole sentences.
    note: str = ""
    # The class of its modules that bypass transformers' attention interface; empty if none do.
    own_attention: str = ""
    takes_pairs: bool = False
    takes_segments: bool = False
    text_part: TextPart | None = None
    reading: Reading = TEXT
    # Whether its modules are known; in any other model, they are searched for when it is loaded.
    is_known: bool = True

    @property
    def reads_pictures(self) -> bool:
        """Whether the input is pixels, not token IDs."""
        return self.reading is PICTURE

    @property
    def is_decoder(self) -> bool:
        """Whether the only stack is a decoder."""
        return self.encoder.is_causal

    @property
    def has_decoder(self) -> bool:
        """Whether any stack is a decoder."""
        return self.is_decoder or self.decoder is not None
