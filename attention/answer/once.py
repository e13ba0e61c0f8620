"""What this server has one of, for all requests: it is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import TypeVar

from cachetools import cached

__all__ = ["once"]

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Keep what a function returns; of threads that ask at once, one makes it, and the others wait."""
    return cached({}, condition=Condition())(make)
