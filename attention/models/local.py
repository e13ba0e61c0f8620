"""The models that are no part of the project: those fetched from the hub, and folders that the owner names."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from attention.models import hub
from attention.models.architectures import architecture_of, info_from_config
from attention.models.base import Model, ModelInfo, ModelUnavailableError
from attention.models.hub import HubError, Kept
from attention.models.store import OnProgress

__all__ = ["MODEL_DIRS_VARIABLE", "Found", "fetch", "find", "load"]

# Folders in ``from_pretrained`` layout, written as the PATH is.
MODEL_DIRS_VARIABLE = "ATTENTION_MODEL_DIRS"
# The words of a library are shown no further.
MAX_REASON = 300
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True, slots=True)
class Found:
    """A model that was found on disk, or the sentence that says why it cannot be shown."""

    model_id: str
    folder: Path
    info: ModelInfo | None
    problem: str = ""
    # What is known of it if it was fetched from the hub.
    kept: Kept | None = None


def find(bundled: Collection[ModelInfo]) -> list[Found]:
    """Return the models on disk, with ids and names of their own; no more than the heads of their files is read."""
    found = [_from_hub(kept) for kept in hub.kept()]
    ids = {info.model_id for info in bundled} | {each.model_id for each in found}
    for folder in _folders():
        model_id = _free_id(folder.name, ids)
        ids.add(model_id)
        found.append(_from_folder(model_id, folder))
    names = Counter(info.name for info in (*bundled, *(each.info for each in found)) if info is not None)
    return [_with_own_name(each, names) for each in found]


def load(found: Found) -> Model:
    """Load a model that was found.

    Raises:
        ModelUnavailableError: it cannot be shown, or its files are not what they were.
    """
    if found.info is None:
        raise ModelUnavailableError(found.problem, _remedy(found))
    if found.kept is not None and not hub.is_whole(found.kept):
        raise ModelUnavailableError(
            f"The files of {found.model_id} are not the ones that were fetched.", _remedy(found)
        )
    from attention.models.huggingface import HuggingFaceModel

    try:
        return HuggingFaceModel(found.info, found.folder)
    except (OSError, ValueError, KeyError, AttributeError, RuntimeError, ImportError) as error:
        # Libraries go on for pages; what is wrong stands in their first line.
        first_line = str(error).strip().partition("\n")[0] or type(error).__name__
        reason = first_line if len(first_line) <= MAX_REASON else f"{first_line[:MAX_REASON]}…"
        raise ModelUnavailableError(
            f"{found.info.name} cannot be loaded: {reason.rstrip('.')}.", _remedy(found)
        ) from None


def fetch(model_id: str, on_progress: OnProgress, is_cancelled: Callable[[], bool]) -> Kept:
    """Fetch a model from the hub, if it is one that can be shown; see ``hub.download``."""
    return hub.download(model_id, on_progress, is_cancelled, _check_config)


def _check_config(config: dict[str, Any]) -> None:
    try:
        architecture_of(config)
    except ValueError as error:
        raise HubError(str(error)) from None


def _folders() -> Iterator[Path]:
    for name in os.environ.get(MODEL_DIRS_VARIABLE, "").split(os.pathsep):
        if name.strip():
            yield Path(name.strip()).expanduser().absolute()


def _from_hub(kept: Kept) -> Found:
    described = _described(
        kept.model_id,
        kept.folder,
        kept.model_id.rpartition("/")[2],
        kept.licence,
        f"{kept.model_id} on the hub, revision {kept.revision[:12]}",
    )
    if isinstance(described, str):
        return Found(kept.model_id, kept.folder, None, described, kept)
    return Found(kept.model_id, kept.folder, described, kept=kept)


def _from_folder(model_id: str, folder: Path) -> Found:
    described = _described(model_id, folder, model_id, "not stated", f"the folder {folder}")
    if isinstance(described, str):
        return Found(model_id, folder, None, described)
    return Found(model_id, folder, described)


def _with_own_name(found: Found, names: Counter[str]) -> Found:
    """Call a model by its id if another one has its name."""
    if found.info is None or names[found.info.name] == 1:
        return found
    return replace(found, info=replace(found.info, name=found.model_id))


def _described(model_id: str, folder: Path, name: str, licence: str, source: str) -> ModelInfo | str:
    """Say what a model is, or why it cannot be shown; a folder that has not changed is not read again."""
    try:
        if not folder.is_dir():
            return f"There is no folder {folder}."
        weights = [folder / file for file in _WEIGHTS if (folder / file).is_file()]
        if not weights:
            return f"The folder {folder} has no weights in the safetensors format (model.safetensors)."
        stamp = tuple(file.stat().st_mtime_ns for file in (folder / "config.json", weights[0]))
    except OSError as error:
        return f"The folder {folder} cannot be read: {error.strerror or error}."
    return _read(model_id, folder, name, licence, source, stamp)


@lru_cache(maxsize=64)
def _read(
    model_id: str,
    folder: Path,
    name: str,
    licence: str,
    source: str,
    stamp: tuple[int, ...],  # noqa: ARG001 - the cache's key
) -> ModelInfo | str:
    try:
        return info_from_config(model_id, folder, name=name, licence=licence, source=source)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return str(error) if isinstance(error, ValueError) else f"Its files cannot be read ({type(error).__name__})."


def _free_id(name: str, taken: Collection[str]) -> str:
    """Make an id of a folder's name that has a place in a link, and that no other model has."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"
    number, model_id = 1, safe
    while model_id in taken:
        number += 1
        model_id = f"{safe}-{number}"
    return model_id


def _remedy(found: Found) -> str:
    if found.kept is None:
        return f"ls {found.folder}  # it needs config.json, a tokenizer and model.safetensors"
    return f"rm -r {found.folder}  # and fetch it again, on the page Models"
