"""A row of buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attention.figures.drawn import Drawn, Parts, is_index


@dataclass(frozen=True, slots=True)
class Button:
    """A button with its label, tooltip and the link parameters it sets; None disables it."""

    text: str
    title: str = ""
    parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Buttons(Drawn):
    """A labelled row of buttons."""

    component: ClassVar[str] = "buttons"
    acts: ClassVar[tuple[str, ...]] = ("press",)

    label: str
    row: tuple[Button, ...]

    def said(self, act: str, value: object) -> Parts | None:
        """Return the parameters that the pressed button sets."""
        parts = self.row[value].parts if act == "press" and is_index(value, len(self.row)) else None
        return None if parts is None else dict(parts)

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        buttons = [{"text": each.text, "title": each.title, "isOff": each.parts is None} for each in self.row]
        return {"label": self.label, "buttons": buttons}
