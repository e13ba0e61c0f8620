"""What differs between architectures: where in a model its parts are, and how its ``config.json`` names its sizes.

Names are those of transformers' modules and configurations, which are the names in the files of weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attention.trace import ModelInfo

__all__ = ["ARCHITECTURES", "Architecture", "Attention", "Stack", "architecture_of", "info_from_config", "read_config"]

# A page has room for no more tokens than this, whatever the model takes.
MAX_TOKENS = 512

# Numbers that are saved beside the weights and were not learnt: 0, 1, 2, …, the causal mask, and zeros.
_NOT_LEARNT = ("position_ids", ".attn.bias", ".attn.masked_bias", "final_logits_bias")


@dataclass(frozen=True, slots=True)
class Attention:
    """Where in a layer one attention is: its four linear maps, and the norm before or after it (None: not there).

    Where queries, keys and values have one name, one matrix makes them all, side by side.
    """

    query: str
    key: str
    value: str
    output: str
    norm: str | None = None
    norm_after: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """Where in a model a stack of layers is, and what its first layer is given (None: not there)."""

    layers: str
    attention: Attention
    words: str
    root: str | None = None
    cross: Attention | None = None
    positions: str | None = None
    first_position: int = 0
    # Padding takes a row of its own in the table of positions, and the text begins with the row after it.
    has_padding_position: bool = False
    segments: str | None = None
    norm: str | None = None
    # The norm after the last layer, which a decoder's next token is read through, and what turns queries and keys.
    final_norm: str | None = None
    rotary: str | None = None
    is_causal: bool = False


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The names of a model's sizes in its configuration; of several names, the first that is there counts."""

    layers: tuple[str, ...] = ("num_hidden_layers",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    width: tuple[str, ...] = ("hidden_size",)
    head_width: tuple[str, ...] = ("head_dim",)
    positions: tuple[str, ...] = ("max_position_embeddings",)
    decoder_layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Architecture:
    """A kind of model: its name in plain words, its stacks of layers, and what it is given."""

    name: str
    encoder: Stack
    decoder: Stack | None = None
    sizes: _Sizes = _Sizes()
    takes_pairs: bool = False
    takes_segments: bool = False
    reads_pictures: bool = False

    @property
    def is_decoder(self) -> bool:
        """Tell whether the model has one stack, and it reads from the first token to the last."""
        return self.encoder.is_causal


_BERT = Stack(
    layers="encoder.layer",
    attention=Attention(
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        output="attention.output.dense",
    ),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    segments="embeddings.token_type_embeddings",
    norm="embeddings.LayerNorm",
)
_ROBERTA = replace(_BERT, has_padding_position=True)
_DISTILBERT = Stack(
    layers="transformer.layer",
    attention=Attention("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    norm="embeddings.LayerNorm",
)
_GPT2 = Stack(
    layers="h",
    attention=Attention("attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj", norm="ln_1"),
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
    words="embeddings.patch_embeddings",
    positions="embeddings.position_embeddings",
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
    words="embed_tokens",
    positions="embed_positions",
)
_MARIAN_DECODER = replace(
    _MARIAN_ENCODER,
    root="decoder",
    cross=Attention("encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj", "encoder_attn.out_proj"),
    is_causal=True,
)
# BART keeps the first two rows of its table of positions free.
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
    words="embed_tokens",
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
    is_causal=True,
)
_BART_SIZES = _Sizes(
    layers=("encoder_layers",),
    heads=("encoder_attention_heads",),
    width=("d_model",),
    decoder_layers=("decoder_layers",),
)

# By ``model_type``, as a model's config.json says it.
ARCHITECTURES = {
    "bert": Architecture("BERT encoder", _BERT, takes_pairs=True, takes_segments=True),
    "roberta": Architecture("RoBERTa encoder", _ROBERTA, takes_pairs=True),
    "xlm-roberta": Architecture("XLM-RoBERTa encoder", _ROBERTA, takes_pairs=True),
    "distilbert": Architecture(
        "DistilBERT encoder",
        _DISTILBERT,
        sizes=_Sizes(layers=("n_layers",), heads=("n_heads",), width=("dim",)),
        takes_pairs=True,
    ),
    "gpt2": Architecture(
        "GPT-2 decoder",
        _GPT2,
        sizes=_Sizes(layers=("n_layer",), heads=("n_head",), width=("n_embd",), positions=("n_positions",)),
    ),
    "llama": Architecture("Llama decoder", _LLAMA),
    "bart": Architecture("BART encoder–decoder", _BART_ENCODER, _BART_DECODER, _BART_SIZES),
    "marian": Architecture("Marian encoder–decoder", _MARIAN_ENCODER, _MARIAN_DECODER, _BART_SIZES),
    "t5": Architecture(
        "T5 encoder–decoder",
        _T5_ENCODER,
        _T5_DECODER,
        _Sizes(
            layers=("num_layers",),
            heads=("num_heads",),
            width=("d_model",),
            head_width=("d_kv",),
            # T5 knows distances, not positions, and takes any number of tokens.
            positions=(),
            decoder_layers=("num_decoder_layers", "num_layers"),
        ),
    ),
    "vit": Architecture("Vision Transformer (ViT)", _VIT, reads_pictures=True),
}


def architecture_of(config: dict[str, Any]) -> Architecture:
    """Return the architecture that a model's configuration names.

    Raises:
        ValueError: it is none of ``ARCHITECTURES``.
    """
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or model_type not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        named = f"is of the architecture {model_type!r}" if model_type else "does not say of which architecture it is"
        raise ValueError(f"This model {named}. Those that can be shown are: {known}.")
    return ARCHITECTURES[model_type]


def info_from_config(model_id: str, folder: Path, *, name: str, licence: str, source: str) -> ModelInfo:
    """Say what a model in ``from_pretrained`` layout is, from its configuration and the head of its weights.

    Args:
        model_id: what the catalogue calls it.
        folder: where ``config.json`` and the ``.safetensors`` files lie; the weights themselves are not read.
        name: what the page calls it.
        licence: what it may be used for.
        source: where it comes from.

    Raises:
        ValueError: the configuration cannot be read, lacks a size, or is of an architecture that is not in the table.
    """
    config = read_config(folder)
    architecture = architecture_of(config)
    sizes = architecture.sizes
    n_layers, n_heads, d_model = (_size(config, names) for names in (sizes.layers, sizes.heads, sizes.width))
    n_decoder_layers = _size(config, sizes.decoder_layers) if architecture.decoder is not None else 0
    layers = f"{n_layers} + {n_decoder_layers}" if n_decoder_layers else f"{n_layers}"
    return ModelInfo(
        model_id=model_id,
        name=name,
        architecture=architecture.name,
        n_layers=n_layers,
        n_heads=n_heads,
        n_key_value_heads=_first(config, ("num_key_value_heads",)) or n_heads,
        d_model=d_model,
        d_head=_first(config, sizes.head_width) or d_model // n_heads,
        max_tokens=_max_tokens(config, architecture),
        n_parameters=sum(_n_parameters(file) for file in sorted(folder.glob("*.safetensors"))),
        licence=licence,
        source=source,
        summary=f"{architecture.name}: {layers} layers of {n_heads} heads.",
        is_decoder=architecture.is_decoder,
        n_decoder_layers=n_decoder_layers,
        reads="picture" if architecture.reads_pictures else "text",
    )


def read_config(folder: Path) -> dict[str, Any]:
    """Read a model's configuration.

    Raises:
        ValueError: there is none, or it is none.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"The model's config.json cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise ValueError("The model's config.json is no configuration: it must hold names and values.")
    return config


def _size(config: dict[str, Any], names: Sequence[str]) -> int:
    size = _first(config, names)
    if size is None:
        raise ValueError(f"The model's config.json does not say how many {names[0]} there are.")
    return size


def _first(config: dict[str, Any], names: Sequence[str]) -> int | None:
    """Return the first of these sizes that the configuration has."""
    return next((size for name in names if isinstance(size := config.get(name), int) and size > 0), None)


def _max_tokens(config: dict[str, Any], architecture: Architecture) -> int:
    """Return how many tokens of a text are shown at most; of a picture, how many it has."""
    if architecture.reads_pictures:
        side = _size(config, ("image_size",)) // _size(config, ("patch_size",))
        return side * side + 1
    limit = _first(config, architecture.sizes.positions) or MAX_TOKENS
    if architecture.encoder.has_padding_position:
        limit -= int(config.get("pad_token_id") or 0) + 1
    return min(limit, MAX_TOKENS)


def _n_parameters(file: Path) -> int:
    """Count the numbers that were learnt, from the head of a .safetensors file: its length in 8 bytes, then JSON."""
    with file.open("rb") as opened:
        header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
    return sum(
        math.prod(tensor["shape"])
        for name, tensor in header.items()
        if name != "__metadata__" and not name.endswith(_NOT_LEARNT)
    )
