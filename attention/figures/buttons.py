"""Buttons in a row as the plain data of their component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attention.figures.click_schema import Parts, is_index

__all__ = ["Button", "Buttons"]


@dataclass(frozen=True, slots=True)
class Button:
    """A button: its label, its tooltip, and what it sets; it sets nothing if it is off."""

    text: str
    title: str = ""
    parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TouchButtons:
    """One of several buttons, each with what it sets."""

    parts: tuple[Mapping[str, str] | None, ...]
    acts: tuple[str, ...] = ("press",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return what the button that was pressed sets."""
        parts = self.parts[value] if act in self.acts and is_index(value, len(self.parts)) else None
        return None if parts is None else dict(parts)


@dataclass(frozen=True, slots=True)
class Buttons:
    """Buttons in a row, and a label for the whole row."""

    component: ClassVar[str] = "buttons"

    label: str
    row: tuple[Button, ...]

    @property
    def touch(self) -> TouchButtons:
        """A button: what it sets."""
        return TouchButtons(tuple(button.parts for button in self.row))

    def payload(self) -> dict[str, Any]:
        """Return what the browser needs to draw them."""
        buttons = [{"text": each.text, "title": each.title, "isOff": each.parts is None} for each in self.row]
        return {"label": self.label, "buttons": buttons}
