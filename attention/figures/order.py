"""Words whose order can be changed, as the plain data of their component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attention.figures.click_schema import Parts, is_index

__all__ = ["OrderStrip", "written"]


def written(order: Sequence[int]) -> str:
    """Return an order as a link has it: counted from 1, without what stays in its place at the end.

    >>> written((2, 0, 1, 3)), written((0, 1))
    ('3-1-2', '')
    """
    last = max((place for place, each in enumerate(order) if place != each), default=-1)
    return "-".join(str(each + 1) for each in order[: last + 1])


@dataclass(frozen=True, slots=True)
class TouchOrder:
    """Another order of the same things."""

    count: int
    acts: tuple[str, ...] = ("arrange",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the order, if each of the things is in it once."""
        if act not in self.acts or not isinstance(value, list) or len(value) != self.count:
            return None
        if not all(is_index(each, self.count) for each in value) or len(set(value)) < self.count:
            return None
        return {"order": written(value)}


@dataclass(frozen=True, slots=True)
class OrderStrip:
    """Words in an order that can be changed: ``order[i]`` is the index of the one that stands at the i-th place.

    ``places`` are the positions at which they were typed, which are shown with them; ``focus`` is the index of the one
    that the page speaks of.
    """

    component: ClassVar[str] = "order"

    label: str
    names: tuple[str, ...]
    places: tuple[int, ...]
    order: tuple[int, ...]
    focus: int | None = None

    @property
    def touch(self) -> TouchOrder:
        """Another order."""
        return TouchOrder(len(self.names))

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw them, with nothing to move."""
        return {
            "label": self.label,
            "names": list(self.names),
            "places": list(self.places),
            "order": list(self.order),
            "focus": self.focus,
            "selectable": False,
        }
