"""The app, with a model that loads only when released: `python -m tests.browser.held_model MODEL PIPE …`.

This way, tests can act during loading on any machine, however fast.
"""

import sys
from pathlib import Path

from attention import models


def main() -> None:
    """Serve the app with the remaining options; MODEL waits until PIPE has been written to and closed."""
    _, held, pipe, *options = sys.argv
    load = models.load

    def load_when_let(model_id, on_progress=None):
        if model_id == held:
            Path(pipe).read_bytes()
        return load(model_id, on_progress)

    models.load = load_when_let
    # Import after replacing the loader.
    from attention.app.__main__ import main as serve

    sys.argv[1:] = options
    serve()


if __name__ == "__main__":
    main()
