"""The jobs of this server, and what a page does about them: it starts one, stops it, and follows it."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention.jobs import Job, Jobs, Status
from attention.pages import OF_LABS, Page

__all__ = ["REFRESH_SECONDS", "follows", "jobs", "press", "status"]

# How often a page shows what has changed.
REFRESH_SECONDS = 0.6


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """Return the jobs of this server."""
    return Jobs()


def status(job: Job) -> Status:
    """Return what is known of a job."""
    return jobs().status(job, _session())


def follows(page: Page) -> bool:
    """Tell whether a page has to be drawn again and again, for its job goes on."""
    return any(found is page and lab.job is not None and status(lab.job).now for lab, found in OF_LABS.items())


def press(job: Job, arguments: tuple[str, ...], wish: object) -> None:
    """Start a job, or stop it; a browser can say anything."""
    if wish == "start":
        jobs().start(job, arguments, _session())
    elif wish == "stop":
        jobs().stop(job, _session())


def _session() -> str:
    """Return the id of the session whose page this is; "" of none, such as a file's."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id
