"""``python -m attention.app``: start the server, and import the models' libraries in the background.

    python -m attention.app --model=/a/folder --server.port=8501

``--model`` adds a model from a folder in ``from_pretrained`` layout, and may be repeated. If the package is installed,
the command ``step-by-step-attention`` does the same.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import runpy
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from attention.app.process import prepare
from attention.core.paths import APP

# The slowest import at startup: torch and transformers.
SLOWEST_IMPORT = "attention.models.huggingface"


def main() -> None:
    """Serve the app until Ctrl+C. All options of ``streamlit run`` are accepted."""
    prepare()
    options = take_models(sys.argv[1:])
    # Not a daemon: a process that ends amid torch's import, as after an unknown option, would abort.
    Thread(target=_warm_up, name="warm-up").start()
    sys.argv = ["streamlit", "run", str(APP / "app.py"), *options]
    # Streamlit's own exit code after Ctrl+C is an error, which make would report.
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    # Like `python -m streamlit run`, but in this process, which warms up sooner.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def take_models(arguments: Sequence[str]) -> list[str]:
    """Add the ``--model`` folders to those in the environment, and return the other options."""
    # Imports NumPy, so only after prepare().
    from attention.models.local import MODEL_DIRS_VARIABLE

    parser = argparse.ArgumentParser(prog="attention", add_help=False, allow_abbrev=False)
    parser.add_argument("--model", action="append", default=[], type=Path)
    found, others = parser.parse_known_args(arguments)
    for folder in found.model:
        if not folder.is_dir():
            parser.error(f"--model={folder}: there is no such folder")
    folders = [os.environ.get(MODEL_DIRS_VARIABLE, ""), *(str(folder.absolute()) for folder in found.model)]
    os.environ[MODEL_DIRS_VARIABLE] = os.pathsep.join(filter(None, folders))
    return others


def _warm_up() -> None:
    """Import while the server starts and a browser loads the page; a page that needs a model earlier waits."""
    gc.disable()
    try:
        importlib.import_module(SLOWEST_IMPORT)
    finally:
        gc.freeze()
        gc.enable()


if __name__ == "__main__":
    main()
