"""The catalogue for users: every model that is here, and well-known models of the hub."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from attention.core.messages import message, messages
from attention.models import Found, ModelInfo, bundled, find_others, list_models
from attention.models.files import shown, weights_of
from attention.models.hub import CURATED, HubModel, Kept
from attention.models.store import sha256

Availability = Literal["built in", "on disk", "on the hub", "fetched when used", "not installed", "cannot be shown"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalogue; without ``info``, it is not here or, as ``problem`` explains, cannot be shown."""

    model_id: str
    name: str
    architecture: str
    layers_and_heads: str
    n_parameters: int | None
    licence: str
    source: str
    checksum: str
    place: Availability
    info: ModelInfo | None = None
    problem: str = ""
    # The downloaded model, which can be removed, and the hub model that can be downloaded.
    kept: Kept | None = None
    offered: HubModel | None = None


def catalogue() -> list[Entry]:
    """Return all models: the bundled ones, those on this machine, and those of the hub."""
    found = find_others()
    others = {each.model_id for each in found}
    own = [_bundled_entry(info) for info in list_models() if info.model_id not in others]
    here = [*own, *map(_found_entry, found)]
    names = {entry.name for entry in here}
    return [*here, *(_hub_entry(model, names) for model in CURATED if model.model_id not in others)]


def _bundled_entry(info: ModelInfo) -> Entry:
    entry = bundled.find(info.model_id)
    source = None if entry is None else entry.weights
    if source is None:
        return _described(info, "", "built in")
    place: Availability = "on disk" if source.package else "built in"
    if entry is not None and not entry.is_here:
        place = "fetched when used" if entry.has_to_be_fetched else "not installed"
    return _described(info, source.sha256, place)


def _described(info: ModelInfo, checksum: str, place: Availability, kept: Kept | None = None) -> Entry:
    return Entry(
        model_id=info.model_id,
        name=info.label,
        architecture=info.architecture,
        layers_and_heads=_layers_and_heads(info),
        n_parameters=info.n_parameters,
        licence=info.licence,
        source=info.source,
        checksum=checksum,
        place=place,
        info=info,
        kept=kept,
    )


def _layers_and_heads(info: ModelInfo) -> str:
    layers = f"({info.n_layers} + {info.n_decoder_layers})" if info.n_decoder_layers else f"{info.n_layers}"
    if info.layer_kinds:
        layers = message("{n} of {count}", n=len(info.attention_layers), count=layers)
    told = f"{layers} × {info.n_heads}"
    if info.n_key_value_heads == info.n_heads:
        return told
    shared = messages("{n} key/value head", "{n} key/value heads", info.n_key_value_heads)
    return f"{told} ({shared})"


def _found_entry(found: Found) -> Entry:
    if found.info is not None:
        checksum = _folder_checksum(found.folder) if found.kept is None else found.kept.checksum
        return _described(found.info, checksum, "on disk", found.kept)
    return Entry(
        model_id=found.model_id,
        name=found.model_id,
        architecture="",
        layers_and_heads="",
        n_parameters=None,
        licence="",
        source=shown(found.folder),
        checksum="" if found.kept is None else found.kept.checksum,
        place="cannot be shown",
        problem=found.problem,
        kept=found.kept,
    )


def _hub_entry(model: HubModel, taken: Collection[str]) -> Entry:
    return Entry(
        model_id=model.model_id,
        name=model.model_id if model.alias in taken else model.alias,
        architecture=model.architecture,
        layers_and_heads=f"{model.n_layers} × {model.n_heads}",
        n_parameters=model.n_parameters,
        licence=model.licence,
        source=message("{model_id} on the hub, {size} MB", model_id=model.model_id, size=f"{model.n_bytes / 1e6:,.0f}"),
        checksum="",
        place="on the hub",
        offered=model,
    )


def _folder_checksum(folder: Path) -> str:
    """Return the SHA-256 of a folder's weights; of several files, that of the list of their checksums."""
    digests = list(_digests(folder))
    if not digests:
        return ""
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digests(folder: Path) -> Iterator[str]:
    try:
        for file in weights_of(folder):
            yield _digest(file, file.stat().st_size, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        # The folder has changed since it was found to be complete.
        return


@lru_cache(maxsize=64)
def _digest(file: Path, size: int, changed_at: int) -> str:  # noqa: ARG001 - the cache's key
    return sha256(file)
