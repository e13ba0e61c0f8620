"""Words that can be reordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attention.figures.drawn import Drawn, Parts, is_index


def written(order: Sequence[int]) -> str:
    """Return an order as it stands in a link: counted from 1, without the fixed points at its end.

    >>> written((2, 0, 1, 3)), written((0, 1))
    ('3-1-2', '')
    """
    last = max((place for place, each in enumerate(order) if place != each), default=-1)
    return "-".join(str(each + 1) for each in order[: last + 1])


@dataclass(frozen=True, slots=True)
class OrderStrip(Drawn):
    """Words that can be reordered: ``order[i]`` is the index of the word at place i.

    ``places`` are the words' positions in the sentence; ``focus`` is the index of the word in focus.
    """

    component: ClassVar[str] = "order"
    acts: ClassVar[tuple[str, ...]] = ("arrange",)

    label: str
    names: tuple[str, ...]
    places: tuple[int, ...]
    order: tuple[int, ...]
    focus: int | None = None

    def said(self, act: str, value: object) -> Parts | None:
        """Return the order if it is a permutation."""
        if act != "arrange" or not isinstance(value, list) or len(value) != len(self.names):
            return None
        if not all(is_index(each, len(self.names)) for each in value) or len(set(value)) < len(self.names):
            return None
        return {"order": written(value)}

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        return self.plain("label names places order focus") | {
            "selectable": False,
        }
