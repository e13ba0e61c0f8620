"""Scaled dot-product and multi-head attention, recorded on real models and shown step by step."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["__version__"]

__version__ = "0.6.0"


def _draw_in_notebooks() -> None:
    """Have IPython, where it runs, show a trace as small heatmaps of all heads; what draws them is imported then."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type_by_name("attention.core.trace", "Trace", _drawn)


def _drawn(trace: Any) -> str:
    from attention import show

    return show.of_run(trace).data


_draw_in_notebooks()
