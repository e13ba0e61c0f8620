"""Sweeps over everything, of which quick runs take a sample."""

from collections.abc import Container, Iterable
from typing import Any

import pytest

__all__ = ["sweep"]


def sweep(values: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """Return the values as parameters of a test; all but the quick ones are marked slow."""
    values = list(values)
    assert any(value in quick for value in values), "something of every sweep is quick"
    return [value if value in quick else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
