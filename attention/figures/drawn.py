"""What every figure has: data for its component, and presses as link parameters.

A browser can send anything, so a figure checks a press against what can be pressed.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeGuard

import numpy as np

from attention.figures.format import packed

# Link parameters; None removes a parameter from the link.
Parts = dict[str, str | None]


class Drawn(ABC):
    """A figure: the name of the component that draws it, its plain data, and the presses on it."""

    __slots__ = ()
    component: ClassVar[str]
    # The kinds of press, as named by the component's script.
    acts: ClassVar[tuple[str, ...]] = ()

    def said(self, act: str, value: object) -> Parts | None:  # noqa: ARG002 - by default, nothing can be pressed
        """Return the link parameters of a press; None if it is invalid."""
        return None

    @abstractmethod
    def payload(self) -> dict[str, Any]:
        """Return the browser's data; a ``selectable`` entry is off."""

    def plain(self, names: str) -> dict[str, Any]:
        """Return some attributes as the component calls them (``rowAxis``), arrays as in ``packed``."""
        found = {name: getattr(self, name) for name in names.split()}
        return {
            re.sub("_([a-z])", lambda match: match[1].upper(), name): packed(value)
            if isinstance(value, np.ndarray)
            else list(value)
            if isinstance(value, tuple)
            else value
            for name, value in found.items()
        }


def is_index(value: object, size: int) -> TypeGuard[int]:
    """Return whether a value sent by a browser is an index below ``size``."""
    return type(value) is int and 0 <= value < size


def indices(value: object, size: int) -> tuple[int, ...] | None:
    """Return a list of indices sorted and without duplicates; None if the value is invalid."""
    if not isinstance(value, list) or not all(is_index(index, size) for index in value):
        return None
    return tuple(sorted(set(value)))
