"""Models of the Hugging Face hub: which may be downloaded, and how they are stored, complete or not at all.

Everything else in this project reads from disk, with its libraries set offline (``HF_HUB_OFFLINE``). Only ``download``
contacts the hub, at a user's request, with ``huggingface_hub`` in a process of its own that can be killed at any moment
(``attention.models.fetch``). The server's owner chooses the hub (``HF_ENDPOINT``) and trusts it: the library follows
its redirects.

Only safetensors weights are accepted, because they are numbers and nothing else. A pickle file, or code in a model,
could do anything when it is loaded: neither is ever downloaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.models import bundled
from attention.models.files import INDEX, MAX_BESIDE_BYTES, SINGLE, in_one_line, read_json, shown
from attention.models.hub_line import HubError, Line, open_line
from attention.models.store import OnProgress, Progress, are_whole, cache_dir, new_folder, put_in_place, sha256

ALLOW_VARIABLE, ANY_MODEL, CURATED_MODELS = "ATTENTION_HUB", "*", "curated"
MAX_MB_VARIABLE, DEFAULT_MAX_MB = "ATTENTION_HUB_MAX_MB", 2000
HUB_DIR_VARIABLE = "ATTENTION_HUB_DIR"
MANIFEST, CONFIG = "hub.json", "config.json"
# The manifest's entry for a model without a licence.
NOT_STATED = "not stated"
_SHARD = re.compile(r"model-[0-9]{5}-of-[0-9]{5}\.safetensors")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.msgpack", "*.h5")
# Files to download beside the weights.
_COMPANIONS = (
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
# Free space for the file system's own needs.
_MARGIN = 16 * 2**20


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
    names = {_canonical(name) for each in value.split(",") if (name := each.strip())}
    if CURATED_MODELS in names:
        names = names - {CURATED_MODELS} | {model.model_id for model in CURATED}
    return Allowed(ANY_MODEL in names, frozenset(names - {ANY_MODEL}), max_bytes)


def check_id(typed: str) -> str:
    """Return a model's ID on the hub, also for a well-known model's bare name; raise HubError if invalid."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    model_id = _canonical(typed.strip())
    try:
        validate_repo_id(model_id)
    except HFValidationError:
        raise HubError(message("Not a model ID. Use owner/name, such as google-bert/bert-base-uncased.")) from None
    return model_id


def _canonical(name: str) -> str:
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


def remove(model: Kept) -> None:
    """Delete a model, moving it away first, so that no process finds half of it; raise OSError if it fails."""
    with new_folder(model.folder, 0) as trash:
        model.folder.replace(trash)


def _hub_dir() -> Path:
    chosen = os.environ.get(HUB_DIR_VARIABLE)
    return Path(chosen) if chosen else cache_dir() / "hub"


def _folder_of(model_id: str) -> Path:
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
    """Parse a manifest; raise ValueError if it is not plausible."""
    files = found.get("files")
    words = (found.get("model_id"), found.get("revision"), found.get("licence"))
    model_id, revision, licence = (in_one_line(word) if isinstance(word, str) else "" for word in words)
    if not isinstance(files, dict) or not all(_is_file_name(name) and _is_sha256(files[name]) for name in files):
        raise ValueError("no files")
    if not (model_id and licence and _is_commit(revision)) or _is_our_own(model_id) or _folder_of(model_id) != folder:
        raise ValueError("no model")
    return Kept(model_id, revision, licence, files, folder)


def _is_file_name(name: str) -> bool:
    return name in _COMPANIONS or name in (SINGLE, INDEX) or _SHARD.fullmatch(name) is not None


def _is_sha256(digest: object) -> bool:
    return isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest) is not None


def _is_commit(revision: str) -> bool:
    return re.fullmatch("[0-9a-f]{40}", revision) is not None


def _is_our_own(model_id: str) -> bool:
    return model_id.casefold() in {info.model_id.casefold() for info in bundled.infos()}


# --------------------------------------------------------------------------------------- to fetch it

# Called with a model's configuration, its file names and the bytes of its weights.
CheckOffer = Callable[[dict[str, Any], Collection[str], int], None]


@dataclass(frozen=True, slots=True)
class _File:
    """A file on the hub: its size, and its SHA-256 if large, else git's checksum."""

    name: str
    size: int
    sha256: str | None
    git_sha1: str | None


@dataclass(frozen=True, slots=True)
class _Offer:
    """A model on the hub, at one commit."""

    model_id: str
    revision: str
    licence: str
    files: tuple[_File, ...]

    @property
    def n_bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def n_weight_bytes(self) -> int:
        return sum(file.size for file in self.files if file.name.endswith(".safetensors"))


def download(
    model_id: str,
    on_progress: OnProgress,
    is_cancelled: Callable[[], bool],
    check_offer: CheckOffer,
) -> Kept:
    """Download a model, check it and put it in its place, complete or not at all.

    Args:
        model_id: its ID on the hub.
        on_progress: called with the number of bytes so far.
        is_cancelled: called several times a second; True ends the download.
        check_offer: called before the weights are downloaded; raises ``HubError`` if the model could not be shown.

    Raises:
        HubError: the model cannot be downloaded; the message is for the page.
        Cancelled: the download was cancelled.
    """
    limits = allowed()
    model_id = check_id(model_id)
    _check_allowed(model_id, limits)
    with open_line(is_cancelled) as line:
        offer = _look_up(line, model_id)
        # The hub accepts former names, so the limits are checked again with the current one.
        _check_allowed(offer.model_id, limits)
        _check_size(offer, limits)
        target = _folder_of(offer.model_id)
        with _explained(target), new_folder(target, offer.n_bytes + _MARGIN) as new:
            digests = _fetch_all(line, offer, new, on_progress, check_offer)
            _check_weights(offer, new)
            found = Kept(offer.model_id, offer.revision, offer.licence, digests, target)
            written = {name: value for name, value in asdict(found).items() if name != "folder"}
            (new / MANIFEST).write_text(json.dumps(written), "utf-8")
            put_in_place(new, target, lambda: _read_manifest(target) == found and is_whole(found))
    return found


def _check_allowed(model_id: str, limits: Allowed) -> None:
    if _is_our_own(model_id):
        raise HubError(
            message(
                "{model_id} comes with this project and is not fetched from the hub.",
                model_id=model_id,
            )
        )
    if model_id not in limits:
        raise HubError(message("This server's owner does not allow fetching {model_id}.", model_id=model_id))


def _look_up(line: Line, model_id: str) -> _Offer:
    found = line.look_up(model_id)
    files = tuple(_File(name, *found["files"][name]) for name in _chosen(model_id, found["files"]))
    licence = in_one_line(found["licence"])[:60] or NOT_STATED
    return _Offer(_canonical(found["model_id"]), found["revision"], licence, files)


def _chosen(model_id: str, files: Collection[str]) -> list[str]:
    shards = [name for name in files if _SHARD.fullmatch(name)]
    if SINGLE in files:
        weights = [SINGLE]
    elif INDEX in files and shards:
        weights = [INDEX, *sorted(shards)]
    elif any(fnmatch(name, pattern) for name in files for pattern in _PICKLES):
        raise HubError(
            message(
                "{model_id} has only pickle files, which can run code when opened. Choose a model with safetensors "
                "weights.",
                model_id=model_id,
            )
        )
    else:
        raise HubError(message("{model_id} has no safetensors weights. Choose another model.", model_id=model_id))
    if CONFIG not in files:
        raise HubError(
            message(
                "{model_id} has no {file}, so it is not a transformers model.",
                model_id=model_id,
                file=CONFIG,
            )
        )
    return [name for name in (*_COMPANIONS, *weights) if name in files]


def _check_size(offer: _Offer, limits: Allowed) -> None:
    if offer.n_bytes > limits.max_bytes:
        raise HubError(
            message(
                "{model_id} has {size} MB; this server fetches at most {most} MB.",
                model_id=offer.model_id,
                size=f"{offer.n_bytes / 1e6:,.0f}",
                most=f"{limits.max_bytes / 1e6:,.0f}",
            )
        )
    for file in offer.files:
        if not file.name.endswith(".safetensors") and file.size > MAX_BESIDE_BYTES:
            raise HubError(
                message(
                    "The {file} of {model_id} has {size} MB; only weights may exceed {most} MB.",
                    file=file.name,
                    model_id=offer.model_id,
                    size=f"{file.size / 1e6:,.0f}",
                    most=f"{MAX_BESIDE_BYTES / 1e6:,.0f}",
                )
            )


def _read_config(offer: _Offer, folder: Path) -> dict[str, Any]:
    try:
        return read_json(folder / CONFIG)
    except ValueError:
        raise HubError(message("The {file} of {model_id} is damaged.", file=CONFIG, model_id=offer.model_id)) from None


def _fetch_all(
    line: Line, offer: _Offer, folder: Path, on_progress: OnProgress, check_offer: CheckOffer
) -> dict[str, str]:
    """Download all files, the configuration first and the weights last; return the SHA-256 of each."""
    n_before, digests = 0, {}
    for file in offer.files:
        for n_bytes in line.fetch(offer.model_id, offer.revision, file.name, file.size, folder):
            on_progress(Progress(n_before + min(n_bytes, file.size), offer.n_bytes, "bytes"))
        digests[file.name] = sha256(folder / file.name)
        if not _matches_offer(file, folder / file.name, digests[file.name]):
            raise HubError(
                message(
                    "The {file} of {model_id} arrived damaged. Try again later.",
                    file=file.name,
                    model_id=offer.model_id,
                )
            )
        if file.name == CONFIG:
            check_offer(_read_config(offer, folder), [each.name for each in offer.files], offer.n_weight_bytes)
        n_before += file.size
    return digests


def _matches_offer(file: _File, path: Path, digest: str) -> bool:
    """Check a file's size and the hub's checksum: SHA-256 of large files, git's of small ones."""
    if path.stat().st_size != file.size:
        return False
    if file.sha256 is not None:
        return digest == file.sha256
    # Not for security: git names its objects like this.
    git_sha1 = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: git_sha1).hexdigest() == file.git_sha1


def _check_weights(offer: _Offer, folder: Path) -> None:
    """Open the weights, which verifies that the files are valid, complete safetensors."""
    from safetensors import SafetensorError, safe_open

    names = [file.name for file in offer.files]
    try:
        for name in names:
            if name.endswith(".safetensors"):
                with safe_open(folder / name, framework="np"):
                    pass
        if INDEX in names:
            named = set(read_json(folder / INDEX)["weight_map"].values())
            missing = sorted(map(str, named - set(names)))
            if missing:
                raise HubError(
                    message(
                        "Some weights of {model_id} are missing: {file}.",
                        model_id=offer.model_id,
                        file=in_one_line(missing[0]),
                    )
                )
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise HubError(
            message("The weights of {model_id} are not safetensors, despite their name.", model_id=offer.model_id)
        ) from None


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise HubError(
            message(
                "Couldn't write to {folder}: {reason}.",
                folder=str(target.parent),
                reason=reason,
            )
        ) from None
