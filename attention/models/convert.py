"""SmolLM2 comes as one GGUF file, its weights packed into 4 bits: unpacked once, and kept for the next time.

What is kept lies in a folder of its own, ready for ``from_pretrained``. It is written beside its place and then
renamed, so a folder that is there is whole. Two processes that convert at once do the work twice, and the second
one finds the first one's folder.

    python -m attention.models.convert

does it ahead of time, for an image or a folder that cannot be written to later.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attention.models.base import ModelUnavailableError
from attention.models.weights import SMOLLM2, WeightsSource, locate

__all__ = ["CACHE_DIR_VARIABLE", "cache_dir", "is_converted", "main", "unpacked"]

CACHE_DIR_VARIABLE = "ATTENTION_CACHE_DIR"
WEIGHTS, MANIFEST = "model.safetensors", "converted.json"
# A model of another version of this file is converted anew.
VERSION = 1
# The weights take 513 MiB; a little more is room for the files beside them.
NEEDED_BYTES = 540 * 2**20
# What an interrupted conversion has left is cleared away by a later one.
STALE_SECONDS = 3600
_TEMPORARY = ".converting-"


def cache_dir() -> Path:
    """Return the folder for what is made once: ``ATTENTION_CACHE_DIR``, or one in the user's own cache."""
    chosen = os.environ.get(CACHE_DIR_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "step-by-step-attention"


def is_converted(source: WeightsSource) -> bool:
    """Tell whether a model was converted before, from these very weights; nothing large is read."""
    return _manifest(_target(source), source) is not None


def unpacked(source: WeightsSource) -> Path:
    """Return the folder of a converted model, which is converted now if it was not before.

    Raises:
        ModelUnavailableError: the GGUF file is missing or another one, or the folder cannot be written.
    """
    target = _target(source)
    if _is_whole(target, source):
        return target
    file = locate(source) / source.file
    with _explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_stale(target.parent)
        _check_room(target.parent)
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=target.parent, ignore_cleanup_errors=True) as made:
            new = Path(made) / target.name
            new.mkdir()
            _convert(file, new)
            _write_manifest(new, source)
            _put_in_place(new, target, source)
    return target


def _target(source: WeightsSource) -> Path:
    return cache_dir() / f"{source.model_id}-{source.sha256[:12]}"


def _manifest(folder: Path, source: WeightsSource) -> dict[str, Any] | None:
    """Return what was noted of a conversion; None if there is none, or one of other weights or by other code."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if (manifest.get("source"), manifest.get("version")) == (source.sha256, VERSION) else None


def _is_whole(folder: Path, source: WeightsSource) -> bool:
    """Tell whether a converted model is there, and its weights are as they were written."""
    manifest = _manifest(folder, source)
    return manifest is not None and _sha256(folder / WEIGHTS) == manifest["sha256"]


def _write_manifest(folder: Path, source: WeightsSource) -> None:
    manifest = {"source": source.sha256, "version": VERSION, "sha256": _sha256(folder / WEIGHTS)}
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")


def _put_in_place(new: Path, target: Path, source: WeightsSource) -> None:
    """Rename the finished folder, unless somebody else was first with one as good."""
    if _is_whole(target, source):
        return
    if target.exists():
        # Moved away at once, and deleted with the temporary folder.
        target.replace(new.with_name("old"))
    try:
        new.replace(target)
    except OSError:
        if not _is_whole(target, source):
            raise


def _convert(file: Path, folder: Path) -> None:
    """Unpack the weights to float32, and write them with configuration and tokenizer.

    transformers' own ``from_pretrained(gguf_file=…)`` asks for accelerate as well, of which nothing is needed here.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config)
    tensors = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=skeleton)["tensors"]
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    # It is written for its owner alone, and an image is run by somebody else.
    (folder / WEIGHTS).chmod(0o644)
    config.architectures = [type(skeleton).__name__]
    config.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    tokenizer.save_pretrained(folder)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Say in a sentence why a model could not be converted, and what mends it."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelUnavailableError(
            f"SmolLM2 has to be converted once, and {target.parent} cannot be written: {reason}.",
            f"export {CACHE_DIR_VARIABLE}=/a/folder/with/600/MB/free",
        ) from None


def _check_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise OSError(f"{free / 2**20:,.0f} MiB are free there, and {NEEDED_BYTES / 2**20:,.0f} MiB are needed")


def _clear_stale(folder: Path) -> None:
    for left in folder.glob(f"{_TEMPORARY}*"):
        if time.time() - left.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def main() -> None:
    """Convert what has to be converted, and say where it is."""
    sys.stdout.write(f"{unpacked(SMOLLM2)}\n")


if __name__ == "__main__":
    main()
