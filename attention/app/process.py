"""What the app wants of its whole process; a notebook or a program that imports the package keeps its own."""

from __future__ import annotations

import os

__all__ = ["prepare"]

_SETTINGS = {
    # Read by the libraries under NumPy and torch when they are imported. With several threads for each run,
    # simultaneous users would wait for one another many times longer than they compute.
    "OMP_NUM_THREADS": "1",
    # Models are read from disk only: otherwise a missing file would mean waiting 23 seconds for a hub. The one process
    # that fetches models, when the user asks for one, has its own environment: attention.models.hub_line.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # What transformers warns of would fill the server's log.
    "TRANSFORMERS_VERBOSITY": "error",
}


def prepare() -> None:
    """Set what NumPy, torch and transformers read when they are imported; an owner's own settings stay.

    Processes that the app starts inherit it.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
