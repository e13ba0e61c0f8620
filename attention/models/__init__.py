"""The catalogue: which models there are, and how to load one."""

from __future__ import annotations

from attention.models.base import Model, ModelInfo, ModelUnavailableError
from attention.models.toy import TOY_INFO

__all__ = ["Model", "ModelInfo", "ModelUnavailableError", "get_info", "list_models", "load"]

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

_CATALOGUE = {info.model_id: info for info in (TOY_INFO, MINILM_INFO)}


def list_models() -> list[ModelInfo]:
    """Return what is known of every model, without loading any."""
    return list(_CATALOGUE.values())


def get_info(model_id: str) -> ModelInfo:
    """Return what is known of one model.

    Raises:
        KeyError: there is no such model.
    """
    return _CATALOGUE[model_id]


def load(model_id: str) -> Model:
    """Load a model into memory; torch and transformers are imported only when one needs them.

    Raises:
        KeyError: there is no such model.
        ModelUnavailableError: its weights are missing or are not the published ones.
    """
    info = get_info(model_id)
    if info is TOY_INFO:
        from attention.models.toy import ToyModel

        return ToyModel()

    from attention.models import weights

    folder = weights.locate(weights.MINILM)
    from attention.models.huggingface import HuggingFaceModel

    return HuggingFaceModel(info, folder)
