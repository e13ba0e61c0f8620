"""The lab Where am I? Attention without positions, and six ways to encode the order of the words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from attention.core.messages import message
from attention.lesson.head_context import HeadContext
from attention.page.blocks import Blocks, Notice
from attention.page.labs.base import Lab, Runs
from attention.page.labs.positions.added import own_table, sinusoids, table
from attention.page.labs.positions.biases import alibi, own_numbers, t5
from attention.page.labs.positions.knobs import ORDER, PLACED, SCHEME, SHIFT, SLOPE, Scheme
from attention.page.labs.positions.shuffled import guess, shuffled, still_as_typed
from attention.page.labs.positions.turning import turning, turns
from attention.page.parameters import Parameter, Values
from attention.page.settings import HEAD, LAYER, MASK, WORD

__all__ = ["LAB", "ORDER", "PLACED", "SCHEME", "SHIFT", "SLOPE"]


def _content(values: Values, scene: HeadContext | None, _: Runs | None) -> Blocks:
    """Return the blocks of the chosen scheme, with the choice below the heading."""
    return _shown(values, scene, _CONTENTS)


def _before(values: Values, scene: HeadContext | None, _: Runs | None) -> Blocks:
    """Return the same blocks without those about shuffled words without positions."""
    return _shown(values, scene, {**_CONTENTS, "none": still_as_typed})


def _shown(values: Values, scene: HeadContext | None, contents: _Contents) -> Blocks:
    if scene is not None and scene.other_keys:
        return (Notice(scene.other_keys),)
    return contents[values[SCHEME]](values, scene)


_Contents = Mapping[Scheme, Callable[[Values, HeadContext | None], Blocks]]
_CONTENTS: _Contents = MappingProxyType(
    {"none": shuffled, "sinusoids": sinusoids, "table": table, "rotary": turning, "alibi": alibi, "t5": t5}
)


def _idle(values: Values, scene: HeadContext) -> tuple[Parameter[Any], ...]:
    """Return the idle choices: some schemes concern only the first layer, some no layer or head."""
    scheme = values[SCHEME]
    if scheme == "none":
        return (LAYER,)
    if (scheme == "rotary" and not turns(scene)) or (scheme == "table" and own_table(scene) is None):
        return (WORD, LAYER, HEAD)
    if scheme == "t5" and own_numbers(scene) is not None:
        # T5's layers share the bias.
        return (LAYER,)
    return () if scheme in ("alibi", "rotary") else (LAYER, HEAD)


LAB = Lab(
    address="positions",
    title=message("Where am I?"),
    purpose=message("What happens to attention when words are shuffled, and how models encode order."),
    knobs=(SCHEME, ORDER, PLACED, SHIFT, SLOPE),
    guess=guess,
    content=_content,
    before=_before,
    leaves_out=(MASK,),
    idle=_idle,
    sheet="embed",
    minutes=10,
)
