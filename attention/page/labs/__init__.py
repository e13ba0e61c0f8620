"""Labs: short pages on one idea, with controls. A new one is a module and a name in ``LABS``.

A lab declares its controls and returns blocks; the computation lives in a module that does not depend on labs.
"""

from __future__ import annotations

from attention.page.labs import (
    cost,
    explain,
    masks,
    one_or_many,
    positions,
    train_one,
    vector_moves,
    whole,
    why_divide,
    write,
)
from attention.page.labs.base import Lab

__all__ = ["LABS", "Lab"]

LABS: tuple[Lab, ...] = (
    why_divide.LAB,
    masks.LAB,
    positions.LAB,
    one_or_many.LAB,
    vector_moves.LAB,
    cost.LAB,
    train_one.LAB,
    write.LAB,
    explain.LAB,
    whole.LAB,
)
