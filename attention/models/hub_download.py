"""Downloading a model from the hub: checked before its weights come, and put in its place complete or not at all.

``huggingface_hub`` asks and downloads, in a process of its own that can be killed at any moment
(``attention.models.fetch``). The server's owner chooses the hub (``HF_ENDPOINT``) and trusts it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from attention.core.messages import message
from attention.core.paths import ROOT
from attention.models.files import INDEX, MAX_BESIDE_BYTES, SINGLE, in_one_line, read_json
from attention.models.hub import (
    COMPANIONS,
    CONFIG,
    NOT_STATED,
    SHARD,
    Allowed,
    HubError,
    Kept,
    allowed,
    canonical,
    check_id,
    folder_of,
    is_our_own,
    keep,
)
from attention.models.store import OnProgress, Progress, new_folder, sha256

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.msgpack", "*.h5")
# Free space for the file system's own needs.
_MARGIN = 16 * 2**20
# The interval of checks for progress and cancellation.
_POLL_SECONDS = 0.05
# The longest silence of the hub, in seconds.
PATIENCE = 4
# Plain HTTP, and never signed in: downloads are available to all users.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_VERBOSITY": "error",
}
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")

# Called with a model's configuration, its file names and the bytes of its weights.
CheckOffer = Callable[[dict[str, Any], Collection[str], int], None]


class Cancelled(Exception):  # noqa: N818 - not an error
    """The user cancelled the download."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """A model on the hub, at one commit, with the size of each of its files that is needed."""

    model_id: str
    revision: str
    licence: str
    sizes: dict[str, int]

    @property
    def n_bytes(self) -> int:
        return sum(self.sizes.values())

    @property
    def n_weight_bytes(self) -> int:
        return sum(size for name, size in self.sizes.items() if _is_weights(name))


def download(model_id: str, on_progress: OnProgress, is_cancelled: Callable[[], bool], check_offer: CheckOffer) -> Kept:
    """Download a model, check it and put it in its place, complete or not at all.

    Args:
        model_id: its ID on the hub.
        on_progress: called with the number of bytes so far.
        is_cancelled: called several times a second; True ends the download.
        check_offer: called before the weights are downloaded; raises ``HubError`` if the model could not be shown.

    Raises:
        HubError: the model cannot be downloaded; the message is for the page.
        Cancelled: the download was cancelled.
    """
    limits = allowed()
    model_id = check_id(model_id)
    _check_allowed(model_id, limits)
    offer = _offer(_ask(is_cancelled, "look_up", model_id), model_id)
    # The hub accepts former names, so the limits are checked again with the current one.
    _check_allowed(offer.model_id, limits)
    _check_size(offer, limits)
    target = folder_of(offer.model_id)
    with _explained(target), new_folder(target, offer.n_bytes + _MARGIN) as new:
        came = new.with_name("download")
        _fetch([CONFIG], offer, came, on_progress, is_cancelled)
        check_offer(_read_config(offer, came), list(offer.sizes), offer.n_weight_bytes)
        _fetch(list(offer.sizes), offer, came, on_progress, is_cancelled)
        for name in offer.sizes:
            (came / name).replace(new / name)
        _check_weights(offer, new)
        found = Kept(
            offer.model_id, offer.revision, offer.licence, {name: sha256(new / name) for name in offer.sizes}, target
        )
        keep(found, new)
    return found


def _ask(is_cancelled: Callable[[], bool], *request: str, on_wait: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Return the hub's answer to one request, or raise what went wrong."""
    # An empty variable counts as unset; the library would take it for the hub's address.
    own = {name: value for name, value in os.environ.items() if value and name not in _TOKENS}
    patience = {"HF_HUB_ETAG_TIMEOUT": str(PATIENCE), "HF_HUB_DOWNLOAD_TIMEOUT": str(PATIENCE)}
    command = [sys.executable, "-m", "attention.models.fetch", *request]
    with (
        TemporaryFile() as said,
        # Its input is never written to: it ends when the server does.
        subprocess.Popen(  # noqa: S603 - the project's own module, and arguments that have been checked
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=said, env=own | _ENVIRONMENT | patience
        ) as process,
    ):
        try:
            while process.poll() is None:
                if is_cancelled():
                    raise Cancelled
                on_wait()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_SECONDS)
        finally:
            process.kill()
        said.seek(0)
        answer: dict[str, Any] = json.loads(said.read() or "{}")
    if "errno" in answer:
        raise OSError(answer["errno"], os.strerror(answer["errno"]))
    if "problem" in answer or not answer:
        stopped = message("The download of {model_id} was stopped. Try again.", model_id=request[1])
        raise HubError(answer.get("problem", stopped))
    return answer


def _fetch(
    names: list[str], offer: _Offer, folder: Path, on_progress: OnProgress, is_cancelled: Callable[[], bool]
) -> None:
    n_done = 0

    def tell() -> None:
        nonlocal n_done
        # A file that is renamed meanwhile may be missed.
        n_done = max(n_done, min(_n_bytes(folder), offer.n_bytes))
        on_progress(Progress(n_done, offer.n_bytes, "bytes"))

    request = ("download", offer.model_id, offer.revision, str(folder.absolute()), *names)
    for name in _ask(is_cancelled, *request, on_wait=tell)["damaged"]:
        raise HubError(
            message("The {file} of {model_id} arrived damaged. Try again later.", file=name, model_id=offer.model_id)
        )
    tell()


def _n_bytes(folder: Path) -> int:
    """Return the bytes of a folder in which another process writes."""
    total = 0
    for path in folder.rglob("*"):
        # Files get their names when they are complete.
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _is_weights(name: str) -> bool:
    return name.endswith(".safetensors")


def _check_allowed(model_id: str, limits: Allowed) -> None:
    if is_our_own(model_id):
        raise HubError(
            message(
                "{model_id} comes with this project and is not fetched from the hub.",
                model_id=model_id,
            )
        )
    if model_id not in limits:
        raise HubError(message("This server's owner does not allow fetching {model_id}.", model_id=model_id))


def _offer(found: dict[str, Any], asked: str) -> _Offer:
    names = _chosen(asked, found["sizes"])
    licence = in_one_line(found["licence"])[:60] or NOT_STATED
    return _Offer(
        canonical(found["model_id"]), found["revision"], licence, {name: found["sizes"][name] for name in names}
    )


def _chosen(model_id: str, files: Collection[str]) -> list[str]:
    shards = [name for name in files if SHARD.fullmatch(name)]
    if SINGLE in files:
        weights = [SINGLE]
    elif INDEX in files and shards:
        weights = [INDEX, *sorted(shards)]
    elif any(fnmatch(name, pattern) for name in files for pattern in _PICKLES):
        raise HubError(
            message(
                "{model_id} has only pickle files, which can run code when opened. Choose a model with safetensors "
                "weights.",
                model_id=model_id,
            )
        )
    else:
        raise HubError(message("{model_id} has no safetensors weights. Choose another model.", model_id=model_id))
    if CONFIG not in files:
        raise HubError(
            message(
                "{model_id} has no {file}, so it is not a transformers model.",
                model_id=model_id,
                file=CONFIG,
            )
        )
    return [name for name in (*COMPANIONS, *weights) if name in files]


def _check_size(offer: _Offer, limits: Allowed) -> None:
    if offer.n_bytes > limits.max_bytes:
        raise HubError(
            message(
                "{model_id} has {size} MB; this server fetches at most {most} MB.",
                model_id=offer.model_id,
                size=f"{offer.n_bytes / 1e6:,.0f}",
                most=f"{limits.max_bytes / 1e6:,.0f}",
            )
        )
    for name, size in offer.sizes.items():
        if not _is_weights(name) and size > MAX_BESIDE_BYTES:
            raise HubError(
                message(
                    "The {file} of {model_id} has {size} MB; only weights may exceed {most} MB.",
                    file=name,
                    model_id=offer.model_id,
                    size=f"{size / 1e6:,.0f}",
                    most=f"{MAX_BESIDE_BYTES / 1e6:,.0f}",
                )
            )


def _read_config(offer: _Offer, folder: Path) -> dict[str, Any]:
    try:
        return read_json(folder / CONFIG)
    except ValueError:
        raise HubError(message("The {file} of {model_id} is damaged.", file=CONFIG, model_id=offer.model_id)) from None


def _check_weights(offer: _Offer, folder: Path) -> None:
    """Open the weights, which verifies that the files are valid, complete safetensors."""
    from safetensors import SafetensorError, safe_open

    names = offer.sizes
    try:
        for name in names:
            if _is_weights(name):
                with safe_open(folder / name, framework="np"):
                    pass
        if INDEX in names:
            named = set(read_json(folder / INDEX)["weight_map"].values())
            missing = sorted(map(str, named - names.keys()))
            if missing:
                raise HubError(
                    message(
                        "Some weights of {model_id} are missing: {file}.",
                        model_id=offer.model_id,
                        file=in_one_line(missing[0]),
                    )
                )
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise HubError(
            message("The weights of {model_id} are not safetensors, despite their name.", model_id=offer.model_id)
        ) from None


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise HubError(
            message(
                "Couldn't write to {folder}: {reason}.",
                folder=str(target.parent),
                reason=reason,
            )
        ) from None
