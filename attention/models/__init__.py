"""The catalogue: which models there are, and how to load one."""

from __future__ import annotations

from attention.models import bundled, local
from attention.models.base import Model, ModelInfo, ModelUnavailableError
from attention.models.local import Found
from attention.models.store import OnProgress

__all__ = [
    "Found",
    "Model",
    "ModelInfo",
    "ModelUnavailableError",
    "find_others",
    "get_info",
    "has_to_be_converted",
    "list_models",
    "load",
    "revision_of",
]


def list_models() -> list[ModelInfo]:
    """Return what is known of every model that is here, without loading any: the bundled ones first."""
    return [*bundled.infos(), *(found.info for found in find_others() if found.info is not None)]


def find_others() -> list[Found]:
    """Return the models that are no part of the project: fetched from the hub, or in folders that the owner names."""
    return local.find(bundled.infos())


def get_info(model_id: str) -> ModelInfo:
    """Return what is known of one model.

    Raises:
        KeyError: there is no such model.
    """
    return {info.model_id: info for info in list_models()}[model_id]


def revision_of(model_id: str) -> str | None:
    """Return the revision of the model that has this id now; None if there is none."""
    entry = bundled.find(model_id)
    if entry is not None:
        return entry.info.revision
    return next((each.info.revision for each in find_others() if each.model_id == model_id and each.info), None)


def has_to_be_converted(model_id: str) -> bool:
    """Tell whether loading a model begins with a conversion, which takes half a minute, once."""
    entry = bundled.find(model_id)
    return entry is not None and entry.has_to_be_converted


def load(model_id: str, on_progress: OnProgress | None = None) -> Model:
    """Load a model into memory; torch and transformers are imported only when one needs them.

    ``on_progress`` is told how far it is, where a model is made ready first.

    Raises:
        ModelUnavailableError: there is no such model; or its weights are missing, are not the published ones, or
            cannot be converted.
    """
    entry = bundled.find(model_id)
    if entry is not None:
        return entry.load(on_progress)
    found = {each.model_id: each for each in find_others()}
    if model_id not in found:
        raise ModelUnavailableError(f"{model_id} is not here: the page Models has those that are.", "")
    return local.load(found[model_id])
