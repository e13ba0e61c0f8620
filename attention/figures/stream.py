"""One token's residual stream through the whole model: what each layer adds to it, and the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.messages import message
from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import full_colour, number, packed, shades

# The parts that can be opened: the input, a layer or one of its branches, and the output.
Part = Literal["embedding", "block", "attention", "feed-forward", "output"]
PARTS: tuple[Part, ...] = get_args(Part)
_OF_LAYERS: tuple[Part, ...] = ("block", "attention", "feed-forward")

# The most numbers of a vector that are drawn.
MAX_CELLS = 48


def sampled(width: int) -> range:
    """Return the dimensions of a vector that are drawn: evenly spaced, at most ``MAX_CELLS``.

    >>> sampled(16), sampled(384)
    (range(0, 16), range(0, 384, 8))
    """
    return range(0, width, -(-width // MAX_CELLS))


@dataclass(frozen=True, slots=True)
class Norms:
    """The names of a branch's norms: on its input, on its output, and after the sum; empty if absent."""

    before: str = ""
    of: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """The norms of what one kind of branch adds in each layer, a note for each layer, its norms' names, its reach."""

    title: str
    lengths: Float[Array, " L"]
    notes: tuple[str, ...]
    norms: Norms = Norms()
    reach: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """One end of the stream: its name and lines of text."""

    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stream(Drawn):
    """One token's vector before the first layer and after each, with what attention and feed-forward add.

    ``layer`` is unfolded, counted from 0, and ``part`` is open. What the feed-forward networks add is not sent while it
    ``is_covered``, because it would reveal the answer to a question. ``between`` is the vector's norm in the unfolded
    layer between the two additions, after attention's norm if there is one.
    """

    component: ClassVar[str] = "stream"
    acts: ClassVar[tuple[str, ...]] = ("open",)

    label: str
    states: Float[Array, "S M"]
    attention: Added
    feed_forward: Added | None
    begins: End
    ends: End
    layer: int
    part: Part
    is_covered: bool = False
    between: float | None = None

    def said(self, act: str, value: object) -> Parts | None:
        """Return the part and, if it has one, its layer as in a link."""
        if act != "open" or not isinstance(value, dict):
            return None
        part, layer = value.get("part"), value.get("layer")
        if part not in PARTS or set(value) - {"part", "layer"}:
            return None
        if part not in _OF_LAYERS:
            return {"shown": part} if layer is None else None
        return {"shown": part, "layer": str(layer + 1)} if is_index(layer, len(self.states) - 1) else None

    @property
    def longest(self) -> float:
        """The largest norm that a branch adds and that is not covered; it gets the longest bar."""
        return max(float(added.lengths.max()) for added in self._branches() if not self._hides(added))

    @property
    def limit(self) -> float:
        """The magnitude from which strips have the full colour."""
        return full_colour(self.strips)

    @property
    def strips(self) -> Float[Array, "S C"]:
        """The drawn numbers of each vector, divided by its norm."""
        drawn = self.states[:, list(sampled(self.states.shape[1]))]
        lengths = np.linalg.norm(self.states, axis=-1, keepdims=True)
        return np.divide(drawn, lengths, out=np.zeros_like(drawn), where=lengths > 0)

    def payload(self) -> dict[str, Any]:
        """Return the component's data; vectors are sent as shades."""
        lengths, strips = np.linalg.norm(self.states, axis=-1), self.strips
        return self.plain("label layer part") | {
            "lengths": packed(lengths),
            "between": self.between,
            "strips": shades(strips, self.limit, is_signed=True),
            "attention": self._plain(self.attention),
            "feedForward": None if self.feed_forward is None else self._plain(self.feed_forward),
            "begins": {"title": self.begins.title, "lines": list(self.begins.lines)},
            "ends": {"title": self.ends.title, "lines": list(self.ends.lines)},
            "told": self._legend(max(float(lengths.max()), self.between or 0.0)),
            "longest": number(self.longest),
        }

    def _legend(self, longest: float) -> list[str]:
        width, n_shown = self.states.shape[1], self.strips.shape[1]
        return [
            message("strip: {n} of the vector’s {width} numbers, divided by its norm", n=n_shown, width=width),
            message("full colour from ±{limit}", limit=number(self.limit)),
            message("line: thickness shows the norm, up to {length}", length=number(longest)),
        ]

    def _branches(self) -> Sequence[Added]:
        return [self.attention] if self.feed_forward is None else [self.attention, self.feed_forward]

    def _hides(self, added: Added) -> bool:
        return self.is_covered and added is self.feed_forward

    def _plain(self, added: Added) -> dict[str, Any]:
        norms = {"before": added.norms.before, "of": added.norms.of, "after": added.norms.after}
        always = {"title": added.title, "reach": added.reach, "norms": norms}
        if self._hides(added):
            return {**always, "shares": [], "lengths": [], "notes": []}
        return {
            **always,
            "shares": [round(float(each), 4) for each in added.lengths / (self.longest or 1.0)],
            "lengths": [number(float(each)) for each in added.lengths],
            "notes": list(added.notes),
        }
