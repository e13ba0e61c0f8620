"""A user's way through the steps: forward to the last, back to the first, and again."""

from __future__ import annotations

from attention.lesson.steps import STEPS
from attention.lesson.steps.base import Step
from attention.models import get_info
from tests.bench.client import Drawn, PageError, Visitor

# A class's models; the others are measured separately.
MODELS = tuple(map(get_info, ("toy", "minilm-l6")))


class Walk:
    """A visitor's walk along the steps, one press at a time; each must lead to the right step."""

    # The number of presses until the start is reached again.
    length = 2 * (len(STEPS) - 1)

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self._n_presses = 0
        _check(visitor.drawn, self.current)

    @property
    def current(self) -> Step:
        place = self._n_presses % self.length
        return STEPS[min(place, self.length - place)]

    async def step(self) -> Drawn:
        """Go on by one step, and check that it is the one shown."""
        is_forth = self._n_presses % self.length < len(STEPS) - 1
        self._n_presses += 1
        drawn = await self.visitor.go(1 if is_forth else -1)
        _check(drawn, self.current)
        return drawn


def _check(drawn: Drawn, step: Step) -> None:
    wanted = step.heading(None)
    if not any(heading.endswith(wanted) for heading in drawn.headings()):
        raise PageError(f"The page should be at {wanted!r}, and has the headings {drawn.headings()}.")
    if "✗" in drawn.html() or "✓" not in drawn.html():
        raise PageError(f"At {wanted!r}, our numbers are not shown to equal the model's own.")
