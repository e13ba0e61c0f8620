"""Architectures outside the table, as far as their configuration and transformers' source files reveal them.

transformers is not imported, which would take seconds, and pages list models all the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from itertools import cycle, islice, repeat
from pathlib import Path
from typing import Any

from attention.core.messages import message
from attention.models.families import AS_DECODER, AS_ENCODER
from attention.models.files import in_one_line
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
# Marks a model with attention of its own, or that of another model.
_ATTENTION = re.compile(r"^class \w*Att|^from \.\.\w|AutoModel", re.MULTILINE)
# Marks a model that uses the attention interface; the functions that make its masks.
_INTERFACE = "ALL_ATTENTION_FUNCTIONS"
_HIDES_LATER, _HIDES_NONE = "create_causal_mask", "create_bidirectional_mask"
# Marks models that read text.
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
_OTHER_INPUT = re.compile(r'main_input_name = "(?!input_ids)')
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
    code = _code_of(model_type)
    if code is None:
        raise ValueError(
            message("The installed version of transformers lacks this model's architecture, {name}.", name=name)
        )
    if not code.names_ids:
        raise ValueError(message("This model ({name}) does not read text.", name=name))
    if not config.get("vocab_size") and (code.uses_interface or any(part in config for part in _PARTS)):
        raise ValueError(
            message("This model ({name}) does not read text alone: config.json states no single vocabulary.", name=name)
        )
    if not code.has_attention:
        raise ValueError(message("This model ({name}) has no attention.", name=name))
    if not code.uses_interface:
        raise ValueError(
            message(
                "This model ({name}) computes its attention in its own code, not through transformers' attention "
                "interface.",
                name=name,
            )
        )
    beyond = next((told for key, told in _BEYOND.items() if key in config), "")
    if beyond:
        raise ValueError(
            message("The attention of this model ({name}) is not explained here: {why}.", name=name, why=beyond)
        )
    has_two = bool(config.get("is_encoder_decoder"))
    kinds = layer_kinds(config)
    if kinds and (has_two or all(kinds)):
        raise ValueError(message("No layer of this model ({name}) has softmax attention.", name=name))
    if has_two and code.has_other_input:
        raise ValueError(message("This model ({name}) does not read text.", name=name))
    is_causal = not has_two and _is_causal(config, code)
    return Architecture(
        message("{name}, partly known", name=model_type[:40]),
        replace(_NOWHERE, is_causal=is_causal),
        replace(_NOWHERE, is_causal=True) if has_two else None,
        sizes=_SIZES_OF_TWO if has_two else _SIZES,
        note=message("This architecture is not known part by part. Only what was verified is shown."),
        is_known=False,
    )


def _is_causal(config: dict[str, Any], code: _Code) -> bool:
    """Return whether a single stack hides later tokens, without running it."""
    written = config.get("architectures")
    names = " ".join(map(str, written)) if isinstance(written, list) else ""
    # transformers' names of models that predict the next token.
    if "CausalLM" in names or "LMHead" in names:
        return True
    if any(key in config and bool(config[key]) is value for key, value in AS_ENCODER):
        return False
    return code.is_causal or any(bool(config.get(key)) is value for key, value in AS_DECODER)


@dataclass(frozen=True, slots=True)
class _Code:
    """What transformers' source file of an architecture reveals without being run.

    Whether it has attention (possibly in another model that it contains), uses the attention interface, hides later
    tokens in every mask, reads token IDs at all, and has a part that reads something else.
    """

    has_attention: bool
    uses_interface: bool
    is_causal: bool
    names_ids: bool
    has_other_input: bool


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
def _code_of(model_type: str) -> _Code | None:
    """Scan an architecture's source file; None if there is none."""
    file = _file_of(model_type)
    if file is None:
        return None
    code = file.read_text("utf-8")
    return _Code(
        has_attention=_ATTENTION.search(code) is not None,
        uses_interface=_INTERFACE in code,
        is_causal=_HIDES_LATER in code and _HIDES_NONE not in code,
        names_ids=_TEXT_INPUT in code,
        has_other_input=_OTHER_INPUT.search(code) is not None,
    )


@cache
def _file_of(model_type: str) -> Path | None:
    """Return an architecture's source file: by its name, or beside the file with its configuration."""
    spec = find_spec("transformers")
    if spec is None or not spec.submodule_search_locations or re.fullmatch("[a-z0-9_-]+", model_type) is None:
        return None
    models = Path(spec.submodule_search_locations[0], "models")
    name = model_type.replace("-", "_")
    for each in (name, name.removesuffix("_text")):
        # A few share a folder with others, such as the kinds of data2vec.
        for file in models.glob(f"*/modeling_{each}.py"):
            return file
    for config in models.glob("*/configuration_*.py"):
        file = config.with_name(config.name.replace("configuration", "modeling", 1))
        if f'model_type = "{model_type}"' in config.read_text("utf-8") and file.is_file():
            return file
    return None
