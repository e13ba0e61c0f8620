"""Waiting for what happens elsewhere, in a thread or in another process."""

import time

__all__ = ["until"]


def until(what, patience=120):
    """Wait until something is true; a machine that is busy with something else is no fault of it."""
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)
