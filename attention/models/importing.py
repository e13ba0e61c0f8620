"""transformers, in a server whose threads may import it at the same time."""

from importlib import import_module
from typing import Any


def import_transformers() -> Any:
    """Return transformers, wholly imported, also while another thread is importing it.

    On import, transformers puts another module in its own place. A ``from transformers import …`` in a second thread
    waits until that is done, and then looks in the module that was replaced: an ImportError. ``import_module`` returns
    the module that took the place; a ``from`` after it finds that, too.
    """
    return import_module("transformers")
