"""The token strip: one chip for each token, with the pieces of a word grouped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from attention.core.messages import message
from attention.core.trace import Token
from attention.core.words import CONTINUES
from attention.figures.drawn import Drawn, Parts, is_index
from attention.figures.transition import Split, said
from attention.measures.segments import groups


@dataclass(frozen=True, slots=True)
class TokenStrip(Drawn):
    """Tokens to choose from, with the position of the one in focus.

    ``titles`` replace the tokens' default tooltips. ``change`` animates the split of the text into these tokens.
    """

    component: ClassVar[str] = "tokens"
    acts: ClassVar[tuple[str, ...]] = ("choose",)

    tokens: tuple[Token, ...]
    focus: int | None
    label: str = "Tokens"
    titles: tuple[str, ...] | None = None
    change: Split | None = None

    def said(self, act: str, value: object) -> Parts | None:
        """Return the position of the pressed token."""
        return {"word": str(value)} if act == "choose" and is_index(value, len(self.tokens)) else None

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        titles = [title_of(token) for token in self.tokens] if self.titles is None else self.titles
        sentences = {start: name for name, start in groups(self.tokens)}
        chips = [
            {
                "text": token.text,
                "position": token.position,
                # Patches, and words the toy does not know, have no ID.
                "id": None if token.token_id < 0 else token.token_id,
                "kind": "padding" if token.is_padding else "special" if token.is_special else "word",
                "group": group,
                "title": title,
                "sentence": sentences.get(token.position),
            }
            for token, group, title in zip(self.tokens, numbers_of_words(self.tokens), titles, strict=True)
        ]
        change = None if self.change is None else said(self.change, is_seen=True)
        return {"label": self.label, "chips": chips, "focus": self.focus, "change": change, "selectable": False}


def title_of(token: Token) -> str:
    """Describe a token: its text, kind, position and ID."""
    what = [message("position {position}", position=token.position)]
    if token.is_padding or token.is_special:
        what = [message("padding") if token.is_padding else message("special token, not typed"), *what]
    if token.text.startswith(CONTINUES):
        what.append(message("## continues the word before it"))
    if token.token_id >= 0:
        what.append(message("id {number}", number=token.token_id))
    return f"{token.text}: {', '.join(what)}"


def numbers_of_words(tokens: Sequence[Token]) -> list[int]:
    """Number the words: adjacent pieces of one word in one segment share a number."""
    numbers = [0] if tokens else []
    for before, token in pairwise(tokens):
        is_same = token.word is not None and (token.word, token.segment) == (before.word, before.segment)
        numbers.append(numbers[-1] + (not is_same))
    return numbers
