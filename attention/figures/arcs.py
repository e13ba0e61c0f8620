"""One head's weights as arcs over a sentence, from the token in focus to every token it attends to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.trace import Token
from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.format import number
from attention.figures.tokens import numbers_of_words, title_of

# Up to this many tokens, all rows are sent, so that pointing at a word shows its arcs at once.
_MOST_ROWS = 48
# Smaller weights have neither an arc nor a number.
_LEAST = 0.005


@dataclass(frozen=True, slots=True)
class Arcs(Drawn):
    """The weights of one head, with the position of the token in focus.

    ``matrix`` names the matrix in which a weight opens; if it is empty, weights cannot be opened. While the arcs
    ``wait`` for a guess, no weight is sent. Slim arcs lie in one line above another picture and show only the row in
    focus. ``written`` replaces the weights under the words, and ``unit`` says what the numbers are. ``told`` is HTML
    about each row.
    """

    component: ClassVar[str] = "arcs"
    acts: ClassVar[tuple[str, ...]] = ("choose", "open")

    tokens: tuple[Token, ...]
    weights: Float[Array, "T T"] = field(repr=False)
    focus: int
    matrix: str
    label: str
    alt: str
    wait: bool = False
    is_slim: bool = False
    written: tuple[str, ...] | None = None
    unit: str = ""
    told: tuple[str, ...] = ()

    def said(self, act: str, value: object) -> Parts | None:
        """Return the pressed token, or the matrix cell of the pressed weight."""
        if act == "choose":
            return {"word": str(value)} if is_index(value, len(self.tokens)) else None
        if act != "open" or not self.matrix or not isinstance(value, list) or len(value) != 2:
            return None
        query, key = value
        if not (is_index(query, len(self.tokens)) and is_index(key, len(self.tokens))):
            return None
        return {"word": str(query), "cell": f"{self.matrix}-{query}-{key}"}

    def payload(self) -> dict[str, Any]:
        """Return the component's data; each row is a list of (weight, text) pairs."""
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
        return self.plain("label alt focus") | {
            "words": words,
            "rows": shown,
            "unit": "" if self.wait else self.unit,
            "told": {row: self.told[int(row)] for row in shown} if self.told else {},
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
