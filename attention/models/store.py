"""Folders that are made once and kept: written elsewhere, then renamed, so that a folder in its place is complete.

If two processes make the same folder at once, the work is done twice, and the second uses the first's folder. A process
locks the folder it writes into until it ends: an unlocked one was left by a killed process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from attention.core.messages import message
from attention.models.files import BESIDE, INDEX, SINGLE, opened

CACHE_DIR_VARIABLE = "ATTENTION_CACHE_DIR"
# Without file locks, an abandoned folder is recognised by its age.
STALE_SECONDS = 3600
TEMPORARY = ".making-"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of some work, in a unit such as "tensors"."""

    n_done: int
    n_total: int
    unit: str

    @property
    def share(self) -> float:
        """The completed share, from 0 to 1."""
        return min(1.0, self.n_done / self.n_total) if self.n_total else 0.0


OnProgress = Callable[[Progress], None]


def cache_dir() -> Path:
    """Return the folder for files made once: ``ATTENTION_CACHE_DIR``, or one in the user's cache."""
    chosen = os.environ.get(CACHE_DIR_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "step-by-step-attention"


@contextmanager
def new_folder(target: Path, needed_bytes: int) -> Iterator[Path]:
    """Yield an empty folder for files that will be kept at ``target``; remove leftovers at the end.

    Raises:
        OSError: there is not enough room, or the place cannot be written to.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_left(target.parent)
    _check_room(target.parent, needed_bytes)
    with ExitStack() as held:
        # Until the new folder is locked itself, this lock keeps others from treating it as abandoned.
        with _locked(target.parent):
            made = held.enter_context(
                tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=target.parent, ignore_cleanup_errors=True)
            )
            held.enter_context(_locked(Path(made)))
        new = Path(made) / target.name
        new.mkdir()
        yield new


def clear_left(folder: Path) -> None:
    """Remove the unfinished folders of killed processes."""
    with _locked(folder):
        for left in folder.glob(f"{TEMPORARY}*"):
            # Its owner may finish and remove it meanwhile.
            with suppress(OSError):
                if _is_abandoned(left):
                    shutil.rmtree(left, ignore_errors=True)


def put_in_place(new: Path, target: Path, is_whole: Callable[[], bool]) -> None:
    """Rename a finished folder to its target unless a complete one is there; raise OSError if it fails."""
    # Locked, so that a complete folder just put there is not moved away again.
    with _locked(target.parent):
        if is_whole():
            return
        try:
            if target.exists():
                # Moved away at once, and deleted with the temporary folder.
                target.replace(new.with_name("old"))
            new.replace(target)
        except OSError:
            if not is_whole():
                raise


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read or is not a regular file."""
    try:
        with opened(file) as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def are_whole(folder: Path, digests: Mapping[str, str]) -> bool:
    """Return whether the files have these SHA-256 and no other file would be read with them; reads all in full."""
    added = {name for name in (*BESIDE, SINGLE, INDEX) if os.path.lexists(folder / name)} - digests.keys()
    return not added and all(sha256(folder / name) == digest for name, digest in digests.items())


def _check_room(folder: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise OSError(
            message(
                "{needed} MiB are needed and {free} MiB are free",
                free=f"{free / 2**20:,.0f}",
                needed=f"{needed_bytes / 2**20:,.0f}",
            )
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, if the system has locks; it is released when the process ends, however it ends."""
    held = _lock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _is_abandoned(folder: Path) -> bool:
    try:
        held = _lock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    if held is None:
        return time.time() - _last_touched(folder) > STALE_SECONDS
    os.close(held)
    return True


def _lock(folder: Path, how: int) -> int | None:
    """Return the descriptor that holds the lock, None without file locks; raise BlockingIOError if it is taken."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(held, how)
    except OSError as error:
        os.close(held)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return held


def _last_touched(folder: Path) -> float:
    """Return when anything in a folder was last written: the folder's own time ignores growing files."""
    return max((path.lstat().st_mtime for path in (folder, *folder.rglob("*"))), default=0.0)
