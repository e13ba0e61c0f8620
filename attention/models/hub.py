"""Models of the Hugging Face hub: which may be downloaded, and how they are stored, complete or not at all.

Everything else in this project reads from disk, with its libraries set offline (``HF_HUB_OFFLINE``). Only
``attention.models.hub_download`` contacts the hub, at a user's request.

Only safetensors weights are accepted, because they are numbers and nothing else. A pickle file, or code in a model,
could do anything when it is loaded: neither is ever downloaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.models import bundled
from attention.models.files import read_json, shown
from attention.models.store import are_whole, cache_dir, new_folder, put_in_place

ALLOW_VARIABLE, ANY_MODEL, CURATED_MODELS = "ATTENTION_HUB", "*", "curated"
MAX_MB_VARIABLE, DEFAULT_MAX_MB = "ATTENTION_HUB_MAX_MB", 2000
HUB_DIR_VARIABLE = "ATTENTION_HUB_DIR"
MANIFEST, CONFIG = "hub.json", "config.json"
# The manifest's entry for a model without a licence.
NOT_STATED = "not stated"
SHARD = re.compile(r"model-[0-9]{5}-of-[0-9]{5}\.safetensors")
# Files to download beside the weights.
COMPANIONS = (
    CONFIG,
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "preprocessor_config.json",
)


class HubError(Exception):
    """A model cannot be downloaded; the message is for the page."""


@dataclass(frozen=True, slots=True)
class HubModel:
    """A well-known model of the hub, described before it is downloaded."""

    model_id: str
    architecture: str
    n_layers: int
    n_heads: int
    n_parameters: int
    n_bytes: int
    licence: str

    @property
    def alias(self) -> str:
        """The ID without its owner."""
        return self.model_id.rpartition("/")[2]


CURATED = tuple(HubModel(**each) for each in tomllib.loads((ASSETS / "hub.toml").read_text("utf-8"))["models"])


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the server's owner allows users to download; by default nothing."""

    is_any: bool = False
    model_ids: frozenset[str] = frozenset()
    max_bytes: int = DEFAULT_MAX_MB * 10**6

    def __bool__(self) -> bool:
        return self.is_any or bool(self.model_ids)

    def __contains__(self, model_id: str) -> bool:
        return self.is_any or model_id in self.model_ids


def allowed() -> Allowed:
    """Read the owner's setting ``ATTENTION_HUB``: empty, "curated", "*", or comma-separated IDs."""
    value = os.environ.get(ALLOW_VARIABLE, "").strip()
    limit = os.environ.get(MAX_MB_VARIABLE, "").strip()
    max_bytes = (int(limit) if limit.isdecimal() else DEFAULT_MAX_MB) * 10**6
    names = {canonical(name) for each in value.split(",") if (name := each.strip())}
    if CURATED_MODELS in names:
        names = names - {CURATED_MODELS} | {model.model_id for model in CURATED}
    return Allowed(ANY_MODEL in names, frozenset(names - {ANY_MODEL}), max_bytes)


def check_id(typed: str) -> str:
    """Return a model's ID on the hub, also for a well-known model's bare name; raise HubError if invalid."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    model_id = canonical(typed.strip())
    try:
        validate_repo_id(model_id)
    except HFValidationError:
        raise HubError(message("Not a model ID. Use owner/name, such as google-bert/bert-base-uncased.")) from None
    return model_id


def canonical(name: str) -> str:
    """Return a model's ID, also for a well-known model's bare name."""
    return next((model.model_id for model in CURATED if model.alias == name), name)


# ------------------------------------------------------------------------------------ what is kept


@dataclass(frozen=True, slots=True)
class Kept:
    """A downloaded model: its folder, its revision, and the SHA-256 of each file."""

    model_id: str
    revision: str
    licence: str
    files: dict[str, str]
    folder: Path

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of the weight files."""
        return tuple(sorted(name for name in self.files if name.endswith(".safetensors")))

    @property
    def checksum(self) -> str:
        """The SHA-256 of the weights; of several files, that of the list of their checksums."""
        digests = [self.files[name] for name in self.weights]
        return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Damaged:
    """A folder with an unreadable manifest, and a message about it."""

    folder: Path
    problem: str


def manifests() -> list[Kept | Damaged]:
    """Return the downloaded models, including damaged ones, without unfinished ones."""
    try:
        folders = sorted(folder for folder in _hub_dir().iterdir() if not folder.name.startswith("."))
    except OSError:
        return []
    found = map(_read_manifest, folders)
    return [each for each in found if each is not None]


def is_whole(model: Kept) -> bool:
    """Return whether a model's files are unchanged and none was added; every file is read in full."""
    return are_whole(model.folder, model.files)


def keep(model: Kept, new: Path) -> None:
    """Give the finished folder of a model its manifest and put it in its place, unless the same is there."""
    written = {name: value for name, value in asdict(model).items() if name != "folder"}
    (new / MANIFEST).write_text(json.dumps(written), "utf-8")
    put_in_place(new, model.folder, lambda: _read_manifest(model.folder) == model and is_whole(model))


def remove(model: Kept) -> None:
    """Delete a model, moving it away first, so that no process finds half of it; raise OSError if it fails."""
    with new_folder(model.folder, 0) as trash:
        model.folder.replace(trash)


def _hub_dir() -> Path:
    chosen = os.environ.get(HUB_DIR_VARIABLE)
    return Path(chosen) if chosen else cache_dir() / "hub"


def folder_of(model_id: str) -> Path:
    """Return where a model of the hub is kept."""
    # No ID contains two consecutive hyphens.
    return _hub_dir() / model_id.replace("/", "--")


def _read_manifest(folder: Path) -> Kept | Damaged | None:
    if not os.path.lexists(folder / MANIFEST):
        return None
    try:
        return _parse_manifest(read_json(folder / MANIFEST), folder)
    except ValueError:
        return Damaged(
            folder,
            message(
                "Its {file} is damaged. Delete the folder {folder} and fetch the model again.",
                file=MANIFEST,
                folder=shown(folder),
            ),
        )


def _parse_manifest(found: dict[str, Any], folder: Path) -> Kept:
    """Parse a manifest; raise ValueError if it is not one of ours."""
    files = found.get("files")
    words = [word for name in ("model_id", "revision", "licence") if isinstance(word := found.get(name), str) and word]
    if not isinstance(files, dict) or len(words) < 3:
        raise ValueError("no manifest")
    model_id, revision, licence = words
    if is_our_own(model_id) or folder_of(model_id) != folder:
        raise ValueError("no model")
    return Kept(model_id, revision, licence, files, folder)


def is_our_own(model_id: str) -> bool:
    """Return whether a model comes with this project."""
    return model_id.casefold() in {info.model_id.casefold() for info in bundled.infos()}
