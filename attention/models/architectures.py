"""A model's architecture and sizes from its ``config.json``, checked against its weights."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

from attention.core.messages import message
from attention.core.trace import ModelInfo
from attention.models.families import ARCHITECTURES, AS_DECODER, AS_ENCODER, TEXT_PARTS, WHOLE
from attention.models.files import check_beside, has_chat_template, in_one_line, read_json, shapes_of
from attention.models.generic_models import layer_kinds, other_architecture
from attention.models.module_map import Architecture, Sizes, TextPart

# A page shows at most this many tokens, even if the model accepts more.
MAX_TOKENS = 512
# With fewer, the tokenizer's own tokens leave no room for text.
LEAST_TOKENS = 8
# The largest accepted sizes. No table of positions is longer; a picture with more patches does not fit on a page; and
# ImageNet itself has 21,843 classes.
MAX_SIZE, MAX_POSITIONS, MAX_PATCHES, MAX_LABELS = 10**9, 2**16, 1024, 10**5
# The most layers with shared weights; other layers are limited by the weights.
MAX_SHARED = 128

# Saved tensors that are not learned: 0, 1, 2, …, the causal mask, and zeros.
_NOT_LEARNT = (
    "position_ids",
    ".attn.bias",
    ".attn.masked_bias",
    ".attention.bias",
    ".attention.masked_bias",
    "rotary_emb.inv_freq",
    "final_logits_bias",
)

_SIDE_BY_SIDE = message("In each layer, attention and the feed-forward network run in parallel on the same vectors.")

# Keys of the whole model that apply to each part ...
_OF_THE_WHOLE = ("architectures", "dtype", "torch_dtype", "tie_word_embeddings")
# ... and the key of the text part's configuration.
_TEXT = "text_config"

# Keys under which an encoder–decoder may describe its two parts, and sizes that must agree.
_BOTH = ("encoder", "decoder")
_SHARED_SIZES = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim")

# The prefix of the output matrix, outside or inside the text part.
_HEAD = "lm_head."

# Bytes of a weight, by the type that a configuration names.
_BYTES_OF = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}

# The suffix of transformers' classes of an encoder without its decoder.
_ALONE = "EncoderModel"

# All names of a number of layers: transformers treats some as synonyms.
_LAYERS = frozenset(
    name for each in ARCHITECTURES.values() for name in (*each.sizes.layers, *each.sizes.decoder_layers)
)


def architecture_of(config: dict[str, Any]) -> Architecture:
    """Return a configuration's architecture; raise ValueError, with a message for the page, if it cannot be shown."""
    found = _architecture_of(config)
    part = _text_part(config)
    return found if part is None else replace(found, text_part=part, note=f"{part.note} {found.note}".strip())


def _architecture_of(config: dict[str, Any]) -> Architecture:
    model_type = config.get("model_type")
    found = ARCHITECTURES.get(model_type) if isinstance(model_type, str) else None
    if found is None:
        return other_architecture(config)
    _check_kind(config, found)
    _check_is_whole(config, found)
    for key, value in found.refused:
        if config.get(key) == value:
            raise ValueError(_unsupported(key, str(value)))
    return next(
        (replace(found, encoder=stack) for key, value, stack in found.variants if config.get(key, not value) == value),
        found,
    )


def _check_kind(config: dict[str, Any], architecture: Architecture) -> None:
    """Refuse a decoder that sees later tokens, and an encoder that does not.

    By its architecture's name alone, it would be shown with a mask or a next token that it does not have.
    """
    against = AS_ENCODER if architecture.has_decoder else AS_DECODER
    # As in transformers: a key counts only if present, by its truth value.
    key = next((key for key, value in against if key in config and bool(config[key]) is value), None)
    if key is None:
        return
    raise ValueError(_unsupported(key, in_one_line(str(config[key]))[:60]))


def _unsupported(key: str, value: str) -> str:
    return message("Unsupported attention: config.json sets {key} = {value}.", key=key, value=value)


def _check_is_whole(config: dict[str, Any], architecture: Architecture) -> None:
    """Refuse the encoder of an encoder–decoder saved alone, such as T5EncoderModel."""
    names = config.get("architectures")
    if (
        architecture.decoder is not None
        and isinstance(names, list)
        and any(str(name).endswith(_ALONE) for name in names)
    ):
        raise ValueError(_only_encoder(architecture))


def _only_encoder(architecture: Architecture) -> str:
    return message(
        "Only the encoder of this {name} is here. Get the model with its decoder.",
        name=architecture.name,
    )


def info_from_config(model_id: str, folder: Path, *, name: str, licence: str, source: str) -> ModelInfo:
    """Describe a model in ``from_pretrained`` layout from its configuration and the headers of its weights.

    ``model_id``, ``name``, ``licence`` and ``source`` are those of the catalogue.

    Raises:
        ValueError: the configuration cannot be read, lacks a size, names an unsupported architecture, or asks for more
            than the weights contain; or a file beside it is not regular.
    """
    config = read_config(folder)
    info = replace(_sized(config), model_id=model_id, name=name, licence=licence, source=source)
    check_beside(folder)
    shapes = _of_text_part(config, shapes_of(folder))
    _check_asked(config, info, shapes)
    learnt = (math.prod(shape) for name, shape in shapes.items() if not name.endswith(_NOT_LEARNT))
    return replace(info, n_parameters=sum(learnt), has_chat=has_chat_template(folder))


def info_of_offer(config: dict[str, Any], n_bytes: int) -> ModelInfo:
    """Describe a model on the hub from its configuration and the bytes of its weights.

    The number of parameters follows from the type that the configuration names, by default float32.

    Raises:
        ValueError: the configuration is refused; the message is for the page.
    """
    kind = str(config.get("dtype") or config.get("torch_dtype")).removeprefix("torch.")
    return replace(_sized(_text_config(config)), n_parameters=n_bytes // _BYTES_OF.get(kind, _BYTES_OF["float32"]))


def info_in_memory(config: dict[str, Any]) -> tuple[ModelInfo, Architecture]:
    """Describe a model that is in memory, from what its ``config.json`` would be, without a name.

    Raises:
        ValueError: the configuration is refused; the message is a sentence that says why.
    """
    config = _text_config(config)
    return _sized(config), architecture_of(config)


def _sized(config: dict[str, Any]) -> ModelInfo:
    architecture = architecture_of(config)
    sizes = architecture.sizes
    n_layers, n_heads, d_model = (_size(config, names) for names in (sizes.layers, sizes.heads, sizes.width))
    if sizes.groups:
        n_layers *= _first(config, ("inner_group_num",)) or 1
    n_decoder_layers = _size(config, sizes.decoder_layers) if architecture.decoder is not None else 0
    layers = f"{n_layers} + {n_decoder_layers}" if n_decoder_layers else f"{n_layers}"
    kinds = () if architecture.is_known else layer_kinds(config)
    return ModelInfo(
        model_id="",
        name="",
        architecture=architecture.name,
        own_attention=architecture.own_attention,
        n_layers=n_layers,
        layer_kinds=kinds,
        default_layer=kinds.index("") if kinds else 0,
        n_heads=n_heads,
        n_key_value_heads=_first(config, ("num_key_value_heads",)) or n_heads,
        d_model=d_model,
        d_head=_head_width(config, sizes, d_model // n_heads),
        d_value=_first(config, sizes.value_width),
        max_tokens=_max_tokens(config, architecture),
        n_parameters=0,
        licence="",
        source="",
        summary=message(
            "{architecture}: {n_attending} of {layers} layers have attention, of {n_heads} heads.",
            architecture=architecture.name,
            n_attending=kinds.count(""),
            layers=layers,
            n_heads=n_heads,
        )
        if kinds
        else message(
            "{architecture}: {layers} layers of {n_heads} heads.",
            architecture=architecture.name,
            layers=layers,
            n_heads=n_heads,
        ),
        is_decoder=architecture.is_decoder,
        n_decoder_layers=n_decoder_layers,
        reading=architecture.reading,
        note=_SIDE_BY_SIDE if architecture.encoder.is_parallel else architecture.note,
    )


def read_config(folder: Path) -> dict[str, Any]:
    """Read a model's configuration, or its text part's; raise ValueError if it is missing or invalid."""
    return _text_config(read_json(folder / "config.json"))


def _text_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return the text part's configuration, if there is one, with the whole model's type."""
    kind = config.get("model_type")
    part = TEXT_PARTS.get(kind) if isinstance(kind, str) else None
    if part is None:
        return _of_both({name: said for name, said in config.items() if name != WHOLE})
    # Older files have it at the top level.
    own = config.get(_TEXT, config if "hidden_size" in config else None)
    if not isinstance(own, dict):
        raise ValueError(message("Its config.json does not describe the text part, {name}.", name=_TEXT))
    whole = {name: config[name] for name in _OF_THE_WHOLE if name in config}
    own_kind = part.kind if own is config else own.get("model_type", part.kind)
    return {**part.defaults, **own, **whole, "model_type": own_kind, WHOLE: kind}


def _of_both(config: dict[str, Any]) -> dict[str, Any]:
    """Merge separate configurations of encoder and decoder, if their sizes agree."""
    encoder, decoder = (config.get(name) for name in _BOTH)
    if not config.get("is_encoder_decoder") or not isinstance(encoder, dict) or not isinstance(decoder, dict):
        return config
    if any(encoder.get(name) != decoder.get(name) for name in _SHARED_SIZES):
        raise ValueError(
            message("The encoder and decoder differ in vector width or heads. Choose a model in which they match.")
        )
    whole = {name: said for name, said in config.items() if name not in _BOTH}
    return {**encoder, **whole, "decoder_layers": decoder.get("num_hidden_layers")}


def _text_part(config: dict[str, Any]) -> TextPart | None:
    return TEXT_PARTS.get(config.get(WHOLE, ""))


def _of_text_part(config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    part = _text_part(config)
    if part is None:
        return shapes
    return {name: shape for name, shape in shapes.items() if re.match(part.weights, name) or name.startswith(_HEAD)}


def _size(config: dict[str, Any], names: Sequence[str]) -> int:
    size = _first(config, names)
    if not size:
        raise ValueError(message("Its config.json does not state {name}.", name=names[0]))
    return size


def _first(config: dict[str, Any], names: Sequence[str]) -> int | None:
    name = next((name for name in names if config.get(name) is not None), None)
    if name is None:
        return None
    size = config[name]
    if not _is_whole(size) or not 0 <= size <= MAX_SIZE:
        raise ValueError(
            message(
                "Its config.json: {name} must be a whole number from 0 to {most}.",
                name=name,
                most=f"{MAX_SIZE:,}",
            )
        )
    return size


def _head_width(config: dict[str, Any], sizes: Sizes, share: int) -> int:
    """Return the width of a query; ``share`` is d_model / n_heads."""
    parts = [_first(config, (name,)) or 0 for name in sizes.query_parts]
    if parts and all(parts):
        return sum(parts)
    narrowed, n_heads = _first(config, sizes.narrowed), _first(config, sizes.heads)
    return _first(config, sizes.head_width) or (narrowed // n_heads if narrowed and n_heads else share)


def _is_whole(value: object) -> TypeGuard[int]:
    # In Python, True is an int.
    return isinstance(value, int) and not isinstance(value, bool)


def _max_tokens(config: dict[str, Any], architecture: Architecture) -> int:
    """Return the most tokens shown for a text, or the number of tokens of a picture."""
    if architecture.reads_pictures:
        side = _size(config, ("image_size",)) // _size(config, ("patch_size",))
        if not 0 < side * side <= MAX_PATCHES:
            raise ValueError(
                message(
                    "This model cuts a picture into {patches} patches; 1 to {most} are supported.",
                    patches=f"{side * side:,}",
                    most=f"{MAX_PATCHES:,}",
                )
            )
        return side * side + 1
    limit = _first(config, architecture.sizes.positions) or MAX_TOKENS
    if architecture.encoder.positions is not None and limit > MAX_POSITIONS:
        raise ValueError(
            message(
                "Its config.json asks for {limit} positions, an implausible number.",
                limit=f"{limit:,}",
            )
        )
    padding = config.get("pad_token_id")
    if padding is not None and not _is_whole(padding):
        raise ValueError(message("Its config.json: pad_token_id must be a whole number."))
    if architecture.encoder.has_padding_position:
        limit -= max(padding or 0, 0) + 1
    elif not architecture.is_known and 0 <= (padding or 0) < LEAST_TOKENS:
        # It may be a relative of RoBERTa, whose text begins after the position of padding.
        limit -= (padding or 0) + 1
    if limit < LEAST_TOKENS:
        raise ValueError(message("The model takes fewer than {least} tokens, too few for a text.", least=LEAST_TOKENS))
    return min(limit, MAX_TOKENS)


def _check_asked(config: dict[str, Any], info: ModelInfo, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a configuration that asks for more than the weights contain, before memory is allocated for it."""
    architecture = architecture_of(config)
    if architecture.decoder is not None and not any(re.search(r"(^|\.)decoder\.", name) for name in shapes):
        raise ValueError(_only_encoder(architecture))
    groups = architecture.sizes.groups
    n_there = MAX_SHARED if groups else _n_layers_there(shapes)
    n_layers = max(info.n_layers, *(_first(config, (name,)) or 0 for name in _LAYERS))
    if groups and n_layers > n_there:
        raise ValueError(
            message(
                "Its config.json asks for {n_layers} layers that share weights; at most {most} are supported.",
                n_layers=f"{n_layers:,}",
                most=f"{MAX_SHARED:,}",
            )
        )
    if n_layers > n_there:
        raise ValueError(
            message(
                "Its config.json asks for {n_layers} layers, but the weights have {n_there}.",
                n_layers=f"{n_layers:,}",
                n_there=f"{n_there:,}",
            )
        )
    if info.d_head == 0 or info.n_key_value_heads > info.n_heads:
        raise ValueError(
            message(
                "The sizes in config.json do not match: {n_heads} heads, {n_key_value_heads} key/value heads, vectors "
                "of {width} numbers.",
                n_heads=f"{info.n_heads:,}",
                width=f"{info.d_model:,}",
                n_key_value_heads=f"{info.n_key_value_heads:,}",
            )
        )
    if (_first(config, ("num_labels",)) or 0) > MAX_LABELS:
        raise ValueError(message("Its config.json asks for more than {most} classes.", most=f"{MAX_LABELS:,}"))
    n_asked, n_found = _n_asked(config, info), sum(map(math.prod, shapes.values()))
    if n_asked > n_found:
        raise ValueError(
            message(
                "Its config.json asks for at least {n_asked} numbers, but the weights have {n_found}.",
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

    It counts the embeddings of words, positions and segments and, in each layer, the projections of queries and outputs
    and two maps of the feed-forward network. Sizes left to transformers' defaults are not counted, nor are layers
    outside the table.
    """
    architecture = architecture_of(config)
    sizes, stack = architecture.sizes, architecture.encoder
    rows = 0 if architecture.reads_pictures else _first(config, ("vocab_size",)) or 0
    if stack.positions is not None:
        rows += info.max_tokens if architecture.reads_pictures else _first(config, sizes.positions) or 0
    if stack.segments is not None:
        rows += _first(config, ("type_vocab_size",)) or 0
    inner, decoder_inner = (_first(config, names) or 0 for names in (sizes.inner, sizes.decoder_inner))
    heads = info.n_heads * info.d_head if architecture.is_known else 0
    n_layers = (_first(config, sizes.groups) or 1) if sizes.groups else info.n_layers
    in_layers = n_layers * (heads + inner) + info.n_decoder_layers * (heads + decoder_inner)
    return rows * min(_first(config, sizes.embedding) or info.d_model, info.d_model) + 2 * info.d_model * in_layers
