"""Attention in transformers models, recorded number by number and shown step by step.

    import attention

    trace = attention.load("minilm-l6").trace("The cat sat on the mat")      # a bundled model, a folder, a hub model
    trace = attention.trace(model, tokenizer, "The cat sat on the mat")      # a model that you have in memory

    trace.weights                      # (layers, heads, queries, keys)
    trace[2, 8].scores                 # every step of one head
    attention.show.head_view(trace)    # lines between tokens, in a notebook

Layers, heads and tokens are counted from 0. Importing this changes nothing in your process.

>>> import attention
>>> trace = attention.load("toy").trace("the cat sat")
>>> trace
<Trace of 'the cat sat' in Toy: 3 tokens, 1 × 3 heads>
>>> trace.weights.shape
(1, 3, 3, 3)
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention import models, show
    from attention.core.interventions import Ablate, CutEdge, Patch
    from attention.core.trace import Trace
    from attention.models.library import load, trace

__all__ = ["Ablate", "CutEdge", "Patch", "Trace", "__version__", "load", "models", "show", "trace"]

__version__ = "0.6.0"

# The module of each name, imported on first use.
_MODULES = {
    "Ablate": "attention.core.interventions",
    "CutEdge": "attention.core.interventions",
    "Patch": "attention.core.interventions",
    "Trace": "attention.core.trace",
    "load": "attention.models.library",
    "trace": "attention.models.library",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, "__doc__", "__name__"]


def _draw_in_notebooks() -> None:
    """In IPython, show a trace as small heatmaps of all heads; the drawing code is imported only then."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type_by_name("attention.core.trace", "Trace", _drawn)


def _drawn(trace: Any) -> str:
    from attention import show

    return show.of_run(trace).data


_draw_in_notebooks()
