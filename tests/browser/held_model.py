"""The app, with a model that is not loaded before somebody lets it: `python -m tests.browser.held_model MODEL PIPE …`.

What is done while a model is being loaded is then done in that time on any machine, however fast it is.
"""

import sys
from pathlib import Path

from attention import models


def main() -> None:
    """Serve the app with the options that follow; MODEL waits until the named PIPE has been written to and closed."""
    _, held, pipe, *options = sys.argv
    load = models.load

    def load_when_let(model_id, on_progress=None):
        if model_id == held:
            Path(pipe).read_bytes()
        return load(model_id, on_progress)

    models.load = load_when_let
    # Takes the function above where it would have taken the other.
    from attention.app.__main__ import main as serve

    sys.argv[1:] = options
    serve()


if __name__ == "__main__":
    main()
