"""A transformers model in the caller's memory, recorded without being touched.

The recording runs on a twin: a copy of the modules, with hooks and settings of its own, that shares the tensors. The
caller's model keeps its mode, hooks and attention, even after an exception.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from attention.core.given import integers, printable
from attention.core.messages import message
from attention.core.trace import ModelInfo, Token
from attention.core.words import SPACE
from attention.models.architectures import info_in_memory
from attention.models.module_map import Architecture
from attention.models.recorder import ATTENTION_NAME
from attention.models.tokens import TextReader


def described(model: Any) -> tuple[ModelInfo, Architecture]:
    """Describe a model without running it.

    Raises:
        TypeError: not a transformers model.
        ValueError: its attention cannot be recorded; the message says why.
    """
    if not isinstance(model, PreTrainedModel):
        raise TypeError(
            f"expected a transformers model, as AutoModel.from_pretrained returns, got {type(model).__name__}. "
            "Unwrap a wrapped model first. attention.show draws the weights that any model returns"
        )
    config = json.loads(model.config.to_json_string()) | {"architectures": [type(model).__name__]}
    info, architecture = info_in_memory(config)
    if architecture.text_part is not None or architecture.reads_pictures:
        raise ValueError(
            message(
                "This model reads more than text. Pass the part that reads the text, or save it with "
                "save_pretrained and load its folder."
            )
        )
    if info.n_decoder_layers and not model.can_generate():
        raise ValueError(
            message(
                "An encoder–decoder is recorded as a whole. Pass the model with its head, such as "
                "T5ForConditionalGeneration."
            )
        )
    parameters = list(model.parameters())
    if any(each.is_meta for each in parameters):
        raise ValueError(message("Weights of this model are not in memory (device “meta”): load all of them first."))
    if not all(each.is_floating_point() for each in parameters):
        raise ValueError(
            message("This model is quantised: load it in float32, bfloat16 or float16, without a quantisation.")
        )
    name = (model.name_or_path or type(model).__name__).rstrip("/")
    known = replace(
        info,
        model_id=printable(name),
        name=printable(name.rpartition("/")[2]),
        licence=message("not stated"),
        source=message("a model in memory"),
        n_parameters=model.num_parameters(),
        spacing=torch.finfo(model.dtype).eps,
    )
    return known, architecture


def twin(model: Any, info: ModelInfo) -> Any:
    """Return a copy of the model's modules around the same tensors, ready to be recorded.

    Raises:
        ValueError: a part of the model cannot be copied.
    """
    shared = {id(each): each for each in _shared(model)}
    try:
        own = copy.deepcopy(model, shared)
        # The recorder handles classes with their own attention separately.
        if not info.own_attention:
            own.set_attn_implementation(ATTENTION_NAME)
    except Exception as error:
        raise ValueError(
            message(
                "This model cannot be recorded in memory ({kind}). Save it with save_pretrained, and load its folder.",
                kind=type(error).__name__,
            )
        ) from error
    return own.eval()


def _shared(model: torch.nn.Module) -> Iterator[object]:
    """Yield the objects that a copy shares with its model: all tensors, and the hooks on its modules."""
    for module in model.modules():
        for value in vars(module).values():
            if isinstance(value, torch.Tensor):
                yield value
            elif isinstance(value, dict):
                yield from (each for each in value.values() if not isinstance(each, torch.nn.Module))


def reader_of(tokenizer: Any, model: Any, info: ModelInfo) -> TextReader | None:
    """Return the reader of a tokenizer in memory; None without one.

    Raises:
        TypeError: not a fast tokenizer.
        ValueError: it does not belong to the weights.
    """
    if tokenizer is None:
        if info.n_decoder_layers:
            raise ValueError(message("An encoder–decoder reads a text and writes one: pass its tokenizer, too."))
        return None
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise TypeError(
            f"expected a fast transformers tokenizer, as AutoTokenizer.from_pretrained returns, got "
            f"{type(tokenizer).__name__}. With tokens of your own, pass input_ids and tokens"
        )
    return TextReader(info.name, tokenizer, model.config.vocab_size)


def tokens_of(ids: Any, tokens: Sequence[str] | None, reader: TextReader | None, n_known: int) -> tuple[Token, ...]:
    """Return the tokens with the caller's token IDs: each is a word, unless it is special.

    Raises:
        TypeError: IDs that are not integers, or tokens that are not strings.
        ValueError: several texts, no names, unequal numbers of IDs and tokens, or an ID outside the vocabulary.
    """
    # A tokenizer, and its chat template, return an encoding.
    ids = ids["input_ids"] if isinstance(ids, Mapping) else ids
    rows: Any = np.asarray(ids.detach().cpu() if isinstance(ids, torch.Tensor) else ids)
    if rows.ndim == 2 and len(rows) == 1:
        rows = rows[0]
    if rows.ndim != 1 or not rows.size:
        raise ValueError(f"input_ids must be the numbers of one text, of shape (T,) or (1, T), got {rows.shape}")
    numbers = integers("input_ids", rows)
    unknown = [number for number in numbers if not 0 <= number < n_known]
    if unknown:
        raise ValueError(f"input_ids must be between 0 and {n_known - 1}, got {unknown[0]}")
    if tokens is None and reader is None:
        raise ValueError("pass the tokens of these input_ids, too, or the tokenizer that made them")
    names = reader.names(numbers) if tokens is None and reader is not None else tuple(tokens or ())
    if not all(isinstance(name, str) for name in names):
        raise TypeError("tokens must be a list of texts: tokenizer.convert_ids_to_tokens(input_ids)")
    if len(names) != len(numbers):
        raise ValueError(f"there are {len(numbers)} input_ids and {len(names)} tokens: each needs its own")
    return tuple(_listed(numbers, [printable(name) for name in names], reader))


def _listed(numbers: Sequence[int], names: Sequence[str], reader: TextReader | None) -> Iterator[Token]:
    start, word = 0, 0
    for position, (number, name) in enumerate(zip(numbers, names, strict=True)):
        if reader is not None and reader.are_special([number]):
            yield Token(name, "", None, position, number, is_special=True)
            continue
        # Tokenizers mark the space before a word in different ways.
        typed = name.lstrip(f"Ġ▁{SPACE} ") or name
        yield Token(name, typed, word, position, number, start=start)
        start, word = start + len(typed) + 1, word + 1
