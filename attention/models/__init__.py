"""The catalogue: which models there are, and how to load one."""

from __future__ import annotations

from attention.models import convert, local, weights
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
]

MINILM_INFO = ModelInfo(
    model_id="minilm-l6",
    name="BERT",
    architecture="BERT encoder (MiniLM-L6)",
    n_layers=6,
    n_heads=12,
    n_key_value_heads=12,
    d_model=384,
    d_head=32,
    max_tokens=512,
    n_parameters=22_713_216,
    licence="Apache-2.0",
    source="sentence-transformers/all-MiniLM-L6-v2",
    summary="A real pretrained BERT, distilled to 6 layers of 12 heads, with the vocabulary of bert-base-uncased.",
    # In layer 6, head 7, of all words (not [CLS]) both *sat* and *mat* of the first example look most at *cat*.
    default_layer=5,
    default_head=6,
)

SMOLLM2_INFO = ModelInfo(
    model_id="smollm2-135m",
    name="SmolLM2",
    architecture="Llama decoder (SmolLM2-135M-Instruct)",
    n_layers=30,
    n_heads=9,
    n_key_value_heads=3,
    d_model=576,
    d_head=64,
    max_tokens=512,
    n_parameters=134_515_008,
    licence="Apache-2.0",
    source="HuggingFaceTB/SmolLM2-135M-Instruct, as Q4_1 GGUF",
    summary="A real pretrained decoder of 30 layers: 9 query heads in 3 groups, each group with one key/value head, "
    "and rotary positions. It reads from left to right and says what comes next.",
    # In layer 14, head 9, of all that comes before it *sat* looks most at *cat*, and so does *mat*, but for *The*.
    default_layer=13,
    default_head=8,
    is_decoder=True,
)

_CATALOGUE = {info.model_id: info for info in (TOY_INFO, MINILM_INFO, SMOLLM2_INFO)}


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


def has_to_be_converted(model_id: str) -> bool:
    """Tell whether loading a model begins with a conversion, which takes half a minute, once."""
    return model_id == SMOLLM2_INFO.model_id and not convert.is_converted(weights.SMOLLM2)


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
            raise ModelUnavailableError(f"{model_id} is not here.", "ls  # look at the page Models for those that are")
        return local.load(found[model_id])
    info = _CATALOGUE[model_id]
    if info is TOY_INFO:
        from attention.models.toy import ToyModel

        return ToyModel()

    is_packed = info is SMOLLM2_INFO
    folder = convert.unpacked(weights.SMOLLM2, on_progress) if is_packed else weights.locate(weights.MINILM)
    from attention.models.huggingface import HuggingFaceModel

    return HuggingFaceModel(info, folder)
