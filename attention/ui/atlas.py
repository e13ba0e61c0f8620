"""The picture of all heads of a model, in which a person finds one and chooses it.

A component like those of :mod:`attention.ui.components`, with the same rules.
"""

from __future__ import annotations

from collections.abc import Callable

from attention.figures.atlas import Atlas
from attention.ui.components import _is_index, mount
from attention.ui.files import component

__all__ = ["atlas"]

_ATLAS = component("atlas")


def atlas(data: Atlas, *, key: str, on_choose: Callable[[int, int], None]) -> None:
    """Draw all heads as one picture; ``on_choose`` is called with the layer and the head of one, from 0."""
    n_heads = data.tiles.n_heads

    def choose(value: object) -> None:
        if not isinstance(value, dict):
            return
        layer, head = value.get("layer"), value.get("head")
        if _is_index(layer, len(n_heads)) and _is_index(head, n_heads[layer]):
            on_choose(layer, head)

    mount(_ATLAS, key, data.payload(), choose=choose)
