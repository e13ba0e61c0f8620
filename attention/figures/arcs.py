"""One head's weights as arcs over a sentence: from the token in focus to all that it attends to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.figures.click_schema import Parts, is_index
from attention.figures.format import number
from attention.figures.tokens import numbers_of_words, title_of

__all__ = ["Arcs"]

# Up to so many tokens, the rows of all are sent, so that pointing at a word shows its arcs at once.
_MOST_ROWS = 48
# A smaller weight has neither an arc nor a number.
_LEAST = 0.005


@dataclass(frozen=True, slots=True)
class TouchArcs:
    """A token, or the number under one: the weight that the token in focus gives it."""

    matrix: str
    count: int
    acts: tuple[str, ...] = ("choose", "open")

    def said(self, act: str, value: object) -> Parts | None:
        """Return the token that was pressed, or the cell of its weight with the token that gives it."""
        if act == "choose":
            return {"word": str(value)} if is_index(value, self.count) else None
        if act != "open" or not self.matrix or not isinstance(value, list) or len(value) != 2:
            return None
        query, key = value
        if not (is_index(query, self.count) and is_index(key, self.count)):
            return None
        return {"word": str(query), "cell": f"{self.matrix}-{query}-{key}"}


@dataclass(frozen=True, slots=True)
class Arcs:
    """The weights of one head, and the position of the token in focus, whose row is drawn.

    ``matrix`` is the name in a link of the matrix whose numbers stand under the words; if it is empty, no number can be
    opened. Where the arcs ``wait`` for a guess, no weight leaves the server. Slim arcs lie in one line above another
    picture and show the row in focus alone. What is ``written`` stands under the words in place of the weights.
    """

    component: ClassVar[str] = "arcs"

    tokens: tuple[Token, ...]
    weights: Float[Array, "T T"] = field(repr=False)
    focus: int
    matrix: str
    label: str
    alt: str
    wait: bool = False
    is_slim: bool = False
    written: tuple[str, ...] | None = None

    @property
    def touch(self) -> TouchArcs:
        """A token, or the number under one."""
        return TouchArcs(self.matrix, len(self.tokens))

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw it, with nothing to select; a row is weights and what is written."""
        words = [
            {
                "text": token.text,
                "title": title_of(token),
                "isSpecial": token.is_special or token.is_padding,
                "group": group,
            }
            for token, group in zip(self.tokens, numbers_of_words(self.tokens), strict=True)
        ]
        has_all = len(self.tokens) <= _MOST_ROWS and not self.is_slim
        rows = range(len(self.tokens)) if has_all else [self.focus]
        shown = {} if self.wait else {str(row): self._row(row) for row in rows}
        return {
            "label": self.label,
            "alt": self.alt,
            "words": words,
            "focus": self.focus,
            "rows": shown,
            "opens": bool(self.matrix),
            "slim": self.is_slim,
            "selectable": False,
        }

    def _row(self, row: int) -> list[list[Any]]:
        weights = [round(float(weight), 4) for weight in self.weights[row]]
        written = self.written
        if written is None:
            written = tuple(number(float(weight)) if weight >= _LEAST else "" for weight in self.weights[row])
        return [list(each) for each in zip(weights, written, strict=True)]
