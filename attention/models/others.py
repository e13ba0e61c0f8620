"""Architectures that are not in the table: what can be told of them from a configuration and transformers' own files.

Nothing of transformers is imported: that takes seconds, and pages list models all the time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attention.messages import message
from attention.models.families import ARCHITECTURES
from attention.models.files import in_one_line
from attention.models.layout import Architecture, Attention, FeedForward, Sizes, Stack

__all__ = ["other_architecture"]

# How models call their sizes.
_SIZES = Sizes(
    layers=("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    heads=("num_attention_heads", "n_head", "n_heads", "num_heads"),
    width=("hidden_size", "n_embd", "d_model", "dim"),
    positions=("max_position_embeddings", "n_positions", "max_seq_len"),
    # What these names mean differs from one to the next.
    inner=(),
)
_NOWHERE = Stack(
    layers="",
    attention=Attention("", "", "", ""),
    feed_forward=FeedForward((), ""),
    words="",
    has_own_masks=True,
)
# What a model calls that leaves its attention to a function of one's choice.
_INTERFACE = "ALL_ATTENTION_FUNCTIONS"


def other_architecture(config: dict[str, Any]) -> Architecture:
    """Return what is known of an architecture that is not in the table, if its attention can be recorded.

    Raises:
        ValueError: it cannot be; the message is a sentence that says why.
    """
    model_type = config.get("model_type")
    known = ", ".join(ARCHITECTURES)
    if not isinstance(model_type, str) or not model_type:
        raise ValueError(
            message(
                "This model does not say of which architecture it is. Those that can be shown are: {known}.",
                known=known,
            )
        )
    name = in_one_line(repr(model_type))[:60]
    uses_interface = _uses_interface(model_type)
    if uses_interface is None:
        raise ValueError(
            message(
                "This model is of the architecture {name}. Those that can be shown are: {known}.",
                name=name,
                known=known,
            )
        )
    if not uses_interface:
        raise ValueError(
            message(
                "This model is of the architecture {name}. Those that can be shown are: {known}; and others that "
                "leave their attention to a function of transformers. This one computes it in a way of its own, which "
                "cannot be recorded.",
                name=name,
                known=known,
            )
        )
    if config.get("is_encoder_decoder"):
        raise ValueError(
            message(
                "This model is of the architecture {name}, which has an encoder and a decoder. Where the parts of two "
                "stacks are is not guessed: only those can be shown that are known part by part, which are {known}.",
                name=name,
                known=", ".join(kind for kind, each in ARCHITECTURES.items() if each.decoder is not None),
            )
        )
    if not config.get("vocab_size"):
        raise ValueError(
            message(
                "This model is of the architecture {name}, whose config.json says nothing of one vocabulary: it reads "
                "something else than a text, or a text beside pictures or sounds. Those that can be shown are: "
                "{known}; and others that read a text alone.",
                name=name,
                known=known,
            )
        )
    written = config.get("architectures")
    is_causal = isinstance(written, list) and any("CausalLM" in str(each) for each in written)
    return Architecture(
        message("{name}, as far as it is known", name=model_type[:40]),
        replace(_NOWHERE, is_causal=is_causal),
        sizes=_SIZES,
        note=message(
            "Models of this architecture are not known part by part: what could not be found in its layers, and "
            "checked, is not shown."
        ),
        is_known=False,
    )


@cache
def _uses_interface(model_type: str) -> bool | None:
    """Tell whether the file with an architecture's code calls the attention interface; None if there is no file."""
    spec = find_spec("transformers")
    if spec is None or not spec.submodule_search_locations or re.fullmatch("[a-z0-9_-]+", model_type) is None:
        return None
    name = model_type.replace("-", "_")
    for folder in (name, name.removesuffix("_text")):
        file = Path(spec.submodule_search_locations[0], "models", folder, f"modeling_{folder}.py")
        if file.is_file():
            return _INTERFACE in file.read_text("utf-8")
    return None
