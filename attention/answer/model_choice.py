"""The choice of layer and head, and the progress of loading a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attention.answer import state
from attention.answer.lines import Line
from attention.core.messages import message
from attention.models import ModelInfo
from attention.models.store import Progress
from attention.page.parameters import Parameter
from attention.page.settings import MAIN, OfPane


def add_place(
    line: Line,
    info: ModelInfo,
    layer: int,
    head: int,
    pane: OfPane = MAIN,
    *,
    is_one: bool = False,
    with_layer: bool = True,
    with_head: bool = True,
) -> None:
    """Add the choice of layer and head of a pane's model.

    With ``is_one``, choosing either writes both into the link.
    """
    offered = (
        (with_layer, message("Layer"), pane.layer, info.n_layers, layer),
        (with_head, message("Head"), pane.head, info.n_heads, head),
    )
    for is_there, label, parameter, count, value in offered:
        if not is_there:
            continue
        names = [message("{number} of {count}", number=number, count=count) for number in range(1, count + 1)]
        take = (
            partial(_take_both, state.current().model, parameter, ((pane.layer, layer), (pane.head, head)))
            if is_one
            else None
        )
        line.list(parameter, label, range(count), names, value=value, take=take)


def _take_both(
    model: str, chosen: Parameter[int | None], place: Sequence[tuple[Parameter[int | None], int]], value: int | None
) -> None:
    # Ignore a place chosen in a previous model.
    if state.current().model != model:
        return
    state.set_all([(parameter, value if parameter is chosen else shown) for parameter, shown in place])


def how_far(info: ModelInfo, progress: Progress) -> str:
    """Return the progress of fetching or converting a model."""
    if progress.unit == "bytes":
        done, total = (f"{count / 1e6:.0f}" for count in (progress.n_done, progress.n_total))
        return message("Fetching {name}: {done} of {total} MB", name=info.name, done=done, total=total)
    told = f"{progress.n_done:,} of {progress.n_total:,} {progress.unit}"
    return message("Converting {name}: {told}", name=info.name, told=told)
