"""The atlas: a thumbnail of every head of a model, in any order."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Float, UInt8
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.drawn import Parts, is_index
from attention.figures.heads import shrink
from attention.figures.large import AskAt, Large

# Layer and head, both counted from 0.
Head = tuple[int, int]
# A title and its heads in drawing order.
Group = tuple[str, Sequence[Head]]

# The side of a thumbnail in pixels; larger matrices are pooled.
MAX_SIDE = 64
# The zoom in percent of the size at which all heads are visible; atlas.js has the same limits.
WHOLE, MAX_ZOOM = 100, 600
# A weight of 1 in 8 bits: one less than 255, because 0 marks a masked cell.
FULL = 254
# Larger pictures (in bytes, less so many for each head's description) are first sent as a sketch with fewer shades and,
# if need be, larger pixels.
LIGHT, SAID = 7_900, 12
FEWER = (63, 15)


@dataclass(frozen=True)
class Tiles:
    """The weights of all heads as thumbnails, made once for a sentence.

    A weight 0 … 1 is stored as 1 … 255, an error of at most 1/508; 0 is a masked cell. Matrices of more than 64 rows or
    columns are max-pooled over blocks of ``block`` rows and columns. ``packed`` holds all pixels, by layer, head and
    row, compressed with zlib.
    """

    n_heads: tuple[int, ...]
    rows: int
    columns: int
    block: tuple[int, int]
    packed: bytes

    @classmethod
    def of(cls, weights: Iterable[Float[Array, "H Q K"]]) -> Self:
        """Make thumbnails from each layer's weights, in which ``-inf`` marks masked cells.

        Layers are read one by one, so only one need be in memory.
        """
        shapes, shrunk = [], []
        for layer in weights:
            shapes.append(layer.shape)
            shrunk += [shrink(head, MAX_SIDE) for head in layer]
        pictures = np.stack(shrunk)
        hidden = np.isneginf(pictures)
        steps = np.where(hidden, 0, 1 + np.rint(np.where(hidden, 0, pictures) * np.float32(FULL))).astype(np.uint8)
        _, n_queries, n_keys = shapes[0]
        return cls(
            n_heads=tuple(n_heads for n_heads, *_ in shapes),
            rows=pictures.shape[1],
            columns=pictures.shape[2],
            block=(-(-n_queries // MAX_SIDE), -(-n_keys // MAX_SIDE)),
            packed=_packed(steps),
        )

    @cached_property
    def sketch(self) -> Self:
        """The same thumbnails in at most about 7,000 bytes if possible: with fewer shades, then larger pixels.

        Pixels are max-pooled and have 64 or 16 shades: an error of at most 1/30.
        """
        most = LIGHT - SAID * sum(self.n_heads)
        if len(self.packed) <= most:
            return self
        whole, found = self._pixels(), self
        for side, n_shades in ((1, FEWER[0]), *((side, FEWER[-1]) for side in range(1, max(self.rows, self.columns)))):
            small = _in_shades(_largest(whole, side), n_shades)
            block = (self.block[0] * side, self.block[1] * side)
            found = replace(self, rows=small.shape[1], columns=small.shape[2], block=block, packed=_packed(small))
            if len(found.packed) <= most:
                break
        return found

    def _pixels(self) -> UInt8[Array, "N R C"]:
        pixels = np.frombuffer(zlib.decompress(self.packed), np.uint8)
        return pixels.reshape(-1, self.rows, self.columns)

    def has(self, head: Head) -> bool:
        """Return whether this head exists."""
        layer, index = head
        return 0 <= layer < len(self.n_heads) and 0 <= index < self.n_heads[layer]


def _packed(pixels: UInt8[Array, "N R C"]) -> bytes:
    # Weights are noise with runs of zeros: searching for other repetitions takes ten times as long and finds few.
    packer = zlib.compressobj(strategy=zlib.Z_RLE)
    return packer.compress(pixels.tobytes()) + packer.flush()


def _in_shades(pixels: UInt8[Array, "N R C"], n: int) -> UInt8[Array, "N R C"]:
    """Quantise weights to steps of 1/n; masked cells stay masked."""
    every = np.arange(1, FULL + 2)
    steps = 1 + np.rint(np.rint((every - 1) / FULL * n) / n * FULL)
    return np.concatenate([[0], steps]).astype(np.uint8)[pixels]


def _largest(pixels: UInt8[Array, "N R C"], side: int) -> UInt8[Array, "N r c"]:
    """Max-pool blocks of ``side`` rows and columns."""
    for axis in (1, 2):
        pixels = np.maximum.reduceat(pixels, np.arange(0, pixels.shape[axis], side), axis=axis)
    return pixels


def by_layer(tiles: Tiles, kinds: Sequence[str] = ()) -> tuple[Group, ...]:
    """Return one group for each layer: rows are layers, columns are heads.

    ``kinds`` name what layers without heads are.
    """
    return tuple(
        (
            message("Layer {layer}", layer=layer + 1)
            if n_heads
            else message("Layer {layer}: {kind}, no attention", layer=layer + 1, kind=kinds[layer]),
            tuple((layer, head) for head in range(n_heads)),
        )
        for layer, n_heads in enumerate(tiles.n_heads)
    )


def chosen_head(value: object, n_heads: Sequence[int]) -> Parts | None:
    """Return a pressed layer and head, counted from 1, if there is such a head; ``n_heads`` counts each layer's."""
    if not isinstance(value, dict):
        return None
    layer, head = value.get("layer"), value.get("head")
    if not (is_index(layer, len(n_heads)) and is_index(head, n_heads[layer])):
        return None
    return {"layer": str(layer + 1), "head": str(head + 1)}


@dataclass(frozen=True, slots=True)
class Atlas(Large):
    """Thumbnails of heads in groups, with descriptions, badges and the current head.

    Groups may omit or repeat heads. A head's description is its tooltip and accessible name; its badge, a few
    characters such as ``0.42``, stands below it if there is room, and ``badge_name`` is the quantity. ``zoom`` is in
    percent; None leaves it to the browser.
    """

    component: ClassVar[str] = "atlas"
    acts: ClassVar[tuple[str, ...]] = ("choose", "zoom")

    tiles: Tiles
    groups: Sequence[Group]
    title: str
    alt: str
    current: Head | None = None
    descriptions: Mapping[Head, str] = field(default_factory=dict)
    badges: Mapping[Head, str] = field(default_factory=dict)
    badge_name: str = ""
    zoom: int | None = None

    @property
    def is_table(self) -> bool:
        """Whether each group is one layer with all its heads in order, so that they align in columns."""
        rows = [(heads, len({layer for layer, _ in heads})) for _, heads in self.groups]
        return any(heads for heads, _ in rows) and all(
            n_layers <= 1 and [head for _, head in heads] == list(range(len(heads))) for heads, n_layers in rows
        )

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pressed layer and head, counted from 1, or the zoom in percent if it is in the link."""
        if act == "zoom" and self.zoom is not None:
            return {"zoom": str(value)} if is_index(value, MAX_ZOOM + 1) and value >= WHOLE else None
        return chosen_head(value, self.tiles.n_heads) if act == "choose" else None

    @property
    def numbers(self) -> bytes:
        """The compressed thumbnails of all heads."""
        return self.tiles.packed

    def payload(self, ask_at: AskAt | None = None) -> dict[str, Any]:
        """Return the component's data; the compressed thumbnails are in base64.

        With ``ask_at``, large ones are sent as a sketch; the browser fetches all once the user points at them or zooms
        in.
        """
        whole = self.tiles
        tiles = whole if ask_at is None else whole.sketch
        size = {"rows": whole.rows, "columns": whole.columns, "block": list(whole.block)}
        first = [0, *accumulate(tiles.n_heads)]
        groups = [
            {
                "title": title,
                "heads": [
                    {
                        "layer": layer,
                        "head": head,
                        "tile": first[layer] + head,
                        "description": self.descriptions.get((layer, head), ""),
                        "badge": self.badges.get((layer, head), ""),
                    }
                    for layer, head in heads
                ],
            }
            for title, heads in self.groups
        ]
        return self.plain("title alt is_table badge_name zoom") | {
            "rows": tiles.rows,
            "columns": tiles.columns,
            "block": list(tiles.block),
            "tiles": base64.b64encode(tiles.packed).decode("ascii"),
            "numbers": None if ask_at is None or tiles is whole else self.asked(ask_at),
            "whole": None if tiles is whole else size,
            "groups": groups,
            "current": None if self.current is None else list(self.current),
        }
