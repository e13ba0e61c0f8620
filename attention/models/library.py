"""The public functions ``load`` and ``trace``: get a model, or record one that you have in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from attention import models
from attention.core.masks import MaskName
from attention.models import local
from attention.models.base import Model, ModelUnavailableError

if TYPE_CHECKING:
    from numpy import ndarray as Array
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from attention.core.trace import Trace


def load(model: str | Path | PreTrainedModel, tokenizer: PreTrainedTokenizerBase | None = None) -> Model:
    """Return a model that records its attention.

    A model in memory is not touched: the recording uses a copy of its modules around the same weights.

    Args:
        model: the ID of a bundled model ("toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"); a
            folder with config.json, model.safetensors and a tokenizer; the ID of a model in the Hugging Face cache
            (nothing is downloaded); or a transformers model in memory.
        tokenizer: the fast tokenizer of a model in memory.

    Raises:
        TypeError: any other type.
        ModelUnavailableError: no such model, or its files are missing, damaged or of an unsupported kind; the message
            says which.
        ValueError: the attention of a model in memory cannot be recorded; the message says why.

    >>> load("toy")
    <Model toy: 1 × 3 heads, d_model 16, d_head 8>
    """
    if isinstance(model, str | Path):
        if tokenizer is not None:
            raise TypeError("a model that is loaded by its ID or from a folder brings its own tokenizer")
        return _by_name(model)
    return _in_memory(model, tokenizer)


@overload
def trace(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | None = None,
    text: str | None = None,
    pair: str | None = None,
    *,
    input_ids: Any = None,
    tokens: Sequence[str] | None = None,
    mask: MaskName | Array | None = None,
) -> Trace: ...


@overload
def trace(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    text: list[str] | tuple[str, ...],
    *,
    mask: MaskName | Array | None = None,
) -> list[Trace]: ...


def trace(
    model: Any,
    tokenizer: Any = None,
    text: Any = None,
    pair: str | None = None,
    *,
    input_ids: Any = None,
    tokens: Sequence[str] | None = None,
    mask: Any = None,
) -> Trace | list[Trace]:
    """Run a transformers model that you have in memory, and return what its attention did.

    It runs in its own dtype and on its own device, without dropout. Its mode, hooks and attention
    implementation stay as they are. Hooks of your own run, too.

    Args:
        model: a transformers model whose attention goes through transformers' attention interface.
        tokenizer: its fast tokenizer.
        text: a text, or a list of texts for a list of traces.
        pair: a second text, for models that take two; what the decoder reads, for an encoder–decoder.
        input_ids: instead of a text, its token IDs, of shape (T,) or (1, T), or what the tokenizer returns for it.
        tokens: the names of these tokens; by default the tokenizer's.
        mask: "none", "causal" or an additive array; the model runs with it.

    Raises:
        TypeError: an argument of another type.
        ValueError: the model's attention cannot be recorded, the text is empty, or the tokens do not fit the model;
            the message says why.
    """
    if isinstance(tokenizer, str) or isinstance(model, str | Path):
        raise TypeError(
            "attention.trace takes a model of transformers, its tokenizer and a text; attention.load(id or folder) "
            "returns a model that records itself: model.trace(text)"
        )
    if (text is None) == (input_ids is None):
        raise TypeError("attention.trace needs either a text or input_ids: trace(model, tokenizer, text)")
    own = _in_memory(model, tokenizer)
    if input_ids is not None:
        from attention.models.in_memory import tokens_of

        return own.trace_tokens(tokens_of(input_ids, tokens, own.reader, model.config.vocab_size))
    if isinstance(text, str):
        return own.trace(text, pair, mask=mask)
    texts = list(text) if isinstance(text, Iterable) else [text]
    if pair is not None or not all(isinstance(each, str) for each in texts):
        raise TypeError("text must be a text, or a list of texts without a pair")
    return [own.trace(each, mask=mask) for each in texts]


def _in_memory(model: Any, tokenizer: Any) -> Any:
    from attention.models.huggingface import HuggingFaceModel, Loaded
    from attention.models.in_memory import described, reader_of, twin

    info, architecture = described(model)
    text = reader_of(tokenizer, model, info)
    return HuggingFaceModel(info, Loaded(architecture, twin(model, info), text))


def _by_name(name: str | Path) -> Model:
    if isinstance(name, str) and (
        models.find_info(name) or any(each.model_id == name for each in models.find_others())
    ):
        return models.load(name)
    if isinstance(name, Path) or Path(name).expanduser().is_dir():
        return local.load(local.in_folder(Path(name)))
    folder = _in_cache(name)
    if folder is None:
        raise _missing(name)
    return local.load(local.in_folder(folder, name))


def _missing(name: str) -> ModelUnavailableError:
    if Path(name).is_absolute() or name.startswith(("~", ".")):
        return ModelUnavailableError(f"There is no folder {name}.", "")
    ids = ", ".join(info.model_id for info in models.list_models())
    remedy = f"hf download {name}"
    return ModelUnavailableError(
        f"There is no model {name}: no available one ({ids}), no folder, and none in the Hugging Face cache. To "
        f"download it from the hub, run: {remedy}",
        remedy,
    )


def _in_cache(name: str) -> Path | None:
    """Return the folder of a model of the hub in the cache of ``huggingface_hub``; None if it is not there."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None
