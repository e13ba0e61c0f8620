"""The record of a model's run, and the quantities derived from it.

A trace stores causes (queries, keys, values, mask, scale) and derives effects (scores, weights, outputs) on demand, so
its memory grows with the number of tokens, not with its square. It also stores the attention output of the model
itself, against which the derived one is checked.

Axis letters are those of :mod:`attention.core.steps`. All arrays are float32 and read-only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, overload

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core import long_table, steps
from attention.core.array_file import ArrayFile, are_same
from attention.core.given import integer, integers
from attention.core.kinds import CROSS, DECODER, ENCODER, ENCODER_DECODER, SELF, WRITTEN, Build, Use
from attention.core.positions import Rotary, apply_rotary
from attention.core.reading import FRENCH, PICTURE, TEXT, Reading
from attention.core.steps import HeadSteps
from attention.core.structure import Branch, Structure, Sublayer

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


AttentionKind = Literal["self", "cross", "masked self"]

# The three uses of attention in an encoder–decoder (Vaswani et al. 2017, section 3.2.3).
Part = Literal["encoder", "decoder", "cross"]
PARTS: tuple[Part, ...] = get_args(Part)

# The most characters of a text in a trace's repr.
_MOST_SHOWN = 80

# What a layer computes with its own weight matrices.
Made = Literal["queries", "keys", "values", "added"]


# Rounding errs by half the type's spacing, and a chain of sums by a few times that: by 1e-5 of the largest number in
# float32, whose sums are longest, and by about 8 spacings in a type of half the size.
_LEAST_TOLERANCE, _SPACINGS = 1e-5, 8


def tolerance(spacing: float) -> float:
    """Return the tolerance of recomputed numbers, relative to a model's largest number.

    ``spacing`` is that of numbers near 1 in the type in which the model runs: ``torch.finfo(dtype).eps``.
    """
    return max(_LEAST_TOLERANCE, _SPACINGS * spacing)


@dataclass(frozen=True, slots=True, repr=False)
class ModelInfo:
    """A model's sizes, limit and source.

    ``n_layers`` layers of ``n_heads`` query heads, which share ``n_key_value_heads`` key/value heads; vectors of
    ``d_model`` numbers, and ``d_head`` in a head. Texts have ``max_tokens`` tokens at most. ``layer_kinds`` names what
    each layer has instead of attention ("" for attention; empty if all have it), ``beside`` what runs beside it.
    """

    model_id: str
    name: str
    architecture: str
    n_layers: int
    n_heads: int
    n_key_value_heads: int
    d_model: int
    d_head: int
    max_tokens: int
    n_parameters: int
    licence: str
    source: str
    summary: str
    default_layer: int = 0
    default_head: int = 0
    head_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    # A decoder hides later tokens, and each token predicts the next.
    is_decoder: bool = False
    # ``n_layers`` then counts the encoder's.
    n_decoder_layers: int = 0
    reading: Reading = TEXT
    # Remarks for the page, in whole sentences.
    note: str = ""
    # The name where the model is chosen, if longer.
    long_name: str = ""
    # The class of its modules that do not call transformers' attention interface; empty if all do.
    own_attention: str = ""
    # Identifies the state of its files among models with the same ID; empty for a bundled model.
    revision: str = ""
    # What each layer computes instead of attention, such as "convolution", or "" for attention; () if all have it.
    layer_kinds: tuple[str, ...] = ()
    # What runs beside attention in each layer, such as "Mamba", and is also added to the residual stream.
    beside: str = ""
    # Whether each layer of an architecture missing from the table is known to add its heads' output as it is.
    adds_as_is: bool = False
    # The width of a value, if it differs from ``d_head``.
    d_value: int | None = None
    # Whether its tokenizer has a chat template.
    has_chat: bool = False
    # The spacing of numbers near 1 in the model's type.
    spacing: float = 2.0**-23

    def __repr__(self) -> str:
        """Return its sizes: all its fields would be a page."""
        return f"<ModelInfo {self.model_id}: {self.architecture}, {self.sizes}, at most {self.max_tokens} tokens>"

    @property
    def sizes(self) -> str:
        """Its layers, heads and widths."""
        return f"{self.n_layers} × {self.n_heads} heads, d_model {self.d_model}, d_head {self.d_head}"

    @property
    def label(self) -> str:
        """The name where the model is chosen."""
        return self.long_name or self.name

    @property
    def attention_layers(self) -> tuple[int, ...]:
        """The numbers of the layers with attention."""
        return tuple(n for n in range(self.n_layers) if not self.layer_kinds or not self.layer_kinds[n])

    @property
    def parts(self) -> tuple[Part, ...]:
        """The uses of attention in its trace; empty if there is only one."""
        return PARTS if self.n_decoder_layers else ()

    @property
    def build(self) -> Build:
        """Whether it is an encoder, a decoder, or both."""
        if self.n_decoder_layers:
            return ENCODER_DECODER
        return DECODER if self.is_decoder else ENCODER

    def part_or_whole(self, name: Part) -> Part:
        """Return this use of attention, or "encoder" if the model has only one."""
        return name if name in self.parts else PARTS[0]

    @property
    def group_size(self) -> int:
        """The number of query heads that share a key/value head."""
        return self.n_heads // self.n_key_value_heads


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its text in the vocabulary, its typed text, and its word (None if special).

    Positions, words, segments and characters (``start``) count from 0. If a model looks words up in a lexicon,
    ``is_guessed`` marks a word it does not contain, whose features are derived from its form.
    """

    text: str
    typed: str
    word: int | None
    position: int
    token_id: int
    is_special: bool = False
    segment: int = 0
    start: int | None = None
    is_padding: bool = False
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a text was cut to fit the model: the tokens kept, all tokens, and the last words kept."""

    kept: int
    total: int
    ending: str


@dataclass(frozen=True, slots=True)
class Projections:
    """The weights that project a layer's input to Q, K and V and combine the heads' outputs; shared with the model."""

    W_Q: Float[Array, "M H*D"]
    W_K: Float[Array, "M G*D"]
    W_V: Float[Array, "M G*Dv"]
    W_O: Float[Array, "H*Dv M"]
    b_Q: Float[Array, " H*D"] | None = None
    b_K: Float[Array, " G*D"] | None = None
    b_V: Float[Array, " G*Dv"] | None = None
    b_O: Float[Array, " M"] | None = None


@dataclass(frozen=True, slots=True)
class Norm:
    """A normalisation of each vector; its numbers are shared with the model.

    RMSNorm is ``x / √(mean(x²) + ε) · g``. LayerNorm is ``centred``: the vector's mean is subtracted first, and a bias
    may be added at the end.
    """

    gain: Float[Array, " M"]
    epsilon: float
    bias: Float[Array, " M"] | None = None
    centred: bool = False

    @property
    def name(self) -> str:
        """The usual name of the norm."""
        return "LayerNorm" if self.centred else "RMSNorm"

    def __call__(self, x: Float[Array, "*T M"]) -> Float[Array, "*T M"]:
        """Normalise every vector."""
        if self.centred:
            return steps.layer_norm(x, self.gain, self.bias, self.epsilon)
        return steps.rms_norm(x, self.gain, self.epsilon)


@dataclass(frozen=True, slots=True)
class PositionTable:
    """The vectors that a model adds at its positions, learned or from a formula; shared with the model."""

    rows: Float[Array, "P E"]
    is_learned: bool


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear map ``x W + b`` of a model; its numbers are shared with the model."""

    weight: Float[Array, "E M"]
    bias: Float[Array, " M"] | None = None

    def __call__(self, x: Float[Array, "T E"]) -> Float[Array, "T M"]:
        """Map every vector."""
        return steps.project(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The parts summed for each token before the first layer; a part that the model lacks is None.

    Some models then apply ``norm``. In some, the parts are E numbers wide, and ``projection`` maps them to M (Lan et
    al. 2020, "ALBERT", section 3.1); in all others, E is M. ``table`` holds the vectors of all positions, not only the
    text's.
    """

    words: Float[Array, "T E"]
    positions: Float[Array, "T E"] | None = None
    segments: Float[Array, "T E"] | None = None
    norm: Norm | None = None
    table: PositionTable | None = None
    projection: Linear | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference between numbers computed here and the model's own.

    ``absolute`` is ``max |ours − theirs|``; ``relative`` is that divided by ``max |theirs|``, because the resolution of
    float32 depends on the size of the numbers. NaN stays NaN.
    """

    absolute: float = 0.0
    relative: float = 0.0

    @classmethod
    def between(cls, ours: Array, theirs: Array) -> Self:
        """Compare two arrays of the same shape; relative to all zeros, any difference is infinite."""
        return cls.within(_largest(ours - theirs), theirs)

    @classmethod
    def within(cls, absolute: float, theirs: Array) -> Self:
        """Relate a known absolute difference to the array in which it was found."""
        size = _largest(theirs)
        return cls(absolute, absolute / size if size else np.inf if absolute else 0.0)

    def worst(self, other: Difference) -> Difference:
        """Return the larger absolute and the larger relative difference."""
        # NumPy's maximum propagates NaN; Python's may drop it and hide a failed check.
        return Difference(
            float(np.maximum(self.absolute, other.absolute)), float(np.maximum(self.relative, other.relative))
        )


def _largest(numbers: Array) -> float:
    """Return the largest absolute value without allocating an array of absolute values; NaN if there is one."""
    # Adding 0 turns −0 into 0.
    return float(np.maximum(numbers.max(), -numbers.min())) + 0.0


@dataclass(frozen=True, slots=True)
class Lengths:
    """The norms of each token's vector after attention, up to the end of the layer, in the model's own run.

    ``summed`` is ``‖x + ΔE‖``, ``normed`` the same after the first norm that follows, on the stream or on the next
    branch; None without one. ``fed`` is the norm of the feed-forward network's output, ``left`` that of the layer's
    output; both are None if another attention comes first.
    """

    summed: Float[Array, " Q"]
    normed: Float[Array, " Q"] | None = None
    fed: Float[Array, " Q"] | None = None
    left: Float[Array, " Q"] | None = None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LayerTrace:
    """The causes of one layer's attention, and the output of the model itself; ``==`` compares bit by bit.

    ``inputs`` are what the projections multiply: the vectors after the layer's ``norm``, if it has one before
    attention. Queries and keys are those of the scores: with RoPE (``rotary``), they are already rotated, so
    ``apply_rotary(inputs @ W_Q) = queries``. In cross-attention, keys and values are projected from ``key_inputs``, the
    encoder's output. All layers share the ``bias`` that some models add to the scores according to the distance between
    query and key (Raffel et al. 2020, section 2.1). ``added`` is the output of the model's own output projection, if
    recorded, and ``lengths`` are norms of the vectors that follow.

    A layer without attention has no heads (H = G = 0); ``ModelInfo.layer_kinds`` names what it is.

    The remaining fields are None in most models. ``query_norm`` and ``key_norm`` normalise each query and key before
    rotation (Dehghani et al. 2023, "Scaling Vision Transformers to 22 Billion Parameters", section 2); if they are as
    wide as all heads, those of all heads together (Groeneveld et al. 2024, OLMo 2). ``softcap`` caps the scaled scores
    (see ``steps.cap_scores``); ``added_norm`` normalises the output projection's result.
    """

    inputs: Float[Array, "Q M"] | None
    queries: Float[Array, "H Q D"]
    keys: Float[Array, "G K D"]
    values: Float[Array, "G K Dv"]
    mask: Float[Array, "*H Q K"] | None
    scale: float
    model_output: Float[Array, "H Q Dv"]
    kind: AttentionKind = "self"
    projections: Projections | None = None
    rotary: Rotary | None = None
    norm: Norm | None = None
    key_inputs: Float[Array, "K M"] | None = None
    bias: Float[Array, "H Q K"] | None = None
    added: Float[Array, "Q M"] | None = None
    lengths: Lengths | None = None
    query_norm: Norm | None = None
    key_norm: Norm | None = None
    softcap: float | None = None
    added_norm: Norm | None = None

    def __eq__(self, other: object) -> bool:
        """Return whether all numbers of two layers are equal, bit by bit."""
        return are_same(self, other)

    def __hash__(self) -> int:
        return hash((self.kind, self.queries.shape, self.keys.shape))

    def __repr__(self) -> str:
        """Return its sizes: its numbers would be thousands of lines."""
        n_heads, n_queries, d_head = self.queries.shape
        if not n_heads:
            return f"<LayerTrace: no attention, {n_queries} tokens>"
        return f"<LayerTrace: {n_heads} heads, {n_queries} × {self.keys.shape[1]} tokens, d_head {d_head}>"

    @property
    def has_attention(self) -> bool:
        """Whether it has heads."""
        return len(self.queries) > 0

    @property
    def sources(self) -> Float[Array, "K M"] | None:
        """The vectors from which keys and values are projected."""
        return self.inputs if self.key_inputs is None else self.key_inputs

    @property
    def branch(self) -> Branch:
        """Its branch of the layer (see :class:`~attention.core.structure.Structure`)."""
        return "cross" if self.kind == "cross" else "self"

    @property
    def is_causal(self) -> bool:
        """Whether its mask hides later tokens."""
        return self.kind == "masked self"

    def slope(self, head: int) -> float | None:
        """Return the increase of a head's bias from key to key in its scaled scores; None unless it is constant.

        Softmax compares the keys of a row only, so this equals a penalty for every position that a key is further back
        (ALiBi; Press et al. 2022, section 3).
        """
        if self.bias is None or self.bias.shape[-1] < 2:
            return None
        steps = np.diff(self.bias[head], axis=-1) * self.scale
        slope = float(steps.mean())
        return slope if slope > 0 and np.allclose(steps, slope, rtol=1e-3, atol=1e-6) else None

    @property
    def has_usual_scale(self) -> bool:
        """Whether the scores are divided by √d_k."""
        return math.isclose(self.scale, self.queries.shape[-1] ** -0.5, rel_tol=1e-6)

    def steps(self) -> HeadSteps:
        """Derive every step of every head."""
        return steps.attend(
            self.queries,
            self.keys,
            self.values,
            mask=self.mask,
            scale=self.scale,
            bias=self.bias,
            softcap=self.softcap,
        )

    def head(self, head: int) -> HeadSteps:
        """Derive every step of one head, counted from 0; raise IndexError if there is no such head."""
        n_heads = self.queries.shape[0]
        if not 0 <= head < n_heads:
            raise IndexError(f"head must be between 0 and {n_heads - 1}, got {head}")
        group = head // (n_heads // self.keys.shape[0])
        mask = self.mask if self.mask is None or self.mask.ndim < 3 else self._mask_of(head)
        one_head = steps.attend(
            self.queries[head : head + 1],
            self.keys[group : group + 1],
            self.values[group : group + 1],
            mask=mask,
            scale=self.scale,
            bias=None if self.bias is None else self.bias[head : head + 1],
            softcap=self.softcap,
        )
        return one_head.head(0)

    def _mask_of(self, head: int) -> Float[Array, "1 Q K"]:
        assert self.mask is not None
        return self.mask if self.mask.shape[0] == 1 else self.mask[head : head + 1]

    def hidden(self, head: int) -> Bool[Array, "Q K"]:
        """Return which keys the mask hides from which queries in one head."""
        shape = (self.queries.shape[1], self.keys.shape[1])
        if self.mask is None:
            return np.zeros(shape, bool)
        mask = self.mask if self.mask.ndim < 3 else self._mask_of(head)[0]
        return np.broadcast_to(np.isneginf(mask), shape)

    def projected(self, head: int) -> tuple[Float[Array, "Q D"], Float[Array, "K D"]]:
        """Derive the queries and keys of one head before any norm or rotation: ``X W_Q + b_Q``, ``X W_K + b_K``.

        The key of an attention sink, which is not projected, is 0.

        Raises:
            ValueError: the layer's inputs or projections are unknown.
        """
        inputs, sources, parts = self._factors()
        queries = _project_head(inputs, parts.W_Q, parts.b_Q, head, self.queries.shape[-1])
        keys = _project_head(sources, parts.W_K, parts.b_K, self._group(head), self.keys.shape[-1])
        return queries, self._with_sinks(keys)

    def unrotated(self, head: int) -> tuple[Float[Array, "Q D"], Float[Array, "K D"]]:
        """Derive the queries and keys of one head before rotation: projected, and normalised if the model does so.

        Raises:
            ValueError: the layer's inputs or projections are unknown.
        """
        if self.query_norm is None and self.key_norm is None:
            return self.projected(head)
        queries, keys = self._all_projected()
        normed_keys = self.normed(keys, "keys")[self._group(head)]
        return self.normed(queries, "queries")[head], self._with_sinks(normed_keys)

    def _all_projected(self) -> tuple[Float[Array, "H Q D"], Float[Array, "G K D"]]:
        inputs, sources, parts = self._factors()
        queries, keys = steps.project(inputs, parts.W_Q, parts.b_Q), steps.project(sources, parts.W_K, parts.b_K)
        return steps.split_heads(queries, len(self.queries)), steps.split_heads(keys, len(self.keys))

    def _factors(self) -> tuple[Float[Array, "Q M"], Float[Array, "K M"], Projections]:
        if self.inputs is None or self.sources is None or self.projections is None:
            raise ValueError("the inputs and projections of this layer are not known, so they cannot be multiplied")
        return self.inputs, self.sources, self.projections

    def _group(self, head: int) -> int:
        return head // (self.queries.shape[0] // self.keys.shape[0])

    def _with_sinks(self, keys: Float[Array, "T D"]) -> Float[Array, "K D"]:
        return np.pad(keys, ((0, max(0, self.keys.shape[1] - len(keys))), (0, 0)))

    def capped(self, scaled_scores: Float[Array, "*H Q K"]) -> Float[Array, "*H Q K"]:
        """Cap scaled scores, if the model does."""
        return scaled_scores if self.softcap is None else steps.cap_scores(scaled_scores, self.softcap)

    @property
    def is_changed(self) -> bool:
        """Whether projected queries and keys are normalised or rotated."""
        return self.rotary is not None or self.query_norm is not None or self.key_norm is not None

    @property
    def norm_spans_heads(self) -> bool:
        """Whether the queries of all heads of a token are normalised together, and so the keys, as in OLMo 2."""
        return self.query_norm is not None and self.query_norm.gain.size > self.queries.shape[-1]

    def normed(self, vectors: Float[Array, "H T D"], of: Literal["queries", "keys"]) -> Float[Array, "H T D"]:
        """Normalise the projected queries or keys of all heads, if the model does.

        One head will do unless ``norm_spans_heads``.
        """
        norm = self.query_norm if of == "queries" else self.key_norm
        if norm is None:
            return vectors
        if self.norm_spans_heads:
            return steps.split_heads(norm(steps.join_heads(vectors)), len(vectors))
        return norm(vectors)

    def turned(self, vectors: Float[Array, "*H T D"]) -> Float[Array, "*H T D"]:
        """Rotate queries or keys, if the model does."""
        return vectors if self.rotary is None else apply_rotary(vectors, self.rotary)

    def finished(self, vectors: Float[Array, "H T D"], of: Literal["queries", "keys"]) -> Float[Array, "H T D"]:
        """Normalise and rotate projected queries or keys, as far as the model does."""
        return self.turned(self.normed(vectors, of))

    def joined(self) -> Float[Array, "Q H*Dv"]:
        """Return the derived outputs of all heads, concatenated."""
        return steps.join_heads(self.steps().head_outputs)

    def output(self) -> Float[Array, "Q M"]:
        """Derive ΔE, the layer's addition to each token's vector: ``Concat(head₁, …, head_H) W_O + b_O``.

        Raises:
            ValueError: the output projection is unknown.
        """
        if self.projections is None:
            raise ValueError("the projections of this architecture are not known, so W_O cannot be applied")
        return steps.output_projection(self.joined(), self.projections.W_O, self.projections.b_O)

    def moved(self) -> Float[Array, "Q M"]:
        """Derive the addition to the stream: the output, normalised if the model does so.

        Raises:
            ValueError: the output projection is unknown.
        """
        return self.output() if self.added_norm is None else self.added_norm(self.output())

    def check(self) -> float:
        """Return the largest absolute difference between the derived head outputs and the model's own."""
        return float(np.abs(self.steps().head_outputs - self.model_output).max())

    def check_projections(self) -> dict[Made, Difference]:
        """Reapply the model's projection matrices and compare the results with the recorded ones.

        Queries, keys and values are computed from the layer's inputs, ``added`` from the model's own head outputs. What
        was not recorded is left out.
        """
        found: dict[Made, Difference] = {}
        parts = self.projections
        if parts is None:
            return found
        if self.inputs is not None and self.sources is not None:
            queries, keys = self._all_projected()
            values = steps.split_heads(steps.project(self.sources, parts.W_V, parts.b_V), len(self.values))
            found["queries"] = Difference.between(self.finished(queries, "queries"), self.queries)
            # Attention sinks, which come last, are not projected.
            n_projected = len(self.sources)
            found["keys"] = Difference.between(self.finished(keys, "keys"), self.keys[:, :n_projected])
            found["values"] = Difference.between(values, self.values[:, :n_projected])
        if self.added is not None:
            added = steps.output_projection(steps.join_heads(self.model_output), parts.W_O, parts.b_O)
            found["added"] = Difference.between(added, self.added)
        return found


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Trace:
    """One run of one model on one text; ``==`` compares two of them bit by bit.

    ``tokens`` are the tokens read, and ``info`` describes the model. ``hidden_states`` are the residual stream before
    each layer and after the last one, each of shape (tokens, d_model); ``layers`` has a :class:`LayerTrace` per layer.
    For an encoder–decoder, it is the encoder's trace and holds two more: ``decoder``, the masked self-attention of the
    target tokens, and ``cross``, their attention to the source tokens, which are its ``key_tokens``. Each is a complete
    trace.
    """

    text: str
    tokens: tuple[Token, ...]
    layers: tuple[LayerTrace, ...]
    info: ModelInfo
    embeddings: Embeddings | None = None
    hidden_states: tuple[Float[Array, "T M"], ...] = field(default=())
    cut: Cut | None = None
    memory: tuple[Token, ...] | None = None
    decoder: Trace | None = None
    cross: Trace | None = None
    use: Use = SELF
    structure: Structure | None = None
    # Makes logits of the last hidden states, with the model's own final norm and unembedding; None if it has none.
    predict: Callable[[Float[Array, "T M"]], Float[Array, "T V"]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Make every array read-only: sessions share traces."""
        for array in self._arrays():
            array.setflags(write=False)

    @property
    def key_tokens(self) -> tuple[Token, ...]:
        """The tokens attended to, the axis K: ``tokens``, with a last one for an attention sink; or the source's."""
        return self.tokens if self.memory is None else self.memory

    def part(self, name: Part) -> Trace:
        """Return the trace of one use of attention; "encoder" is the whole trace if there is only one.

        Raises:
            ValueError: the model has no such part.
        """
        found = {"encoder": self, "decoder": self.decoder, "cross": self.cross}.get(name)
        if found is None:
            raise ValueError(f"{self.info.name} has no {name} part")
        return found

    def without_added(self) -> Trace:
        """Return the same run without ``added``: a sixth of its memory, not needed once checked."""
        layers = tuple(replace(layer, added=None) for layer in self.layers)
        decoder, cross = (None if part is None else part.without_added() for part in (self.decoder, self.cross))
        return replace(self, layers=layers, decoder=decoder, cross=cross, predict=None)

    def check(self) -> float:
        """Return the largest absolute difference of :meth:`LayerTrace.check`, over all layers of all parts."""
        return float(np.max([layer.check() for trace in self.traces for layer in trace.attended.values()]))

    def __eq__(self, other: object) -> bool:
        """Return whether all numbers of two traces are equal, bit by bit."""
        return are_same(self, other)

    def __hash__(self) -> int:
        return hash((self.text, self.tokens))

    def __repr__(self) -> str:
        tokens = f"{len(self.tokens)} token{'s' if len(self.tokens) > 1 else ''}"
        sizes = f"{tokens}, {len(self.layers)} × {self.info.n_heads} heads"
        if len(self.attended) < len(self.layers):
            layers = "layers" if len(self.attended) > 1 else "layer"
            sizes += f", attention only in {layers} {', '.join(map(str, self.attended))}"
        cut = "" if self.cut is None else f", cut after {self.cut.kept} of {self.cut.total} tokens"
        text = self.text if len(self.text) <= _MOST_SHOWN else f"{self.text[:_MOST_SHOWN]}…"
        return f"<Trace of {text!r} in {self.info.name}: {sizes}{cut}>"

    @property
    def attended(self) -> dict[int, LayerTrace]:
        """The layers with attention, by number."""
        return {number: layer for number, layer in enumerate(self.layers) if layer.has_attention}

    @property
    def weights(self) -> Float[Array, "L H Q K"]:
        """The attention weights of all heads, derived at each access; rows sum to 1, or to 0 if fully masked.

        They are NaN in layers without attention. With attention sinks (gpt-oss), the last key is the sink.
        """
        return self._of_layers(lambda layer: layer.steps().weights)

    @property
    def scores(self) -> Float[Array, "L H Q K"]:
        """The scores ``Q Kᵀ`` of all heads before scaling and masking, derived at each access.

        They are NaN in layers without attention.
        """
        return self._of_layers(lambda layer: layer.steps().scores)

    def _of_layers(self, derive: Callable[[LayerTrace], Array]) -> Float[Array, "L H Q K"]:
        found = {number: derive(layer) for number, layer in self.attended.items()}
        without = np.full_like(next(iter(found.values())), np.nan)
        return np.stack([found.get(number, without) for number in range(len(self.layers))])

    @property
    def logits(self) -> Float[Array, "T V"] | None:
        """A decoder's next-token logits after each token, derived at each access; None for other models."""
        return None if self.predict is None else self.predict(self.hidden_states[-1])

    @overload
    def __getitem__(self, place: int) -> LayerTrace: ...

    @overload
    def __getitem__(self, place: tuple[int, int]) -> HeadSteps: ...

    def __getitem__(self, place: Any) -> LayerTrace | HeadSteps:
        """Return a layer, ``trace[2]``, or every step of a head, ``trace[2, 8]``; -1 is the last one.

        Raises:
            TypeError: the index is neither an integer nor a pair of integers.
            IndexError: there is no such layer or head.
        """
        if not isinstance(place, tuple):
            return self.layers[_at("layer", integer("layer", place), len(self.layers))]
        if len(place) != 2:
            raise TypeError(f"a trace is indexed by a layer, or by a layer and a head, got {place!r}")
        layer, head = integers("layer and head", place)
        found = self[layer]
        if not found.has_attention:
            raise IndexError(f"layer {layer} has no attention: {self.info.layer_kinds[layer]}")
        return found.head(_at("head", head, len(found.queries)))

    def save(self, path: str | Path) -> None:
        """Write it to an ``.npz`` file with the arrays it shares with the model, so that :meth:`load` needs no model.

        Raises:
            OSError: the file cannot be written.
        """
        logits = self.logits
        _FILE.write(path, _Saved(self, logits))

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a file of :meth:`save`; loading executes nothing in it.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is not such a file.
        """
        saved: _Saved = _FILE.read(path)
        logits = saved.logits
        return saved.trace if logits is None else replace(saved.trace, predict=lambda _: logits)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each weight: layer, head, query, key, query_token, key_token, score and weight."""
        return long_table.to_pandas(self.weights, self.scores, *self._names())

    def to_xarray(self) -> xr.Dataset:
        """Return weights and scores with the dimensions layer, head, query and key.

        Raises:
            ImportError: xarray is not installed.
        """
        return long_table.to_xarray(self.weights, self.scores, *self._names())

    def _names(self) -> tuple[list[str], list[str]]:
        return [token.text for token in self.tokens], [token.text for token in self.key_tokens]

    @property
    def nbytes(self) -> int:
        """The memory of its own arrays in bytes, without the model's shared weights."""
        arrays = [array for trace in self.traces for array in trace._arrays()]
        owners = {id(owner): owner.nbytes for owner in map(_owner, arrays)}
        return sum(owners.values())

    @property
    def traces(self) -> list[Trace]:
        """This trace and those of its other parts."""
        return [trace for trace in (self, self.decoder, self.cross) if trace is not None]

    def _arrays(self) -> list[Array]:
        records = [
            self.embeddings,
            *self.layers,
            *(each for layer in self.layers for each in (layer.rotary, layer.lengths)),
        ]
        values = [getattr(record, f.name) for record in records if record is not None for f in fields(record)]
        return [value for value in (*values, *self.hidden_states) if isinstance(value, np.ndarray)]


def _project_head(inputs: Array, weight: Array, bias: Array | None, head: int, width: int) -> Array:
    columns = slice(head * width, (head + 1) * width)
    return steps.project(inputs, weight[:, columns], None if bias is None else bias[columns])


def _owner(array: Array) -> Array:
    """Return the array that owns a view's memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _at(noun: str, number: int, count: int) -> int:
    """Return where a number is that may count from the end."""
    if not -count <= number < count:
        raise IndexError(f"{noun} must be between 0 and {count - 1}, got {number}")
    return number % count


@dataclass(frozen=True, slots=True)
class _Saved:
    """What a file has: a trace, and its logits, which need the model."""

    trace: Trace
    logits: Float[Array, "T V"] | None


_KINDS: tuple[type[Any], ...] = (
    Cut,
    Embeddings,
    LayerTrace,
    Lengths,
    Linear,
    ModelInfo,
    Norm,
    PositionTable,
    Projections,
    Rotary,
    Structure,
    Sublayer,
    Token,
    Trace,
    _Saved,
)
_FILE = ArrayFile(
    {kind.__name__: kind for kind in _KINDS},
    {"text": TEXT, "french": FRENCH, "picture": PICTURE, "self": SELF, "written": WRITTEN, "cross": CROSS},
)
