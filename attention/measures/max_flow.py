"""Maximum flow through a network (Dinic 1970).

networkx finds the same, but takes several times as long for the layers of a model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

# Smaller residual capacities are rounding.
_NOTHING = 1e-12


def largest_flow(pipes: Sequence[Mapping[int, float]], start: int, end: int) -> float:
    """Return the maximum flow between two nodes; ``pipes[a][b]`` is the capacity from a to b."""
    # The residual network: flow can be cancelled.
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
    """Return each reachable node's distance from the start."""
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
    """Return a shortest augmenting path, or []; dead ends are removed from ``untried``."""
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
