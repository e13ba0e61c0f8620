"""What the pages about many sentences have in common: no sentence to type, and work that takes time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.blocks import Proven
from attention.content.pane import missing, not_for, proof_line
from attention.lesson.proof import Proof
from attention.lesson.prose import lesson, word
from attention.messages import message
from attention.models import Model, ModelInfo, ModelUnavailableError
from attention.pages import Page
from attention.study import Collector
from attention.trace import Difference
from attention.ui import drawing, markup, state
from attention.ui.cache import settle
from attention.ui.downloads import GoneError
from attention.ui.gate import aside
from attention.ui.masthead import masthead, notices
from attention.ui.model_choice import load as load_or_reason
from attention.ui.study_cache import Job, Snapshot, find_job
from attention.view import View

__all__ = ["begin", "carry_on", "finish", "load", "result_again"]

C = TypeVar("C", bound=Collector)
R = TypeVar("R")

# For each job that this session has cancelled or continued: how often it has done so, and whether it is cancelled now.
_PRESSED = "pressed"


def begin(page: Page) -> View:
    """Set the page up and draw its header: the navigation, the notices and the title."""
    view = masthead(page, reads=False)
    notices()
    st.title(page.title, anchor=False)
    return view


def load(info: ModelInfo) -> Model | None:
    """Load the model; if it cannot be loaded, or reads something else, say why and how to put it right."""
    if not state.current().page.is_for(info):
        markup.notice(not_for(info, message("works on English sentences of its own")))
        return None
    if info.build.of_heads:
        markup.prose(lesson(info.build.of_heads, model=word(info.name)))
    model = load_or_reason(info)
    if not isinstance(model, ModelUnavailableError):
        return model
    drawing.draw(missing(model), state.current())
    return None


def carry_on(job: Job[C], make: Callable[[C], R]) -> Snapshot[R]:
    """Continue a job to its end, unless this session has cancelled it, and return its result so far.

    A bar shows the progress. Anything that the user does meanwhile runs the page again, which continues where this
    run stopped.
    """
    # All controls have been drawn, and what follows may take long.
    state.close_page()
    pressed: dict[str, tuple[int, bool]] = st.session_state.setdefault(_PRESSED, {})
    n_presses, is_cancelled = pressed.get(job.key, (0, False))
    if not is_cancelled and not job.is_over():
        place = st.empty()
        with place.container():
            left, right = _row()
            bar = left.progress(0.0, _how_far(job))
            number = n_presses + 1
            right.button(
                message("Cancel"), key=f"cancel_{number}", on_click=_press, args=(pressed, job.key, number, True)
            )
        try:
            while not job.is_over():
                bar.progress((job.run.n_done + job.run.n_unreadable) / job.run.n_texts, _how_far(job))
                with aside():
                    job.advance()
        finally:
            # A press ends this run anywhere.
            job.rest()
        place.empty()
    found = job.snapshot(make)
    if job.failure is not None:
        markup.notice(job.failure)
    elif found.n_done + found.n_unreadable < found.n_texts:
        left, right = _row()
        with left:
            markup.notice(
                message(
                    "Cancelled: what you see is from {n_done} of {n_texts} sentences.",
                    n_done=f"{found.n_done:,}",
                    n_texts=f"{found.n_texts:,}",
                )
            )
        number = n_presses + 1
        right.button(message("Go on"), key=f"go_on_{number}", on_click=_press, args=(pressed, job.key, number, False))
    return found


def result_again(job: str, make: Callable[[C], R]) -> R:
    """Return the result of a job so far, for a file that is requested later.

    Raises:
        GoneError: other jobs have taken its place in memory.
    """
    found = find_job(job)
    if found is None:
        raise GoneError(message("What was measured is no longer in memory: load the page anew."))
    return found.snapshot(make).result


def _row() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Divide a row into a message and a button.

    The browser keeps a button that has just been pressed, because it has the focus, until the next press. Below the new
    button, its disappearance moves nothing; beside it, the next press would hit something else under the pointer.
    """
    left, right = st.columns([8, 1])
    return left, right


def finish(name: str, difference: Difference, largest_row_error: float) -> None:
    """Draw the proof for everything that was run."""
    proof = Proof.of_outputs(difference, largest_row_error)
    view = state.current()
    drawing.draw((Proven((proof_line(view, name, proof),)),), view)
    settle()


def _how_far(job: Job[Any]) -> str:
    return message(
        "{name} reads: {n_done} of {n_texts} sentences",
        name=job.name,
        n_done=f"{job.run.n_done:,}",
        n_texts=f"{job.run.n_texts:,}",
    )


def _press(pressed: dict[str, tuple[int, bool]], key: str, number: int, is_cancelled: bool) -> None:
    """Cancel a job or continue it.

    A run that is interrupted by a press never ends, and Streamlit does not forget the press: it may report it once
    more, and would take the next press of the same button for the same one. So there is a new button for each press,
    and only a newer one counts. This function does not call Streamlit, which could stop it half way.
    """
    if number > pressed.get(key, (0, False))[0]:
        pressed[key] = number, is_cancelled
