"""How a picture came to be, as the plain data of the stage: what was there before, and what the picture is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.figures.format import full_colour, packed, shades

__all__ = ["Joining", "Products", "Sent", "Split", "Turn", "said"]


class Sent(NamedTuple):
    """What a browser needs to show a turn: how the picture's own data differed before, and what the turn is made of."""

    before: dict[str, Any]
    parts: dict[str, Any]


class Turn(Protocol):
    """How a picture came to be; ``told`` says in words what was kept and what was changed.

    A turn that ``needs_cells`` is not shown of a matrix that is drawn as one image.
    """

    needs_cells: ClassVar[bool]

    @property
    def operation(self) -> str:
        """The kind of turn it is."""

    @property
    def told(self) -> str:
        """What was kept and what was changed."""

    @property
    def came_from(self) -> str:
        """The name of the picture of the step before that it came from; empty if there is none."""

    def sent(self) -> Sent:
        """Return what a browser needs to show it."""


def said(turn: Turn, *, is_seen: bool, why_not: str = "") -> dict[str, Any]:
    """Return what the browser says of a turn and, if it is seen, what that takes; ``why_not`` says why it is not."""
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
    """How a row of scores comes from one query and all keys: q·k is the sum of the products of their dimensions.

    ``row`` is that of the query, one of ``n_queries``. ``biases``, one for each key, are added to the products, if the
    model has them. Of a matrix that is drawn as one image, the row of scores ``after`` is sent, too.
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
    """How the heads' outputs for one token, side by side, become what is added to the residual stream.

    ``head`` is the one that was looked at, of ``n_heads``. Without W_O there is no ``change``; the ``stream`` may not
    have been recorded.
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
        """Return the vectors in shades, with one scale of colours for all that are added, and how long these are."""
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
    """How a text becomes tokens: what of it each of them is, and what stands before that, "", " " or a new line.

    A token that is none of the text has no piece.
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
