"""The server's singletons, made on first use."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import TypeVar

from cachetools import cached

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Cache a function's result; while one thread computes it, others wait."""
    return cached({}, condition=Condition())(make)
