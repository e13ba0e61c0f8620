"""Labs: short pages on which one turns a knob and sees what it is for. A new one is a module, and a name in ``LABS``.

A lab declares what can be set and returns blocks; what it computes lives in a module of its own, which knows no lab.
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
