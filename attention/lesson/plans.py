"""Lesson plans: the views to show a class, in order, and the minutes for each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from attention.core.paths import ASSETS

__all__ = ["PLAN_NAMES", "Part", "Plan", "PlanName", "plans"]

_FILE = ASSETS / "plans.toml"

PlanName = str
PLAN_NAMES: tuple[PlanName, ...] = ("twenty", "forty-five", "ninety")


@dataclass(frozen=True, slots=True)
class Part:
    """One view of a lesson: its page and link, its minutes, and whether the class is asked a question about it."""

    name: str
    page: str
    link: str
    asks: bool
    minutes: int

    @property
    def words(self) -> str:
        """The name of the text with what to say."""
        return f"plans/{self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A lesson: its name and its parts, in order."""

    name: PlanName
    parts: tuple[Part, ...]

    @property
    def minutes(self) -> int:
        """The lesson's length."""
        return sum(part.minutes for part in self.parts)

    @property
    def words(self) -> str:
        """The name of the text that says whom the lesson is for."""
        return f"plans/{self.name}"


@cache
def plans() -> tuple[Plan, ...]:
    """Return all lesson plans, the shortest first."""
    found = tomllib.loads(_FILE.read_text("utf-8"))
    parts = found["parts"]
    return tuple(
        Plan(name, tuple(Part(part, minutes=minutes, **parts[part]) for part, minutes in found["plans"][name]))
        for name in PLAN_NAMES
    )
