"""The parameters of the lab about positions, and its opening blocks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from attention.core.messages import message
from attention.page.blocks import Blocks, Heading, Section, Setting
from attention.page.parameters import FLAG, Choice, Order, Parameter, Values

Scheme = Literal["none", "sinusoids", "table", "rotary", "alibi", "t5"]

MOST_MOVED = 24  # words that can be reordered: each is dragged, and all are in the link

SHIFTS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
N_SLOPES = 8

_SCHEMES: Mapping[Scheme, str] = MappingProxyType(
    {
        "none": message("nothing"),
        "sinusoids": message("sinusoids"),
        "table": message("a table"),
        "rotary": message("rotation"),
        "alibi": message("ALiBi"),
        "t5": message("T5"),
    }
)
SCHEME: Parameter[Scheme] = Parameter("scheme", Choice(lambda _: tuple(_SCHEMES)), "none")
# None is the reverse order.
ORDER: Parameter[tuple[int, ...] | None] = Parameter(
    "order", Order(MOST_MOVED), None, otherwise=message("The words are shown in reverse.")
)
PLACED: Parameter[bool] = Parameter("placed", FLAG, False)
SHIFT: Parameter[int] = Parameter("shift", Choice(lambda _: SHIFTS, written=str), 8)
SLOPE: Parameter[int] = Parameter("slope", Choice(lambda _: tuple(range(1, N_SLOPES + 1)), written=str), 4)


def opened(heading: str, values: Values, *knobs: Setting) -> Blocks:
    """Return the heading and the controls, the choice of the scheme first."""
    scheme = Setting(SCHEME, message("Positional encoding"), values[SCHEME], _SCHEMES)
    return (Heading(heading), Section("knobs", (scheme, *knobs), is_line=True))
