"""What is used of transformers, imported without what it brings along for machines that compile models or share them.

Every model's code imports torch's compiler, only to mark functions that it is not to compile, and torch's tools for
many machines: a second, of the five in which a fresh server shows its first real model. Nothing is compiled here, and
one machine runs a model. And transformers reads the source of all its models twice, to learn the names in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import torch
import transformers.utils
from transformers.utils import import_utils

__all__ = [
    "ALL_ATTENTION_FUNCTIONS",
    "AttentionInterface",
    "AttentionMaskInterface",
    "AutoConfig",
    "AutoModel",
    "AutoModelForCausalLM",
    "AutoModelForImageClassification",
    "AutoModelForSeq2SeqLM",
    "AutoTokenizer",
    "Conv1D",
    "DynamicCache",
    "EncoderDecoderCache",
    "PreTrainedTokenizerFast",
    "eager_mask",
    "without_compiler",
]

_COMPILER = "torch._dynamo"
_MODELS = "transformers.models"
# What torch's compiler marks functions with.
_MARKS = ("allow_in_graph", "assume_constant_result", "disable")
# What transformers asks before it imports more: tools for many machines, and those for detecting objects.
_NOT_HERE = ("is_torch_distributed_available", "is_scipy_available")


def _unmarked(function: Callable[..., Any] | None = None, *_: object, **__: object) -> Any:
    """Return a function as it is, or what returns it so."""
    return _unmarked if function is None else function


@contextmanager
def without_compiler() -> Iterator[None]:
    """Leave functions as they are that would be marked for torch's compiler, unless it has been imported already.

    Afterwards the compiler can be imported as ever.
    """
    spec = None if _COMPILER in sys.modules else find_spec(_COMPILER)
    if spec is None:
        yield
        return
    stand_in = ModuleType(_COMPILER)
    # Some of its smaller modules are imported by themselves.
    stand_in.__path__ = list(spec.submodule_search_locations or ())
    vars(stand_in).update(dict.fromkeys(_MARKS, _unmarked))
    sys.modules[_COMPILER] = torch._dynamo = stand_in
    try:
        yield
    finally:
        if sys.modules.get(_COMPILER) is stand_in:
            del sys.modules[_COMPILER], torch._dynamo


def _take_as_folder(package: str) -> None:
    """Let a package be found by what lies in it, without running its own code, unless it has been imported already."""
    spec = None if package in sys.modules else find_spec(package)
    if spec is not None:
        sys.modules[package] = module_from_spec(spec)


# Its own code would read the source of all models once more: a third of a second. Names are looked up in transformers.
_take_as_folder(_MODELS)
for _asked in _NOT_HERE:
    for _module in (import_utils, transformers.utils):
        setattr(_module, _asked, partial(bool, False))

with without_compiler():
    from transformers import (
        AttentionInterface,
        AutoConfig,
        AutoModel,
        AutoModelForCausalLM,
        AutoModelForImageClassification,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
        PreTrainedTokenizerFast,
    )
    from transformers.cache_utils import DynamicCache, EncoderDecoderCache
    from transformers.masking_utils import AttentionMaskInterface, eager_mask
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from transformers.pytorch_utils import Conv1D
