"""Run what is asynchronous in a test."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def complete(work):
    """Run a coroutine to its end and return its result.

    In a thread of its own: a browser's tests, which may have run before, leave an event loop running in this one.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()
