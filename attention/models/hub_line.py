"""Communication with the hub through a process that can be killed at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from typing import Any

from attention.core.messages import message
from attention.core.paths import ROOT

# The longest silence of the hub.
PATIENCE_SECONDS = 4.0
# A slow connection is not an error, but with fewer bytes in this time, a model would take days.
WINDOW_SECONDS, LEAST_BYTES_IN_WINDOW = 30.0, 300_000
# The interval of checks for cancellation.
_POLL_SECONDS = 0.05
_ENVIRONMENT = {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_VERBOSITY": "error"}
# Never signed in: downloads are available to all users.
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


class HubError(Exception):
    """A model cannot be downloaded; the message is for the page."""


class Cancelled(Exception):  # noqa: N818 - not an error
    """The user cancelled the download."""


@contextmanager
def open_line(is_cancelled: Callable[[], bool]) -> Iterator[Line]:
    """Start the process that talks to the hub, and kill it at the end."""
    # An empty variable counts as unset; the library would take it for the hub's address.
    own = {name: value for name, value in os.environ.items() if value and name not in _TOKENS}
    with subprocess.Popen(
        [sys.executable, "-m", "attention.models.fetch"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=own | _ENVIRONMENT,
    ) as process:
        try:
            yield Line(process, is_cancelled)
        finally:
            process.kill()


@dataclass(slots=True)
class Line:
    """Sends requests to the hub in turn; raises ``HubError`` without a valid answer, ``Cancelled`` if cancelled."""

    _process: subprocess.Popen[bytes]
    _is_cancelled: Callable[[], bool]
    _buffer: bytes = b""

    def look_up(self, model_id: str) -> dict[str, Any]:
        """Return ``model_id``, ``revision``, ``licence`` and ``files``: the size and checksums of each."""
        return next(self._ask(model_id))

    def fetch(self, model_id: str, revision: str, name: str, size: int, folder: Path) -> Iterator[int]:
        """Download a file and yield the number of bytes so far; raise OSError if it cannot be written."""
        since, n_since = time.monotonic(), 0
        place = str(folder.absolute())
        for answer in self._ask(model_id, revision=revision, name=name, size=size, folder=place):
            n_bytes, now = answer["n_bytes"], time.monotonic()
            if n_bytes - n_since >= LEAST_BYTES_IN_WINDOW:
                since, n_since = now, n_bytes
            elif now - since > WINDOW_SECONDS:
                raise HubError(
                    message(
                        "The hub sends {model_id} too slowly. Try again later.",
                        model_id=model_id,
                    )
                )
            yield n_bytes

    def _ask(self, model_id: str, **request: object) -> Iterator[dict[str, Any]]:
        """Send a request; yield the answers up to the last one."""
        assert self._process.stdin is not None
        asked = json.dumps({"model_id": model_id, "patience": PATIENCE_SECONDS, **request})
        # If the process has ended, reading finds no answer either.
        with suppress(BrokenPipeError):
            self._process.stdin.write(asked.encode() + b"\n")
        is_done = False
        while not is_done:
            answer = json.loads(self._next_line() or "{}")
            if "errno" in answer:
                raise OSError(answer["errno"], os.strerror(answer["errno"]))
            if "problem" in answer or not answer:
                raise HubError(answer.get("problem") or _stopped(model_id))
            is_done = "done" in answer
            yield answer

    def _next_line(self) -> bytes:
        """Return the process's next line; empty if it has ended."""
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            if self._is_cancelled():
                raise Cancelled
            if select([self._process.stdout], [], [], _POLL_SECONDS)[0]:
                heard = os.read(self._process.stdout.fileno(), 2**16)
                if not heard:
                    return b""
                self._buffer += heard
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def _stopped(model_id: str) -> str:
    return message("The download of {model_id} was stopped. Try again.", model_id=model_id)
