"""What a page offers to begin with, for each kind of thing that a model reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attention.trace import Reads

__all__ = ["DIGITS", "EXAMPLES"]

_ASSETS = Path(__file__).parents[1] / "assets"


def _lines(name: str) -> tuple[str, ...]:
    return tuple((_ASSETS / name).read_text("utf-8").splitlines())


# Pictures of digits that no model was trained on, each with what its writer meant.
DIGITS: Mapping[str, str] = {picture: digit for digit, picture in map(str.split, _lines("digits.txt"))}

# The first of each kind is what is read where nobody has chosen anything.
EXAMPLES: Mapping[Reads, tuple[str, ...]] = {
    "text": _lines("examples.txt"),
    "french": _lines("examples-french.txt"),
    "picture": tuple(DIGITS),
}
