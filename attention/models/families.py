"""The known architectures by the ``model_type`` in a model's config.json, read from ``assets/architectures.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.core.reading import PICTURE, TEXT
from attention.models.module_map import Architecture, Attention, FeedForward, Sizes, Stack, TextPart

_TABLES: dict[str, dict[str, Any]] = tomllib.loads((ASSETS / "architectures.toml").read_text("utf-8"))

# Notes on models that add to their scores after scaling, or scale something else.
_NOTES = {
    "": "",
    "adds after": message(
        "It adds its position bias after dividing by √d_k. Here √d_k times the bias is added before."
    ),
    "divides queries": message("It divides its queries by √d_k instead of its scores; the result is the same."),
    "normalises words": message("Its decoder normalises token embeddings before adding positional encodings."),
}
_READS_MORE = message("Only its text part is loaded and counted here.")

# Keys that contradict an architecture's name: with one of the first, transformers lets most decoders see later tokens;
# the second makes most encoders hide them.
AS_ENCODER = (("is_causal", False), ("use_bidirectional_attention", True))
AS_DECODER = (("is_decoder", True),)
# An added key in the configuration of a multimodal model's text part: the type of the whole model.
WHOLE = "whole_model_type"

# Kinds outside the table that use transformers' attention interface, and that hide later tokens, though the library
# does not say so.
USE_INTERFACE: frozenset[str] = frozenset(_TABLES["untold"]["uses_interface"])
HIDE_LATER: frozenset[str] = frozenset(_TABLES["untold"]["is_causal"])


def _merged(before: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a table with another one's values in place of its own, tables within it likewise."""
    both = {
        name: _merged(before[name], each) for name, each in own.items() if isinstance(each, dict) and name in before
    }
    return before | own | both


def _whole(name: str) -> dict[str, Any]:
    own = dict(_TABLES["stacks"][name])
    like = own.pop("like", None)
    return own if like is None else _merged(_whole(like), own)


def _parts(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table's values with tuples for lists, and None for an empty name."""
    return {
        name: tuple(each) if isinstance(each, list) else None if each == "" else each for name, each in table.items()
    }


def _attention(table: dict[str, Any]) -> Attention:
    *made, output = table["maps"]
    query, key, value = made if len(made) > 1 else made * 3
    return Attention(
        query, key, value, output, **_parts({name: each for name, each in table.items() if name != "maps"})
    )


def _stack(name: str) -> Stack:
    table = _whole(name)
    made: dict[str, Any] = {each: _attention(table[each]) for each in ("attention", "cross") if each in table}
    return Stack(**_parts(table) | made | {"feed_forward": FeedForward(**_parts(table["feed_forward"]))})


def _architecture(
    name: str,
    encoder: str,
    decoder: str = "",
    sizes: str = "",
    unless: tuple[str, str] | None = None,
    refused: tuple[str, ...] = (),
    note: str = "",
    *,
    reads_pictures: bool = False,
    **others: Any,
) -> Architecture:
    own = _stack(encoder)
    if decoder:
        name = message("{name} encoder–decoder", name=name)
    elif reads_pictures:
        name = message("Vision Transformer ({name})", name=name)
    else:
        name = message("{name} decoder", name=name) if own.is_causal else message("{name} encoder", name=name)
    return Architecture(
        name,
        own,
        _stack(decoder) if decoder else None,
        Sizes(**_parts(_TABLES["sizes"][sizes])) if sizes else Sizes(),
        variants=() if unless is None else ((unless[0], False, _stack(unless[1])),),
        refused=tuple((key, True) for key in refused),
        note=_NOTES[note],
        reading=PICTURE if reads_pictures else TEXT,
        **others,
    )


ARCHITECTURES = {kind: _architecture(**table) for kind, table in _TABLES["architectures"].items()}
# Multimodal models by ``model_type``; the text part's configuration names its architecture.
TEXT_PARTS: Mapping[str, TextPart] = MappingProxyType(
    {kind: TextPart(note=_READS_MORE, **table) for kind, table in _TABLES["text_parts"].items()}
)
