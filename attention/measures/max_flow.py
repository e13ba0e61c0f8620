"""The largest flow through a network of pipes (Dinic 1970).

networkx has it as well, and finds the same, but takes several times as long for the layers of a model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["largest_flow"]

# What is left of a pipe's capacity below this is rounding.
_NOTHING = 1e-12


def largest_flow(pipes: Sequence[Mapping[int, float]], start: int, end: int) -> float:
    """Return how much can flow from one node to another.

    ``pipes[a][b]`` is how much the pipe from node a to node b lets through, from 0.
    """
    # What can still be sent from a node to another; what was sent can be taken back.
    rest = [dict(row) for row in pipes]
    for node, row in enumerate(pipes):
        for other in row:
            rest[other].setdefault(node, 0.0)
    total = 0.0
    while end in (levels := _levels(rest, start)):
        untried = [list(row) for row in rest]
        while path := _path(rest, levels, untried, start, end):
            width = min(rest[one][other] for one, other in pairwise(path))
            for one, other in pairwise(path):
                rest[one][other] -= width
                rest[other][one] += width
            total += width
    return total


def _levels(rest: Sequence[Mapping[int, float]], start: int) -> dict[int, int]:
    """Return how many pipes away from the start each node is that can be reached."""
    levels, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other, width in rest[node].items():
            if width > _NOTHING and other not in levels:
                levels[other] = levels[node] + 1
                queue.append(other)
    return levels


def _path(
    rest: Sequence[Mapping[int, float]], levels: Mapping[int, int], untried: Sequence[list[int]], start: int, end: int
) -> list[int]:
    """Return a shortest path with room on it, empty if there is none left; what leads nowhere is not tried again."""
    path = [start]
    while path and path[-1] != end:
        node = path[-1]
        if not untried[node]:
            path.pop()
            if path:
                untried[path[-1]].pop()
            continue
        other = untried[node][-1]
        if rest[node][other] > _NOTHING and levels.get(other) == levels[node] + 1:
            path.append(other)
        else:
            untried[node].pop()
    return path
