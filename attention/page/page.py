"""A page's address, names, and parameters of its link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from attention.core.trace import ModelInfo
from attention.page import settings
from attention.page.parameters import Parameter, every_model

Group = Literal["Learn", "Explore", "Labs", "Class"]


# Each page is a singleton, compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A page: its address (empty for the front page), its title, its group, and its purpose in one sentence.

    ``own`` are the page's specific parameters. ``is_for`` returns whether the page makes sense for a model;
    ``matrix`` names a matrix that only this page draws. ``tab`` replaces the title in the browser's tab. ``minutes`` is
    a visit's usual length; 0 if open-ended.
    """

    address: str
    title: str
    group: Group
    purpose: str = field(repr=False)
    own: tuple[Parameter[Any], ...] = field(default=(), repr=False)
    is_for: Callable[[ModelInfo], bool] = field(default=every_model, repr=False)
    matrix: str = ""
    tab: str = ""
    minutes: int = 0

    @property
    def name(self) -> str:
        """The address; "front" for the front page."""
        return self.address or "front"

    @property
    def file(self) -> str:
        """The path of the file that draws it, relative to the project's folder."""
        return f"pages/{self.address}.py" if self.address else "app.py"

    @property
    def parameters(self) -> tuple[Parameter[Any], ...]:
        """All parameters that its link can hold."""
        return (*settings.SHARED, *self.own)
