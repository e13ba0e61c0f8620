"""A row of buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attention.figures.click_schema import Parts, is_index


@dataclass(frozen=True, slots=True)
class Button:
    """A button with its label, tooltip and the link parameters it sets; None disables it."""

    text: str
    title: str = ""
    parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TouchButtons:
    """A press on one of several buttons."""

    parts: tuple[Mapping[str, str] | None, ...]
    acts: tuple[str, ...] = ("press",)

    def said(self, act: str, value: object) -> Parts | None:
        """Return the parameters that the pressed button sets."""
        parts = self.parts[value] if act in self.acts and is_index(value, len(self.parts)) else None
        return None if parts is None else dict(parts)


@dataclass(frozen=True, slots=True)
class Buttons:
    """A labelled row of buttons."""

    component: ClassVar[str] = "buttons"

    label: str
    row: tuple[Button, ...]

    @property
    def touch(self) -> TouchButtons:
        """The presses accepted."""
        return TouchButtons(tuple(button.parts for button in self.row))

    def payload(self) -> dict[str, Any]:
        """Return the component's data."""
        buttons = [{"text": each.text, "title": each.title, "isOff": each.parts is None} for each in self.row]
        return {"label": self.label, "buttons": buttons}
