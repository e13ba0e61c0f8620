"""Wait for other threads and processes."""

import time

__all__ = ["until"]


def until(what, patience=120):
    """Wait until something is true; patient, because the machine may be busy."""
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)
