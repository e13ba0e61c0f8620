"""The catalogue: which models there are, and how to load one."""

from __future__ import annotations

from attention.models import bundled, local, weights
from attention.models.base import Model, ModelInfo, ModelUnavailableError
from attention.models.local import Found
from attention.models.store import OnProgress
from attention.models.toy import TOY_INFO

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

_CATALOGUE = {info.model_id: info for info in bundled.INFOS}


def list_models() -> list[ModelInfo]:
    """Return what is known of every model that is here, without loading any: the bundled ones first."""
    return [*_CATALOGUE.values(), *(found.info for found in find_others() if found.info is not None)]


def find_others() -> list[Found]:
    """Return the models that are no part of the project: fetched from the hub, or in folders that the owner names."""
    return local.find(_CATALOGUE.values())


def get_info(model_id: str) -> ModelInfo:
    """Return what is known of one model.

    Raises:
        KeyError: there is no such model.
    """
    return {info.model_id: info for info in list_models()}[model_id]


def revision_of(model_id: str) -> str | None:
    """Return the revision of the model that has this id now; None if there is none."""
    if model_id in _CATALOGUE:
        return _CATALOGUE[model_id].revision
    return next((each.info.revision for each in find_others() if each.model_id == model_id and each.info), None)


def has_to_be_converted(model_id: str) -> bool:
    """Tell whether loading a model begins with a conversion, which takes half a minute, once."""
    # Here, and not above: the module is a command as well, and Python warns of one that is imported before it runs.
    from attention.models import convert

    return model_id == weights.SMOLLM2.model_id and not convert.is_converted(weights.SMOLLM2)


def load(model_id: str, on_progress: OnProgress | None = None) -> Model:
    """Load a model into memory; torch and transformers are imported only when one needs them.

    ``on_progress`` is told how far it is, where a model is made ready first.

    Raises:
        ModelUnavailableError: there is no such model; or its weights are missing, are not the published ones, or
            cannot be converted.
    """
    if model_id not in _CATALOGUE:
        found = {each.model_id: each for each in find_others()}
        if model_id not in found:
            raise ModelUnavailableError(f"{model_id} is not here: the page Models has those that are.", "")
        return local.load(found[model_id])
    info = _CATALOGUE[model_id]
    if info is TOY_INFO:
        from attention.models.toy import ToyModel

        return ToyModel()

    source = bundled.SOURCES[model_id]
    from attention.models import convert

    folder = convert.unpacked(source, on_progress) if source is weights.SMOLLM2 else weights.locate(source)
    from attention.models.huggingface import HuggingFaceModel

    return HuggingFaceModel(info, folder)
