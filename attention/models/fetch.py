"""The process that talks to the hub: only here may the libraries go online, and it can be killed at any moment.

It reads requests from standard input and writes answers to standard output, as lines of JSON; the last answer to a
request is ``done``. ``attention.models.hub_line`` is the other end.
"""

from __future__ import annotations

import errno
import json
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
from huggingface_hub import HfApi, get_session, hf_hub_url, hf_raise_for_status
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from attention.core.messages import message

# The shortest interval between progress reports.
_REPORT_SECONDS = 0.1
# How long to wait where the hub does not say.
_WAIT_SECONDS = 300
_UNREACHABLE = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


def main() -> None:
    """Answer requests until the input ends."""
    for ended in (signal.SIGINT, signal.SIGPIPE):
        # The server has ended: exit silently.
        signal.signal(ended, signal.SIG_DFL)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = _write_file if "name" in request else _look_up
            answer(**request)
        except (HfHubHTTPError, httpx2.TransportError) as error:
            _reply(problem=_failure(error, request["model_id"], request["patience"]))
        except OSError as error:
            _reply(errno=error.errno or errno.EIO)
        except Exception:  # any answer is possible: it comes from outside
            _reply(
                problem=message(
                    "The answer about {model_id} is not from a hub. Check the hub's address.",
                    model_id=request["model_id"],
                )
            )


def _look_up(model_id: str, patience: float) -> None:
    """Report a model's commit, licence and files; files without a known size are left out."""
    info = HfApi(token=False).model_info(model_id, files_metadata=True, timeout=patience)
    validate_repo_id(info.id)
    if re.fullmatch("[0-9a-f]{40}", str(info.sha)) is None:
        raise ValueError("no commit")
    files = {
        each.rfilename: (each.size, each.lfs and each.lfs.sha256, each.blob_id)
        for each in info.siblings or ()
        if type(each.size) is int and each.size >= 0
    }
    licence = str(getattr(info.card_data, "license", None) or "")
    _reply(model_id=info.id, revision=info.sha, licence=licence, files=files, done=True)


def _write_file(model_id: str, patience: float, revision: str, name: str, size: int, folder: str) -> None:
    """Download a file and report the progress; excess bytes are cut off."""
    url = hf_hub_url(model_id, name, revision=revision)
    n_bytes, reported_at = 0, 0.0
    headers = {"Accept-Encoding": "identity"}
    with (
        get_session().stream("GET", url, headers=headers, timeout=patience) as response,
        (Path(folder) / name).open("wb") as file,
    ):
        hf_raise_for_status(response)
        # As it arrives: waiting for chunks of a fixed size would make a slow connection look like a silent one.
        for chunk in response.iter_raw():
            n_bytes += file.write(chunk)
            if n_bytes > size:
                break
            if time.monotonic() - reported_at > _REPORT_SECONDS:
                _reply(n_bytes=n_bytes)
                reported_at = time.monotonic()
    _reply(n_bytes=n_bytes, done=True)


def _reply(**answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _failure(error: Exception, model_id: str, patience: float) -> str:
    if isinstance(error, HfHubHTTPError):
        return _refusal(error.response, model_id)
    if isinstance(error, _UNREACHABLE):
        return message("Can't reach the hub. Check the network.")
    if isinstance(error, httpx2.TimeoutException):
        return message(
            "No answer from the hub about {model_id} for {seconds} seconds. Try again later.",
            seconds=f"{patience:.0f}",
            model_id=model_id,
        )
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
