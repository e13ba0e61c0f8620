"""The real app in a separate process, on a free port of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 60.0
# For this machine only.
LOCAL = (sys.executable, "-m", "attention.app", "--server.port=PORT", "--server.address=127.0.0.1")


@dataclass(frozen=True, slots=True)
class AppServer:
    """A running app: its address, process, and log file."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def printed(self) -> str:
        """Return what the server has printed so far."""
        return self.log.read_text("utf-8", errors="replace")


@contextmanager
def serve(
    log: Path,
    environment: Mapping[str, str] | None = None,
    port: int | None = None,
    command: Sequence[str] = LOCAL,
    base: str = "",
    folder: Path = ROOT,
) -> Iterator[AppServer]:
    """Start the app, wait until it is healthy, and stop it at the end.

    It runs in ``folder``, on a free port unless one is given, which replaces PORT in the command. ``base`` is the base
    path that the command sets.

    Raises:
        RuntimeError: it ended or was not healthy in time; the message has its output.
    """
    port = free_port() if port is None else port
    with log.open("wb") as output:
        process = subprocess.Popen(
            [word.replace("PORT", str(port)) for word in command],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = AppServer(f"http://127.0.0.1:{port}{base}", process, log)
    try:
        _wait_until_healthy(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(server: AppServer) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            # The only way to learn that a server is listening is to ask again.
            time.sleep(0.05)
    raise RuntimeError(f"the app did not start:\n{server.printed()}")
