"""What a page is: its address, its names, and the parameters of its link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from attention.core.trace import ModelInfo
from attention.page import settings
from attention.page.parameters import Parameter

__all__ = ["Group", "Page"]

Group = Literal["Learn", "Explore", "Labs", "Class"]


def _every(_: ModelInfo) -> bool:
    return True


# Compared by identity: there is one of each.
@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A page: its address (empty for the front page), its title, its group, and its purpose in one sentence.

    ``own`` are the parameters that not every page has. ``is_for`` tells for which models the page makes sense;
    ``matrix`` names the matrix, if any, that only this page draws. The browser's tab shows ``tab``, or the title.
    ``minutes`` is about how long a visitor stays; 0 where that is up to them.
    """

    address: str
    title: str
    group: Group
    purpose: str = field(repr=False)
    own: tuple[Parameter[Any], ...] = field(default=(), repr=False)
    is_for: Callable[[ModelInfo], bool] = field(default=_every, repr=False)
    matrix: str = ""
    tab: str = ""
    minutes: int = 0

    @property
    def name(self) -> str:
        """The address or, where a page needs a name, that of the front page."""
        return self.address or "front"

    @property
    def file(self) -> str:
        """The path of the file that draws it, relative to the project's folder."""
        return f"pages/{self.address}.py" if self.address else "app.py"

    @property
    def parameters(self) -> tuple[Parameter[Any], ...]:
        """All parameters that its link can hold."""
        return (*settings.SHARED, *self.own)
