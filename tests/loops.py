"""Run coroutines in tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def complete(work):
    """Run a coroutine to its end and return its result.

    It runs in a separate thread: browser tests may have left an event loop running in this one.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()
