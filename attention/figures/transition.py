"""Animated transitions: the picture before, and the operation that changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.format import full_colour, packed, shades


class Sent(NamedTuple):
    """Data of a transition: how the picture differed before, and the operands."""

    before: dict[str, Any]
    parts: dict[str, Any]


class Turn(Protocol):
    """How a picture arose; ``told`` describes in words what stayed and what changed.

    With ``needs_cells``, it is not animated on a matrix drawn as one image.
    """

    needs_cells: ClassVar[bool]

    @property
    def operation(self) -> str:
        """The kind of operation."""

    @property
    def told(self) -> str:
        """What stayed and what changed."""

    @property
    def came_from(self) -> str:
        """The name of the picture in the previous step that it came from; empty if there is none."""

    def sent(self) -> Sent:
        """Return the data of the animation."""


def said(turn: Turn, *, is_seen: bool, why_not: str = "") -> dict[str, Any]:
    """Return a transition's description and, if it is animated, its data; ``why_not`` explains why it is not."""
    before, parts = turn.sent() if is_seen else (None, None)
    return {
        "operation": turn.operation,
        "told": " ".join(filter(None, (turn.told, why_not))),
        "cameFrom": turn.came_from,
        "before": before,
        "parts": parts,
    }


@dataclass(frozen=True, slots=True)
class Products:
    """A row of scores from one query and all keys: q·k is the sum of the products of their dimensions.

    ``row`` is the query's, out of ``n_queries``. ``biases`` are the position biases, one for each key. If the matrix is
    drawn as one image, the row of scores ``after`` is sent too.
    """

    operation: ClassVar[str] = "products"
    came_from: ClassVar[str] = "keys"
    needs_cells: ClassVar[bool] = True

    told: str
    title: str
    row: int
    n_queries: int
    query: Float[Array, " D"]
    keys: Float[Array, "K D"]
    biases: Float[Array, " K"] | None = None
    after: Float[Array, "1 K"] | None = None

    def sent(self) -> Sent:
        """Return the vectors as float32 in base64."""
        parts: dict[str, Any] = {
            "row": self.row,
            "query": packed(self.query),
            "keys": packed(self.keys),
            "biases": None if self.biases is None else packed(self.biases),
        }
        if self.after is not None:
            parts |= {"onlyRow": self.row, "after": packed(self.after)}
        shape = f"{self.n_queries}×{self.query.size} · {self.keys.shape[0]}×{self.keys.shape[1]}"
        return Sent({"name": "", "title": self.title, "shape": shape}, parts)


@dataclass(frozen=True, slots=True)
class Joining:
    """The heads' outputs for one token, concatenated, projected by W_O and added to the residual stream.

    ``head`` is the one in focus. ``change`` is None without W_O, ``stream`` if it was not recorded.
    """

    operation: ClassVar[str] = "join"
    came_from: ClassVar[str] = "contributions"
    needs_cells: ClassVar[bool] = False

    told: str
    title: str
    head: int
    n_heads: int
    joined: Float[Array, " C"]
    change: Float[Array, " M"] | None = None
    stream: Float[Array, " M"] | None = None

    def sent(self) -> Sent:
        """Return the vectors as shades, with one colour scale for all summands, and their norms."""
        change, stream = self.change, self.stream
        summed = None if change is None or stream is None else stream + change
        added = [each for each in (change, stream, summed) if each is not None]
        limit = full_colour(np.stack(added)) if added else 1.0
        parts = {
            "head": self.head,
            "count": self.n_heads,
            "joined": _shaded(self.joined, full_colour(self.joined[None])),
            "change": _shaded(change, limit),
            "stream": _shaded(stream, limit),
            "lengths": [0.0 if each is None else float(np.linalg.norm(each)) for each in (change, stream, summed)],
        }
        return Sent({"name": "", "title": self.title}, parts)


@dataclass(frozen=True, slots=True)
class Split:
    """A text split into tokens: each token's piece of the text with the white space before it ("", " " or a newline).

    A token that is not part of the text has no piece.
    """

    operation: ClassVar[str] = "split"
    came_from: ClassVar[str] = ""
    needs_cells: ClassVar[bool] = False

    told: str
    title: str
    pieces: tuple[tuple[str, str] | None, ...]

    def sent(self) -> Sent:
        """Return the pieces."""
        return Sent({"name": "", "title": self.title}, {"pieces": self.pieces})


def _shaded(numbers: Float[Array, " N"] | None, limit: float) -> dict[str, Any] | None:
    return None if numbers is None else {"shades": shades(numbers, limit, is_signed=True), "limit": limit}
