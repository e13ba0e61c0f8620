"""A few combinations instead of all."""

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

__all__ = ["pairwise"]


def pairwise(*values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations in which every two values from different iterables occur together."""
    candidates = [tuple(enumerate(each)) for each in product(*values)]
    left = {pair for candidate in candidates for pair in combinations(candidate, 2)}
    chosen = []
    while left:
        best = max(candidates, key=lambda candidate: sum(pair in left for pair in combinations(candidate, 2)))
        left -= set(combinations(best, 2))
        chosen.append(tuple(value for _, value in best))
    return chosen
