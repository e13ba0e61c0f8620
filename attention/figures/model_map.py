"""The map of a model: its input, its layers, one of them unfolded, its output, and the current place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from attention.core.messages import message
from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import shades
from attention.figures.heads import HeadThumb, shrink

# A head's thumbnail is so small that more numbers on a side would be sent but not seen.
MAX_SIDE = 24
# As many shades as can be told apart in a thumbnail; fewer shades compress better.
N_SHADES = 16


@dataclass(frozen=True, slots=True)
class Dot:
    """A step's place in the model: its key, its number from 1, and its name."""

    key: str
    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Box:
    """A branch of the unfolded layer, with its norms.

    ``part`` is its use of attention, empty for a feed-forward network. Only the attention in focus has heads and dots.
    ``head`` is the current head, counted from 0; ``group_size`` heads share keys and values. ``sum_dots`` are at the
    addition after it. If it ``is_fed``, an encoder's output enters it.
    """

    title: str
    part: str = ""
    notes: tuple[str, ...] = ()
    norm_before: str = ""
    norm_after: str = ""
    head_labels: tuple[str, ...] = ()
    head: int | None = None
    group_size: int = 1
    dots: tuple[Dot, ...] = ()
    sum_dots: tuple[Dot, ...] = ()
    is_fed: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A square picture as shades, cut into square patches: ``side`` counts pixels, ``across`` patches."""

    shades: str
    side: int
    across: int


@dataclass(frozen=True, slots=True)
class Column:
    """A stack of layers, from its input up; ``layer``, counted from 0, is unfolded into boxes, if any is.

    A press on a layer leads to the use of attention ``part``. ``picture`` is the input of a model of images. If it
    ``is_fed``, the previous column's output enters each of its layers.
    """

    title: str
    part: str
    n_layers: int
    base: tuple[str, ...]
    top: tuple[str, ...]
    layer: int | None = None
    boxes: tuple[Box, ...] = ()
    base_dots: tuple[Dot, ...] = ()
    entry_dots: tuple[Dot, ...] = ()
    is_fed: bool = False
    picture: Cut | None = None


@dataclass(frozen=True, slots=True)
class ModelMap(Drawn):
    """The stacks of a model side by side, and the current place.

    ``place`` names it briefly, ``here`` in a sentence. ``leads`` maps parts of the model other than attention to a
    label and the parameters of a press. ``heads`` are thumbnails of the unfolded layer's heads; without them, heads are
    numbers.
    """

    component: ClassVar[str] = "model_map"
    acts: ClassVar[tuple[str, ...]] = ("go", "open", "lead")

    columns: tuple[Column, ...]
    layers: Mapping[str, int]
    part: str
    step: str
    steps: tuple[str, ...]
    place: str
    here: str
    leads: Mapping[str, tuple[str, Parts]] = field(default_factory=dict)
    is_open: bool = True
    heads: tuple[HeadThumb, ...] = ()

    def said(self, act: str, value: object) -> Parts | None:
        """Return where a press leads, if it is valid."""
        if act == "open" and isinstance(value, bool):
            return {"map": "1" if value else "0"}
        if act == "lead" and isinstance(value, str) and value in self.leads:
            return self.leads[value][1]
        if act != "go" or not isinstance(value, dict) or not value:
            return None
        part = value.get("part", self.part)
        n_heads = max(len(box.head_labels) for column in self.columns for box in column.boxes)
        checks = {
            "part": isinstance(part, str) and part in self.layers,
            "layer": is_index(value.get("layer", 0), self.layers.get(part, 0) if isinstance(part, str) else 0),
            "head": is_index(value.get("head", 0), n_heads),
            "step": value.get("step", self.steps[0]) in self.steps,
        }
        if not all(checks.values()) or not set(value) <= set(checks):
            return None
        return {name: str(each + 1) if isinstance(each, int) else str(each) for name, each in value.items()}

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        return self.plain("part step place here is_open") | {
            "label": message("Map of the model"),
            "columns": [_as_json(column) for column in self.columns],
            "leads": {name: told for name, (told, _) in self.leads.items()},
            "heads": _thumbnails(self.heads) if self.heads else None,
        }


def _as_json(thing: Any) -> Any:
    """Convert nested dataclasses to dicts; ``asdict`` would copy every number, which is slow."""
    if is_dataclass(thing):
        return {each.name: _as_json(getattr(thing, each.name)) for each in fields(thing)}
    return [_as_json(each) for each in thing] if isinstance(thing, tuple) else thing


def _thumbnails(heads: tuple[HeadThumb, ...]) -> dict[str, Any]:
    small = np.stack([shrink(head.weights, MAX_SIDE) for head in heads])
    return {
        "rows": small.shape[1],
        "columns": small.shape[2],
        "shades": shades(np.round(N_SHADES * small) / N_SHADES, 1, is_signed=False),
        "descriptions": [head.description for head in heads],
    }
