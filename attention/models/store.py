"""Folders that are made once and kept: written beside their place and then renamed, so that one that is there is whole.

Two processes that make the same folder at once do the work twice, and the second one finds the first one's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from attention.models.files import opened

__all__ = [
    "CACHE_DIR_VARIABLE",
    "STALE_SECONDS",
    "TEMPORARY",
    "OnProgress",
    "Progress",
    "cache_dir",
    "new_folder",
    "put_in_place",
    "sha256",
]

CACHE_DIR_VARIABLE = "ATTENTION_CACHE_DIR"
# What an interrupted process has left is cleared away by a later one.
STALE_SECONDS = 3600
TEMPORARY = ".making-"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far some work is: so many of so many, in a unit such as "tensors"."""

    n_done: int
    n_total: int
    unit: str

    @property
    def share(self) -> float:
        """The part that is done, from 0 to 1."""
        return min(1.0, self.n_done / self.n_total) if self.n_total else 0.0


OnProgress = Callable[[Progress], None]


def cache_dir() -> Path:
    """Return the folder for what is made once: ``ATTENTION_CACHE_DIR``, or one in the user's own cache."""
    chosen = os.environ.get(CACHE_DIR_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "step-by-step-attention"


@contextmanager
def new_folder(target: Path, needed_bytes: int) -> Iterator[Path]:
    """Give an empty folder to write what shall be kept at ``target``; what is still in it in the end is removed.

    Raises:
        OSError: there is not enough room, or nothing can be written there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear_stale(target.parent)
    _check_room(target.parent, needed_bytes)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=target.parent, ignore_cleanup_errors=True) as made:
        new = Path(made) / target.name
        new.mkdir()
        yield new


def put_in_place(new: Path, target: Path, is_whole: Callable[[], bool]) -> None:
    """Rename the finished folder, unless somebody else was first with one as good.

    Raises:
        OSError: it cannot be renamed.
    """
    if is_whole():
        return
    if target.exists():
        # Moved away at once, and deleted with the temporary folder.
        target.replace(new.with_name("old"))
    try:
        new.replace(target)
    except OSError:
        if not is_whole():
            raise


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file, empty if it cannot be read or is none."""
    try:
        with opened(file) as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _check_room(folder: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise OSError(f"{free / 2**20:,.0f} MiB are free there, and {needed_bytes / 2**20:,.0f} MiB are needed")


def _clear_stale(folder: Path) -> None:
    for left in folder.glob(f"{TEMPORARY}*"):
        if time.time() - _last_touched(left) > STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _last_touched(folder: Path) -> float:
    """Return when anything in a folder was written last: a large file may take longer than the folder looks old."""
    return max((path.lstat().st_mtime for path in (folder, *folder.rglob("*"))), default=0.0)
