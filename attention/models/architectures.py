"""What differs between architectures: where the parts of a model are, and how its ``config.json`` names its sizes.

Names are those of transformers' modules and configurations, which are also the names in the weight files.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from attention.messages import message
from attention.models.files import check_beside, in_one_line, read_json, shapes_of
from attention.reading import PICTURE, TEXT, Reading
from attention.trace import ModelInfo

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "Attention",
    "FeedForward",
    "Stack",
    "architecture_of",
    "check_config",
    "info_from_config",
    "read_config",
]

# A page has room for no more tokens than this, even if the model accepts more.
MAX_TOKENS = 512
# With fewer, there is no room for text between the tokens that a tokenizer adds.
LEAST_TOKENS = 8
# The largest accepted sizes. No table of positions is longer; a picture with more patches has no room on a page; and
# ImageNet itself has 21,843 classes.
MAX_SIZE, MAX_POSITIONS, MAX_PATCHES, MAX_LABELS = 10**9, 2**16, 1024, 10**5

# Tensors that are saved with the weights but were not learnt: 0, 1, 2, …, the causal mask, and zeros.
_NOT_LEARNT = ("position_ids", ".attn.bias", ".attn.masked_bias", "final_logits_bias")


@dataclass(frozen=True, slots=True)
class Attention:
    """Where in a layer an attention module is: its four linear maps, and the norm before or after it (None: absent).

    If queries, keys and values have the same name, one matrix produces all three, side by side.
    """

    query: str
    key: str
    value: str
    output: str
    norm: str | None = None
    norm_after: str | None = None


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Where in a layer its feed-forward network is: the maps into it and out of it, and the norm before or after it.

    Of several names, the first that is there counts. It is gated if there is a ``gate`` beside the map into it.
    """

    inner: tuple[str, ...]
    output: str
    gate: str | None = None
    norm: str | None = None
    norm_after: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """Where in a model a stack of layers is, and the parts that produce its first layer's input (None: absent)."""

    layers: str
    attention: Attention
    feed_forward: FeedForward
    words: str
    root: str | None = None
    cross: Attention | None = None
    positions: str | None = None
    first_position: int = 0
    # Padding has a row of its own in the table of positions, and the text begins with the row after it.
    has_padding_position: bool = False
    segments: str | None = None
    norm: str | None = None
    # The norm after the last layer, before a decoder's prediction, and the module that rotates queries and keys.
    final_norm: str | None = None
    rotary: str | None = None
    # A norm after the last layer that nothing here reads through.
    end_norm: str | None = None
    is_causal: bool = False


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The names of a model's sizes in its configuration; of several names, the first one present counts."""

    layers: tuple[str, ...] = ("num_hidden_layers",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    width: tuple[str, ...] = ("hidden_size",)
    head_width: tuple[str, ...] = ("head_dim",)
    positions: tuple[str, ...] = ("max_position_embeddings",)
    decoder_layers: tuple[str, ...] = ()
    inner: tuple[str, ...] = ("intermediate_size",)
    decoder_inner: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Architecture:
    """A kind of model: its name in plain words, its stacks of layers, and its inputs."""

    name: str
    encoder: Stack
    decoder: Stack | None = None
    sizes: _Sizes = _Sizes()
    takes_pairs: bool = False
    takes_segments: bool = False
    reading: Reading = TEXT

    @property
    def reads_pictures(self) -> bool:
        """Tell whether the model's input is pixels, not token ids."""
        return self.reading is PICTURE

    @property
    def is_decoder(self) -> bool:
        """Tell whether the model has only one stack, and that is a decoder."""
        return self.encoder.is_causal


_BERT = Stack(
    layers="encoder.layer",
    attention=Attention(
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        output="attention.output.dense",
        norm_after="attention.output.LayerNorm",
    ),
    feed_forward=FeedForward(("intermediate.dense",), "output.dense", norm_after="output.LayerNorm"),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    segments="embeddings.token_type_embeddings",
    norm="embeddings.LayerNorm",
)
_ROBERTA = replace(_BERT, has_padding_position=True)
_DISTILBERT = Stack(
    layers="transformer.layer",
    attention=Attention(
        "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", norm_after="sa_layer_norm"
    ),
    feed_forward=FeedForward(("ffn.lin1",), "ffn.lin2", norm_after="output_layer_norm"),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    norm="embeddings.LayerNorm",
)
_GPT2 = Stack(
    layers="h",
    attention=Attention("attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj", norm="ln_1"),
    feed_forward=FeedForward(("mlp.c_fc",), "mlp.c_proj", norm="ln_2"),
    words="wte",
    positions="wpe",
    final_norm="ln_f",
    is_causal=True,
)
_LLAMA = Stack(
    layers="layers",
    attention=Attention(
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", norm="input_layernorm"
    ),
    feed_forward=FeedForward(("mlp.up_proj",), "mlp.down_proj", gate="mlp.gate_proj", norm="post_attention_layernorm"),
    words="embed_tokens",
    final_norm="norm",
    rotary="rotary_emb",
    is_causal=True,
)
_VIT = Stack(
    layers="layers",
    attention=Attention(
        "attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj", norm="layernorm_before"
    ),
    feed_forward=FeedForward(("mlp.fc1",), "mlp.fc2", norm="layernorm_after"),
    words="embeddings.patch_embeddings",
    positions="embeddings.position_embeddings",
    end_norm="layernorm",
)
_MARIAN_ENCODER = Stack(
    root="encoder",
    layers="layers",
    attention=Attention(
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.out_proj",
        norm_after="self_attn_layer_norm",
    ),
    feed_forward=FeedForward(("fc1",), "fc2", norm_after="final_layer_norm"),
    words="embed_tokens",
    positions="embed_positions",
)
_MARIAN_DECODER = replace(
    _MARIAN_ENCODER,
    root="decoder",
    cross=Attention(
        "encoder_attn.q_proj",
        "encoder_attn.k_proj",
        "encoder_attn.v_proj",
        "encoder_attn.out_proj",
        norm_after="encoder_attn_layer_norm",
    ),
    is_causal=True,
)
# BART leaves the first two rows of its table of positions unused.
_BART_ENCODER = replace(_MARIAN_ENCODER, first_position=2, norm="layernorm_embedding")
_BART_DECODER = replace(_MARIAN_DECODER, first_position=2, norm="layernorm_embedding")
_T5_ENCODER = Stack(
    root="encoder",
    layers="block",
    attention=Attention(
        "layer.0.SelfAttention.q",
        "layer.0.SelfAttention.k",
        "layer.0.SelfAttention.v",
        "layer.0.SelfAttention.o",
        norm="layer.0.layer_norm",
    ),
    feed_forward=FeedForward(
        ("layer.1.DenseReluDense.wi", "layer.1.DenseReluDense.wi_1"),
        "layer.1.DenseReluDense.wo",
        gate="layer.1.DenseReluDense.wi_0",
        norm="layer.1.layer_norm",
    ),
    words="embed_tokens",
    end_norm="final_layer_norm",
)
_T5_DECODER = replace(
    _T5_ENCODER,
    root="decoder",
    cross=Attention(
        "layer.1.EncDecAttention.q",
        "layer.1.EncDecAttention.k",
        "layer.1.EncDecAttention.v",
        "layer.1.EncDecAttention.o",
        norm="layer.1.layer_norm",
    ),
    feed_forward=FeedForward(
        ("layer.2.DenseReluDense.wi", "layer.2.DenseReluDense.wi_1"),
        "layer.2.DenseReluDense.wo",
        gate="layer.2.DenseReluDense.wi_0",
        norm="layer.2.layer_norm",
    ),
    is_causal=True,
)
_BART_SIZES = _Sizes(
    layers=("encoder_layers",),
    heads=("encoder_attention_heads",),
    width=("d_model",),
    decoder_layers=("decoder_layers",),
    inner=("encoder_ffn_dim",),
    decoder_inner=("decoder_ffn_dim",),
)

# By the ``model_type`` in a model's config.json.
ARCHITECTURES = {
    "bert": Architecture(message("BERT encoder"), _BERT, takes_pairs=True, takes_segments=True),
    "roberta": Architecture(message("RoBERTa encoder"), _ROBERTA, takes_pairs=True),
    "xlm-roberta": Architecture(message("XLM-RoBERTa encoder"), _ROBERTA, takes_pairs=True),
    "distilbert": Architecture(
        message("DistilBERT encoder"),
        _DISTILBERT,
        sizes=_Sizes(layers=("n_layers",), heads=("n_heads",), width=("dim",), inner=("hidden_dim",)),
        takes_pairs=True,
    ),
    "gpt2": Architecture(
        "GPT-2 decoder",
        _GPT2,
        sizes=_Sizes(
            layers=("n_layer",), heads=("n_head",), width=("n_embd",), positions=("n_positions",), inner=("n_inner",)
        ),
    ),
    "llama": Architecture(message("Llama decoder"), _LLAMA),
    "bart": Architecture(message("BART encoder–decoder"), _BART_ENCODER, _BART_DECODER, _BART_SIZES),
    "marian": Architecture(message("Marian encoder–decoder"), _MARIAN_ENCODER, _MARIAN_DECODER, _BART_SIZES),
    "t5": Architecture(
        "T5 encoder–decoder",
        _T5_ENCODER,
        _T5_DECODER,
        _Sizes(
            layers=("num_layers",),
            heads=("num_heads",),
            width=("d_model",),
            head_width=("d_kv",),
            # T5 knows distances, not positions, and accepts any number of tokens.
            positions=(),
            decoder_layers=("num_decoder_layers", "num_layers"),
            inner=("d_ff",),
            decoder_inner=("d_ff",),
        ),
    ),
    "vit": Architecture(message("Vision Transformer (ViT)"), _VIT, reading=PICTURE),
}


# All names for a number of layers: transformers treats some of them as synonyms.
_LAYERS = frozenset(
    name for each in ARCHITECTURES.values() for name in (*each.sizes.layers, *each.sizes.decoder_layers)
)


def architecture_of(config: dict[str, Any]) -> Architecture:
    """Return the architecture named by a model's configuration.

    Raises:
        ValueError: it is not one of ``ARCHITECTURES``.
    """
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or model_type not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        name = in_one_line(repr(model_type))[:60]
        if model_type:
            raise ValueError(
                message(
                    "This model is of the architecture {name}. Those that can be shown are: {known}.",
                    name=name,
                    known=known,
                )
            )
        raise ValueError(
            message(
                "This model does not say of which architecture it is. Those that can be shown are: {known}.",
                known=known,
            )
        )
    return ARCHITECTURES[model_type]


def info_from_config(model_id: str, folder: Path, *, name: str, licence: str, source: str) -> ModelInfo:
    """Describe a model in ``from_pretrained`` layout, from its configuration and the headers of its weight files.

    Args:
        model_id: its id in the catalogue.
        folder: the folder with ``config.json`` and the ``.safetensors`` files; the weights themselves are not read.
        name: its name on the page.
        licence: the licence of its weights.
        source: where it comes from.

    Raises:
        ValueError: the configuration cannot be read, lacks a size, names an architecture that is not in the table, or
            asks for more than the weights contain; or something beside it is not a regular file.
    """
    config = read_config(folder)
    architecture = architecture_of(config)
    sizes = architecture.sizes
    n_layers, n_heads, d_model = (_size(config, names) for names in (sizes.layers, sizes.heads, sizes.width))
    n_decoder_layers = _size(config, sizes.decoder_layers) if architecture.decoder is not None else 0
    layers = f"{n_layers} + {n_decoder_layers}" if n_decoder_layers else f"{n_layers}"
    info = ModelInfo(
        model_id=model_id,
        name=name,
        architecture=architecture.name,
        n_layers=n_layers,
        n_heads=n_heads,
        n_key_value_heads=_first(config, ("num_key_value_heads",)) or n_heads,
        d_model=d_model,
        d_head=_first(config, sizes.head_width) or d_model // n_heads,
        max_tokens=_max_tokens(config, architecture),
        n_parameters=0,
        licence=licence,
        source=source,
        summary=message(
            "{architecture}: {layers} layers of {n_heads} heads.",
            architecture=architecture.name,
            layers=layers,
            n_heads=n_heads,
        ),
        is_decoder=architecture.is_decoder,
        n_decoder_layers=n_decoder_layers,
        reading=architecture.reading,
    )
    check_beside(folder)
    shapes = shapes_of(folder)
    _check_asked(config, info, shapes)
    learnt = (math.prod(shape) for name, shape in shapes.items() if not name.endswith(_NOT_LEARNT))
    return replace(info, n_parameters=sum(learnt))


def read_config(folder: Path) -> dict[str, Any]:
    """Read a model's configuration.

    Raises:
        ValueError: there is none, or it is not a valid configuration.
    """
    return read_json(folder / "config.json")


def check_config(config: dict[str, Any]) -> None:
    """Refuse a configuration whose architecture is not in the table, or whose numbers are impossible.

    Raises:
        ValueError: the configuration is refused; the message is a sentence that says why.
    """
    architecture = architecture_of(config)
    sizes = architecture.sizes
    decoder = () if architecture.decoder is None else (sizes.decoder_layers,)
    for names in (sizes.layers, sizes.heads, sizes.width, *decoder):
        _size(config, names)
    _max_tokens(config, architecture)


def _size(config: dict[str, Any], names: Sequence[str]) -> int:
    size = _first(config, names)
    if not size:
        raise ValueError(message("The model's config.json does not say how many {name} there are.", name=names[0]))
    return size


def _first(config: dict[str, Any], names: Sequence[str]) -> int | None:
    """Return the first of these sizes that the configuration contains."""
    name = next((name for name in names if config.get(name) is not None), None)
    if name is None:
        return None
    size = config[name]
    if not _is_whole(size) or not 0 <= size <= MAX_SIZE:
        raise ValueError(
            message(
                "What the model's config.json says of {name} is no whole number from 0 to {most}.",
                name=name,
                most=f"{MAX_SIZE:,}",
            )
        )
    return size


def _is_whole(value: object) -> TypeGuard[int]:
    # In Python, True is an int.
    return isinstance(value, int) and not isinstance(value, bool)


def _max_tokens(config: dict[str, Any], architecture: Architecture) -> int:
    """Return the largest number of tokens shown for a text, or the number of tokens of a picture."""
    if architecture.reads_pictures:
        side = _size(config, ("image_size",)) // _size(config, ("patch_size",))
        if not 0 < side * side <= MAX_PATCHES:
            raise ValueError(
                message(
                    "This model cuts a picture into {patches} patches: it must be 1 to {most}.",
                    patches=f"{side * side:,}",
                    most=f"{MAX_PATCHES:,}",
                )
            )
        return side * side + 1
    limit = _first(config, architecture.sizes.positions) or MAX_TOKENS
    if architecture.encoder.positions is not None and limit > MAX_POSITIONS:
        raise ValueError(
            message(
                "The model's config.json asks for {limit} positions, which is far too many to have learnt.",
                limit=f"{limit:,}",
            )
        )
    padding = config.get("pad_token_id")
    if padding is not None and not _is_whole(padding):
        raise ValueError(message("What the model's config.json says of pad_token_id is no whole number."))
    if architecture.encoder.has_padding_position:
        limit -= max(padding or 0, 0) + 1
    if limit < LEAST_TOKENS:
        raise ValueError(message("The model takes fewer than {least} tokens, which is no text.", least=LEAST_TOKENS))
    return min(limit, MAX_TOKENS)


def _check_asked(config: dict[str, Any], info: ModelInfo, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a configuration that asks for more than the weights contain, before any memory is allocated for it."""
    n_there = _n_layers_there(shapes)
    n_layers = max(_first(config, (name,)) or 0 for name in _LAYERS)
    if n_layers > n_there:
        raise ValueError(
            message(
                "The model's config.json asks for {n_layers} layers, and its weights have {n_there}.",
                n_layers=f"{n_layers:,}",
                n_there=f"{n_there:,}",
            )
        )
    if info.d_head == 0 or info.n_key_value_heads > info.n_heads:
        raise ValueError(
            message(
                "The model's config.json asks for {n_heads} heads in vectors of {width} numbers, and "
                "{n_key_value_heads} for keys and values: that does not fit together.",
                n_heads=f"{info.n_heads:,}",
                width=f"{info.d_model:,}",
                n_key_value_heads=f"{info.n_key_value_heads:,}",
            )
        )
    if (_first(config, ("num_labels",)) or 0) > MAX_LABELS:
        raise ValueError(message("The model's config.json asks for more than {most} classes.", most=f"{MAX_LABELS:,}"))
    n_asked, n_found = _n_asked(config, info), sum(map(math.prod, shapes.values()))
    if n_asked > n_found:
        raise ValueError(
            message(
                "The model's config.json asks for {n_asked} numbers at the least, and its weights have {n_found}.",
                n_asked=f"{n_asked:,}",
                n_found=f"{n_found:,}",
            )
        )


def _n_layers_there(shapes: Collection[str]) -> int:
    """Return the number of layers of the longest stack, from names such as h.11.attn.c_attn.weight."""
    numbers = defaultdict(set)
    for name in shapes:
        found = re.search(r"(?:^|\.)([0-9]{1,9})\.", name)
        if found is not None:
            numbers[name[: found.start()]].add(int(found[1]))
    return max(map(len, numbers.values()), default=0)


def _n_asked(config: dict[str, Any], info: ModelInfo) -> int:
    """Return a lower bound for the number of parameters of a model with this configuration.

    It counts the tables of words, positions and segments and, in each layer, the maps of queries and outputs and two
    of the feed-forward network. Sizes that the configuration leaves to transformers' defaults are not counted.
    """
    architecture = architecture_of(config)
    sizes, stack = architecture.sizes, architecture.encoder
    rows = 0 if architecture.reads_pictures else _first(config, ("vocab_size",)) or 0
    if stack.positions is not None:
        rows += info.max_tokens if architecture.reads_pictures else _first(config, sizes.positions) or 0
    if stack.segments is not None:
        rows += _first(config, ("type_vocab_size",)) or 0
    inner, decoder_inner = (_first(config, names) or 0 for names in (sizes.inner, sizes.decoder_inner))
    heads = info.n_heads * info.d_head
    in_layers = info.n_layers * (heads + inner) + info.n_decoder_layers * (heads + decoder_inner)
    return info.d_model * (rows + 2 * in_layers)
