"""Ports of this machine."""

import os
import random
import socket

# Linux gives connections ports from 32768 on: one of those could be taken before the server that gets it listens.
# Browsers refuse a few below 11000.
_FIRST, _LAST = 11_000, 32_000
# Each process of a parallel run has ports of its own.
_MOST_PROCESSES = 64
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _MOST_PROCESSES


def free_port() -> int:
    """Return a free loopback port."""
    while True:
        port = random.SystemRandom().randrange(_FIRST + _PROCESS, _LAST, _MOST_PROCESSES)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def is_listening(port: int) -> bool:
    """Return whether a server is listening at a loopback port."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
