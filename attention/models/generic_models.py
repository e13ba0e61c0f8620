"""Architectures outside the table, as far as their configuration and transformers' own tables tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, islice, repeat
from typing import Any

from attention.core.messages import message
from attention.models.families import AS_DECODER, AS_ENCODER, HIDE_LATER, USE_INTERFACE, WHOLE
from attention.models.files import in_one_line
from attention.models.importing import import_transformers
from attention.models.module_map import Architecture, Attention, FeedForward, Sizes, Stack

# Common names of sizes. Those of feed-forward networks have no common meaning.
_SIZES = Sizes(
    layers=("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    heads=("num_attention_heads", "n_head", "n_heads", "num_heads"),
    width=("hidden_size", "n_embd", "d_model", "dim"),
    positions=("max_position_embeddings", "n_positions", "max_seq_len"),
    inner=(),
    embedding=("embedding_size",),
    query_parts=("qk_nope_head_dim", "qk_rope_head_dim"),
    value_width=("v_head_dim",),
    narrowed=("true_hidden_size",),
)
# In an encoder–decoder, the encoder's sizes often have the names of a single stack.
_SIZES_OF_TWO = replace(
    _SIZES,
    layers=("encoder_layers", *_SIZES.layers),
    heads=("encoder_attention_heads", *_SIZES.heads),
    head_width=("d_kv", *_SIZES.head_width),
    decoder_layers=("decoder_layers", "num_decoder_layers", *_SIZES.layers),
)
_NOWHERE = Stack(
    layers="",
    attention=Attention("", "", "", ""),
    feed_forward=FeedForward((), ""),
    words="",
    has_own_masks=True,
)
# transformers' name of a text's token IDs among a model's inputs.
_TEXT_INPUT = "input_ids"
# Configuration keys for the kind of each layer; for the interval of attention layers, with the key of the first one,
# and for their indices, with the kind of the others.
_LAYER_KINDS = ("layer_types", "layers_block_type", "block_types")
_INTERVALS = {
    "attn_layer_period": ("attn_layer_offset", "mamba"),
    "full_attention_interval": ("", "linear_attention"),
}
_INDICES = {"attn_layer_indices": "mamba", "full_attn_idxs": "conv"}
# More would be implausible.
_MOST_LAYERS = 10_000
# Kinds of layers without softmax attention; a "hybrid" layer has it beside something else.
_OTHER_LAYER = re.compile("linear_.*|lightning_.*|(?!hybrid$).*(?<!attention)")
_KIND_NAMES = {
    "conv": message("convolution"),
    "linear_attention": message("linear attention"),
    "mamba": "Mamba",
}
# Configuration keys of models whose attention is not that of the steps, and what it is instead: those of LongT5,
# Pegasus-X, BigBird-Pegasus and DiffLlama.
_IN_BLOCKS = message("its encoder attends in blocks")
_BEYOND = {
    **dict.fromkeys(("encoder_attention_type", "num_global_tokens", "num_random_blocks"), _IN_BLOCKS),
    "lambda_std_dev": message("each head subtracts one softmax from another"),
}
# Configuration keys of multimodal models.
_PARTS = ("text_config", "vision_config", "audio_config")


def other_architecture(config: dict[str, Any]) -> Architecture:
    """Describe an architecture outside the table; raise ValueError if it cannot be recorded."""
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise ValueError(message("This model does not state its architecture."))
    name = in_one_line(repr(model_type))[:60]
    if model_type.endswith("encoder-decoder"):
        raise ValueError(
            message(
                "This model ({name}) joins two models. Only single encoder–decoders, such as T5 or BART, are "
                "supported.",
                name=name,
            )
        )
    kind = _kind_of(model_type)
    if kind is None:
        raise ValueError(
            message("The installed version of transformers lacks this model's architecture, {name}.", name=name)
        )
    if not kind.reads_text:
        raise ValueError(message("This model ({name}) does not read text.", name=name))
    if not config.get("vocab_size") and (kind.uses_interface or any(part in config for part in _PARTS)):
        raise ValueError(
            message("This model ({name}) does not read text alone: config.json states no single vocabulary.", name=name)
        )
    beyond = next((told for key, told in _BEYOND.items() if key in config), "")
    if beyond:
        raise ValueError(
            message("The attention of this model ({name}) is not explained here: {why}.", name=name, why=beyond)
        )
    has_two = bool(config.get("is_encoder_decoder"))
    if not kind.uses_interface:
        raise ValueError(
            message(
                "This model ({name}) has no attention, or computes it in its own code, not through transformers' "
                "attention interface.",
                name=name,
            )
        )
    kinds = layer_kinds(config)
    if kinds and (has_two or all(kinds)):
        raise ValueError(message("No layer of this model ({name}) has softmax attention.", name=name))
    is_causal = not has_two and _is_causal(config, kind)
    return Architecture(
        message("{name}, partly known", name=model_type[:40]),
        replace(_NOWHERE, is_causal=is_causal),
        replace(_NOWHERE, is_causal=True) if has_two else None,
        sizes=_SIZES_OF_TWO if has_two else _SIZES,
        note=message("This architecture is not known part by part. Only what was verified is shown."),
        is_known=False,
    )


def _is_causal(config: dict[str, Any], kind: _Kind) -> bool:
    """Return whether a single stack hides later tokens, without running it."""
    written = config.get("architectures")
    names = " ".join(map(str, written)) if isinstance(written, list) else ""
    # transformers' names of models that predict the next token.
    if "CausalLM" in names or "LMHead" in names:
        return True
    if any(key in config and bool(config[key]) is value for key, value in AS_ENCODER):
        return False
    return kind.is_causal or WHOLE in config or any(bool(config.get(key)) is value for key, value in AS_DECODER)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What transformers says of a kind of model without running it.

    Whether its first input is a text's token IDs, its attention is called through the attention interface, and it hides
    later tokens, as do those that only predict the next one, never a masked one.
    """

    reads_text: bool
    uses_interface: bool
    is_causal: bool


def layer_kinds(config: dict[str, Any]) -> tuple[str, ...]:
    """Return what each layer computes instead of softmax attention, "" for attention; () if all layers have it."""
    n_layers = config.get("num_hidden_layers")
    if not isinstance(n_layers, int) or isinstance(n_layers, bool) or not 0 < n_layers <= _MOST_LAYERS:
        return ()
    kinds = tuple(islice(_kinds(config, n_layers), n_layers))
    return kinds if any(kinds) else ()


def _kinds(config: dict[str, Any], n_layers: int) -> Iterator[str]:
    for key in _LAYER_KINDS:
        if isinstance(listed := config.get(key), list) and listed:
            # A shorter list is a pattern that repeats.
            return (_name_of(str(kind)) for kind in cycle(listed))
    for key, (offset_key, kind) in _INTERVALS.items():
        if isinstance(every := config.get(key), int) and every > 1:
            # Jamba's default is the middle of the period.
            offset = config.get(offset_key, every // 2) if offset_key else every - 1
            return ("" if n % every == offset else _name_of(kind) for n in range(n_layers))
    for key, kind in _INDICES.items():
        if isinstance(indices := config.get(key), list):
            return ("" if n in indices else _name_of(kind) for n in range(n_layers))
    return repeat("")


def _name_of(kind: str) -> str:
    """Return the name of a kind of layer; "" for softmax attention."""
    if _OTHER_LAYER.fullmatch(kind) is None:
        return ""
    return _KIND_NAMES.get(kind, in_one_line(kind.replace("_", " "))[:40])


@cache
def _kind_of(model_type: str) -> _Kind | None:
    """Look a kind up in transformers' tables; None if it is in none, or lacks a library."""
    transformers = import_transformers()
    try:
        config = transformers.CONFIG_MAPPING[model_type]
        found = transformers.MODEL_MAPPING[config]
    except (KeyError, ValueError, ImportError):
        return None
    # Of several variants, the first is the usual one.
    model = found[0] if isinstance(found, tuple) else found
    return _Kind(
        reads_text=model.main_input_name == _TEXT_INPUT,
        uses_interface=model_type in USE_INTERFACE or model.is_backend_compatible(),
        is_causal=model_type in HIDE_LATER
        or (
            config in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
            and config not in transformers.MODEL_FOR_MASKED_LM_MAPPING
        ),
    )
