"""Settings of the app's process; importing the package sets none."""

from __future__ import annotations

import gc
import os

_SETTINGS = {
    # Read by NumPy and torch on import. With several threads per run, simultaneous users would wait for one another
    # far longer than they compute.
    "OMP_NUM_THREADS": "1",
    # Models are read from disk only: otherwise a missing file would mean waiting 23 seconds for a hub. The process that
    # fetches models has its own environment (attention.models.hub_download).
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # Transformers' warnings would fill the server's log.
    "TRANSFORMERS_VERBOSITY": "error",
}
# How many objects are created before the youngest are collected; of all objects, after a hundred times as many. A full
# collection stops every request, in a class of a thousand for 150 ms.
_COLLECTED_AFTER = 10_000


def prepare() -> None:
    """Set the variables that NumPy, torch and transformers read on import, unless set, and collect garbage less often.

    Child processes inherit the variables.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_COLLECTED_AFTER)
