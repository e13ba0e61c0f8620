"""Models that are not bundled: downloaded from the hub, or in the owner's folders."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from attention.core.messages import message
from attention.core.reading import PICTURE
from attention.core.trace import ModelInfo
from attention.models import hub, hub_download
from attention.models.architectures import info_from_config, info_of_offer
from attention.models.base import Model, ModelUnavailableError
from attention.models.files import BESIDE, INDEX, check_vocabulary, in_one_line, is_there, shown, weights_of
from attention.models.hub import Damaged, HubError, Kept
from attention.models.memory import check_fits
from attention.models.store import OnProgress

# Folders in ``from_pretrained`` layout, separated as in PATH.
MODEL_DIRS_VARIABLE = "ATTENTION_MODEL_DIRS"


@dataclass(frozen=True, slots=True)
class Found:
    """A model found on disk, or the reason why it cannot be shown."""

    model_id: str
    folder: Path
    info: ModelInfo | None
    problem: str = ""
    # Its manifest, if it was downloaded from the hub.
    kept: Kept | None = None
    is_damaged: bool = False


def find(bundled: Collection[ModelInfo]) -> list[Found]:
    """Return the models on disk, each with a unique ID and name; only the headers of their files are read."""
    fetched, folders = hub.manifests(), _folder_names()
    # A fast path: pages ask often, and most servers have none.
    if not fetched and not folders:
        return []
    found = [_from_hub(each) for each in fetched if isinstance(each, Kept)]
    ids = {info.model_id for info in bundled} | {each.model_id for each in found}

    def new_id(folder: Path) -> str:
        model_id = _free_id(folder.name, ids)
        ids.add(model_id)
        return model_id

    found += [
        Found(new_id(each.folder), each.folder, None, each.problem, is_damaged=True)
        for each in fetched
        if isinstance(each, Damaged)
    ]
    for name in folders:
        folder, problem = _folder(name)
        model_id = new_id(folder)
        found.append(Found(model_id, folder, None, problem) if problem else _from_folder(model_id, folder))
    names = Counter(info.name for info in (*bundled, *(each.info for each in found)) if info is not None)
    return [_with_own_name(each, names) for each in found]


def load(found: Found) -> Model:
    """Load a model that was found; raise ModelUnavailableError if it cannot be shown, or its files have changed."""
    if found.info is None:
        is_whole = not found.is_damaged and (found.kept is None or hub.is_whole(found.kept))
        raise ModelUnavailableError(found.problem, "" if is_whole else _fetch_again(found))
    if found.kept is not None and not hub.is_whole(found.kept):
        raise ModelUnavailableError(
            message("The files of {model_id} have changed since they were fetched.", model_id=found.model_id),
            _fetch_again(found),
        )
    from attention.models.huggingface import HuggingFaceModel, check_size
    from attention.models.tokens import is_panic

    try:
        check_size(found.info, found.folder)
        return HuggingFaceModel(found.info, found.folder)
    except BaseException as error:
        # Any problem with a model's files is reported. A panic of the tokenizer, which is written in Rust, is not
        # an Exception.
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        told = message("Couldn't load {name}: {reason}.", name=found.info.name, reason=_reason(error).rstrip("."))
        raise ModelUnavailableError(_refusal(told), "") from None


def in_folder(folder: Path, model_id: str = "") -> Found:
    """Describe the model in a folder, which is its ID unless another one is given."""
    whole = folder.expanduser().absolute()
    found = _from_folder(model_id or whole.name, whole)
    name = found.model_id.rpartition("/")[2]
    return found if found.info is None else replace(found, info=replace(found.info, name=name))


def fetch(model_id: str, on_progress: OnProgress, is_cancelled: Callable[[], bool]) -> Kept:
    """Download a model from the hub, if it can be shown and fits in memory; see ``hub_download.download``."""
    return hub_download.download(model_id, on_progress, is_cancelled, _check_offer)


def _check_offer(config: dict[str, Any], names: Collection[str], n_bytes: int) -> None:
    try:
        info = info_of_offer(config, n_bytes)
        check_fits(info)
        _check_vocabulary(info, names)
    except ValueError as error:
        raise HubError(str(error)) from None


def _folder_names() -> list[str]:
    names = (name.strip() for name in os.environ.get(MODEL_DIRS_VARIABLE, "").split(os.pathsep))
    return [name for name in names if name]


def _folder(name: str) -> tuple[Path, str]:
    """Return one of the owner's folders, and a message if its name is invalid."""
    try:
        return Path(name).expanduser().absolute(), ""
    except (OSError, RuntimeError):
        return Path(name), message("There is no folder {folder}.", folder=shown(Path(name)))


def _from_hub(each: Kept) -> Found:
    described = _described(
        each.model_id,
        each.folder,
        each.model_id.rpartition("/")[2],
        message("not stated") if each.licence == hub.NOT_STATED else each.licence,
        message("{model_id} on the hub, revision {revision}", model_id=each.model_id, revision=each.revision[:12]),
    )
    if isinstance(described, str):
        return Found(each.model_id, each.folder, None, described, each)
    return Found(each.model_id, each.folder, described, kept=each)


def _from_folder(model_id: str, folder: Path) -> Found:
    described = _described(
        model_id, folder, model_id, message("not stated"), message("the folder {folder}", folder=shown(folder))
    )
    if isinstance(described, str):
        return Found(model_id, folder, None, described)
    return Found(model_id, folder, described)


def _with_own_name(found: Found, names: Counter[str]) -> Found:
    """Name a model by its ID if another model has the same name."""
    if found.info is None or names[found.info.name] == 1:
        return found
    return replace(found, info=replace(found.info, name=found.model_id))


def _described(model_id: str, folder: Path, name: str, licence: str, source: str) -> ModelInfo | str:
    """Describe a model, or say why it cannot be shown; an unchanged folder is not read again."""
    try:
        if not folder.is_dir():
            return message("There is no folder {folder}.", folder=shown(folder))
        stamp = _stamp(folder)
    except OSError as error:
        return message(
            "Couldn't read the folder {folder}: {reason}.", folder=shown(folder), reason=error.strerror or str(error)
        )
    except ValueError as error:
        return _refusal(str(error))
    found = _read(model_id, folder, name, licence, source, stamp)
    try:
        if not isinstance(found, str):
            # Not cached: the owner may raise the limit.
            check_fits(found)
    except ValueError as error:
        return str(error)
    return found


def _stamp(folder: Path) -> tuple[tuple[str, int, int, int] | str, ...]:
    names = dict.fromkeys([*BESIDE, INDEX, *(file.name for file in weights_of(folder))])
    return tuple(_stamp_of(folder / name) for name in names)


def _stamp_of(file: Path) -> tuple[str, int, int, int] | str:
    try:
        about = file.stat()
    except OSError as error:
        return f"{file.name}: {error.strerror}"
    return file.name, about.st_ino, about.st_size, max(about.st_mtime_ns, about.st_ctime_ns)


@lru_cache(maxsize=64)
def _read(
    model_id: str,
    folder: Path,
    name: str,
    licence: str,
    source: str,
    stamp: tuple[object, ...],
) -> ModelInfo | str:
    try:
        info = info_from_config(model_id, folder, name=name, licence=licence, source=source)
        _check_vocabulary(info, [name for name in BESIDE if is_there(folder / name)])
    except ValueError as error:
        return _refusal(str(error))
    except Exception:  # a bad folder may break its model, but no page
        return _refusal(message("Couldn't read its files."))
    return replace(info, revision=hashlib.sha256(repr(stamp).encode()).hexdigest()[:16])


def _check_vocabulary(info: ModelInfo, names: Collection[str]) -> None:
    if info.reading is not PICTURE:
        check_vocabulary(names)


def _free_id(name: str, taken: Collection[str]) -> str:
    """Derive a unique ID, fit for a link, from a folder's name."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"
    number, model_id = 1, safe
    while model_id in taken:
        number += 1
        model_id = f"{safe}-{number}"
    return model_id


def _reason(error: BaseException) -> str:
    """Return what is wrong with a model's files, in one line without a full stop."""
    # Libraries' error messages can be pages long; the first line says what is wrong, unless it announces a list.
    told = str(error).strip()
    first_line = told.partition("\n")[0].rstrip()
    reason = in_one_line(told if first_line.endswith(":") else first_line)
    # This project's messages and libraries' messages about files are whole sentences; Python's are not.
    if reason and isinstance(error, ValueError | OSError | ImportError):
        return reason
    return message("transformers fails on its files")


def _refusal(reason: str) -> str:
    """Return why a model cannot be shown, and what can still be done with it."""
    still = message("attention.show draws the weights of any model that returns them with output_attentions=True.")
    return f"{reason} {still}"


def _fetch_again(found: Found) -> str:
    return f"rm -r {shown(found.folder)}  # and fetch it again, on the page Models"
