"""The process that talks to the hub: only here may the libraries go online, and it can be killed at any moment.

``look_up ID`` asks for a model's commit, licence and files; ``download ID COMMIT FOLDER NAME ...`` puts files into a
folder. Either writes one line of JSON: the answer, or what went wrong. ``attention.models.hub_download`` starts it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from threading import Thread
from typing import Any

import httpx2
from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError

from attention.core.messages import message

# How long to wait where the hub does not say.
_WAIT_SECONDS = 300
_UNREACHABLE = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


def main() -> None:
    """Carry out one request."""
    Thread(target=_end_with_the_server, daemon=True).start()
    action, model_id, *rest = sys.argv[1:]
    try:
        answer = _look_up(model_id) if action == "look_up" else _download(model_id, *rest)
    except Exception as error:  # any answer is possible: it comes from outside
        answer = _failure(error, model_id)
    sys.stdout.write(json.dumps(answer))


def _end_with_the_server() -> None:
    """Wait until the server closes its end of the input, which it does when it ends, however it ends."""
    # Not buffered: at the end, Python would wait for the lock of a buffer that is being read.
    os.read(sys.stdin.fileno(), 1)
    signal.raise_signal(signal.SIGKILL)


def _look_up(model_id: str) -> dict[str, Any]:
    """Return a model's ID, commit, licence, and the sizes of its files; files without a known size are left out."""
    info = HfApi(token=False).model_info(model_id, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    sizes = {each.rfilename: each.size for each in info.siblings or () if each.size is not None}
    licence = str(getattr(info.card_data, "license", None) or "")
    return {"model_id": info.id, "revision": info.sha, "licence": licence, "sizes": sizes}


def _download(model_id: str, revision: str, folder: str, *names: str) -> dict[str, Any]:
    """Download files and compare them with the hub's checksums; return the names of those that differ."""
    snapshot_download(model_id, revision=revision, local_dir=folder, allow_patterns=list(names), token=False)
    found = HfApi(token=False).verify_repo_checksums(model_id, revision=revision, local_dir=folder)
    return {"damaged": [each["path"] for each in found.mismatches]}


def _failure(error: Exception, model_id: str) -> dict[str, Any]:
    for cause in _causes(error):
        if isinstance(cause, HfHubHTTPError):
            return {"problem": _refusal(cause.response, model_id)}
        if isinstance(cause, httpx2.TransportError):
            return {"problem": _silence(cause, model_id)}
        if isinstance(cause, OSError) and cause.errno is not None:
            return {"errno": cause.errno}
    if isinstance(error, OSError):
        # A file of another length than was announced.
        return {"problem": message("The hub broke off while sending {model_id}. Try again.", model_id=model_id)}
    told = message("The answer about {model_id} is not from a hub. Check the hub's address.", model_id=model_id)
    return {"problem": told}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it: the library hides a failed connection behind a missing file."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _silence(error: httpx2.TransportError, model_id: str) -> str:
    if isinstance(error, _UNREACHABLE):
        return message("Can't reach the hub. Check the network.")
    if isinstance(error, httpx2.TimeoutException):
        return message("The hub does not answer about {model_id}. Try again later.", model_id=model_id)
    return message("The hub broke off while sending {model_id}. Try again.", model_id=model_id)


def _refusal(response: httpx2.Response, model_id: str) -> str:
    status = response.status_code
    if status in (401, 403, 404):
        return message(
            "The hub has no public model {model_id} ({status}). Check the spelling; private and gated models can't "
            "be fetched.",
            model_id=model_id,
            status=status,
        )
    if status == 429:
        wait = response.headers.get("Retry-After", "")
        seconds = int(wait) if wait.isdecimal() else _WAIT_SECONDS
        return message("Too many requests to the hub (429). Try again in {seconds} s.", seconds=seconds)
    if status >= 500:
        return message("The hub failed ({status}). Try again later.", status=status)
    return message("The hub's answer about {model_id} is unusable ({status}).", model_id=model_id, status=status)


if __name__ == "__main__":
    main()
