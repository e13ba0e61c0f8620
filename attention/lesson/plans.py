"""Lesson plans: the stages of a lesson, each with a view, its minutes, and the class's task."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from attention.core.paths import ASSETS

_FILE = ASSETS / "plans.toml"

PlanName = str
PLAN_NAMES: tuple[PlanName, ...] = ("twenty", "forty-five", "ninety")
# Answer a question, do a search task, or answer ten questions on a sentence of the pupil's choice.
Act = Literal["ask", "find", "own"]


@dataclass(frozen=True, slots=True)
class Part:
    """One stage of a lesson.

    Attributes:
        name: the name of its text, below "plans/".
        page: the address of its page.
        link: the query of that page's link.
        act: the class's task; None if it only watches.
        subject: the name of the ready question or search task; empty for the view's own question.
        minutes: its length.
    """

    name: str
    page: str
    link: str
    act: Act | None
    subject: str
    minutes: int

    @property
    def words(self) -> str:
        """The name of the text with instructions: a heading, and the rest."""
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
        Plan(name, tuple(_part(part, minutes, **parts[part]) for part, minutes in found["plans"][name]))
        for name in PLAN_NAMES
    )


def under_heading(words: str) -> tuple[str, str]:
    """Split a stage's text (HTML) into its heading and the rest."""
    heading, _, rest = words.partition("</h3>")
    return heading.removeprefix("<h3>"), rest


def _part(name: str, minutes: int, page: str, link: str, act: str = "") -> Part:
    kind, _, subject = act.partition(" ")
    return Part(name, page, link, cast(Act, kind) if kind else None, subject, minutes)
