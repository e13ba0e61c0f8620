"""Scaled dot-product and multi-head attention, recorded on real models and shown step by step."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["__version__"]

__version__ = "0.6.0"

# Read by the libraries under NumPy and torch when they are imported. If those used several threads for each run,
# simultaneous users would wait for one another many times longer than they compute; an owner may set another number.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Libraries read from disk only: otherwise a missing file would mean waiting 23 seconds for a hub. The one process that
# fetches models, when the user asks for one, has its own environment: attention.models.hub_line.
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def _draw_in_notebooks() -> None:
    """Have IPython, where it runs, show a trace as small heatmaps of all heads; what draws them is imported then."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type_by_name("attention.core.trace", "Trace", _drawn)


def _drawn(trace: Any) -> str:
    from attention import show

    return show.of_run(trace).data


_draw_in_notebooks()
