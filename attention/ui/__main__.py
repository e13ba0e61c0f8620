"""``python -m attention.ui``: start the server, and import what a real model needs before somebody asks for one."""

from __future__ import annotations

import gc
import importlib
import sys
from threading import Thread

from streamlit.web import cli

__all__ = ["main"]

# What takes longest at the start: torch and transformers come with it.
SLOWEST_IMPORT = "attention.models.huggingface"


def main() -> None:
    """Serve app.py in the current folder; the command line takes the options of ``streamlit run``."""
    Thread(target=_warm_up, name="warm-up", daemon=True).start()
    cli.main(["run", "app.py", *sys.argv[1:]], prog_name="attention")


def _warm_up() -> None:
    """Import while the server opens and a browser loads the page; who needs a model sooner waits for the rest."""
    gc.disable()
    try:
        importlib.import_module(SLOWEST_IMPORT)
    finally:
        gc.freeze()
        gc.enable()


if __name__ == "__main__":
    main()
