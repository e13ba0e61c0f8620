"""Shared by the pages about many sentences: the measurement's progress, and the proof of all runs."""

from __future__ import annotations

from typing import Any

from attention.core.messages import message
from attention.core.trace import Difference
from attention.experiments.measuring import Measured
from attention.lesson.proof import Proof
from attention.lesson.prose import lesson, word
from attention.page.blocks import Blocks, Notice, Progress, Prose
from attention.page.content.pane import Pane, missing, not_for, proof_of
from attention.page.settings import HOLD
from attention.page.view import View


def about(view: View, pane: Pane) -> Blocks:
    """Return a remark on the model's heads, or why they cannot be shown."""
    if not view.page.is_for(pane.info):
        return (Notice(not_for(pane.info)),)
    told = pane.info.build.of_heads
    about = (Prose(lesson(told, model=word(pane.info.name))),) if told else ()
    return (*about, *missing(pane.reason))


def how_far(measured: Measured[Any], *, is_held: bool) -> Blocks:
    """Return a measurement's progress, with a button to cancel or resume; empty once it is done."""
    if measured.failure:
        return (Notice(measured.failure),)
    if measured.is_over:
        return ()
    facts = {"name": measured.name, "n_done": f"{measured.n_done:,}", "n_texts": f"{measured.n_texts:,}"}
    hold, go_on = message("Cancel"), message("Continue")
    if is_held:
        told = message("Cancelled. These results cover {n_done} of {n_texts} sentences.", **facts)
        return (Notice(told), Progress("measuring", HOLD, "", None, go_on, hold))
    told = message("{name} has read {n_done} of {n_texts} sentences", **facts)
    return (Progress("measuring", HOLD, told, measured.share, go_on, hold),)


def proof(view: View, name: str, difference: Difference, largest_row_error: float) -> Blocks:
    """Return the proof for everything that was run."""
    return proof_of(view, [(name, Proof.of_outputs(difference, largest_row_error))])
