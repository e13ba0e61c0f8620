"""An attention function for transformers that records exactly what a model used, and changes nothing unless told to.

transformers lets a caller register an attention function by name. This one calls the library's own SDPA
forward and records query, key, value, mask, position bias, scaling and output: the tensors after any rotary
embedding and before key/value heads are repeated. Hooks add the output of the output projection, and the
lengths of the vectors that come after it. They are recorded in a ``ContextVar``, so that threads never see
each other's calls, and a model that runs outside
``recording()`` is not recorded at all. Within ``altering()``, what attention hands on is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from attention.models.lean import ALL_ATTENTION_FUNCTIONS, AttentionInterface, AttentionMaskInterface, eager_mask

__all__ = ["ATTENTION_NAME", "AttentionCall", "altering", "note_added", "note_lengths", "recording"]

ATTENTION_NAME = "recorded_sdpa"


@dataclass(frozen=True, slots=True)
class AttentionCall:
    """One call of the attention function: the tensors as the model passed them, including the batch axis.

    ``added`` is the output of the output projection, if ``note_added`` is a hook of it; ``lengths`` are those of
    vectors that come later in the layer, by name.
    """

    module: torch.nn.Module
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    position_bias: torch.Tensor | None
    scaling: float
    output: torch.Tensor
    added: torch.Tensor | None = None
    lengths: Mapping[str, torch.Tensor] = field(default_factory=dict)


_calls: ContextVar[list[AttentionCall] | None] = ContextVar("attention_calls", default=None)
# Those of them for which what comes after attention is noted, too.
_noted: ContextVar[list[AttentionCall] | None] = ContextVar("noted_calls", default=None)


@contextmanager
def recording(*, is_whole: bool = True) -> Iterator[list[AttentionCall]]:
    """Collect the attention calls that this thread makes inside the block, in order.

    Unless ``is_whole``, nothing is noted of what comes after attention.
    """
    calls: list[AttentionCall] = []
    tokens = _calls.set(calls), _noted.set(calls if is_whole else None)
    try:
        yield calls
    finally:
        for variable, token in zip((_calls, _noted), tokens, strict=True):
            variable.reset(token)


# What is handed on in place of an attention's output.
Alter = Callable[[AttentionCall], torch.Tensor]
_alter: ContextVar[Alter | None] = ContextVar("alter", default=None)


@contextmanager
def altering(alter: Alter) -> Iterator[None]:
    """Replace the output of each attention call that this thread makes inside the block."""
    token = _alter.set(alter)
    try:
        yield
    finally:
        _alter.reset(token)


def _recorded_sdpa(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    position_bias: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    # PyTorch's SDPA adds only one array to the scores: the library's forward adds bias and mask together.
    output, weights = ALL_ATTENTION_FUNCTIONS["sdpa"](
        module, query, key, value, attention_mask, scaling=scaling, position_bias=position_bias, **kwargs
    )
    calls, alter = _calls.get(), _alter.get()
    if calls is not None or alter is not None:
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        call = AttentionCall(module, query, key, value, attention_mask, position_bias, scale, output)
        if alter is not None:
            output = alter(call)
            call = replace(call, output=output)
        if calls is not None:
            calls.append(call)
    return output, weights


def note_added(module: torch.nn.Module, inputs: Any, output: torch.Tensor) -> None:  # noqa: ARG001 - a forward hook
    """Record the output of an output projection, as a forward hook of that module, which runs after attention."""
    calls = _noted.get()
    if calls:
        calls[-1] = replace(calls[-1], added=output)


def note_lengths(*, of_input: str = "", of_output: str = "") -> Callable[[torch.nn.Module, Any, Any], None]:
    """Return a forward hook that notes how long a module's input and output vectors are, under these names.

    Lengths alone: the vectors of all layers would take more memory than all else that is recorded.
    """

    def note(_module: torch.nn.Module, inputs: Any, output: Any) -> None:
        calls = _noted.get()
        if not calls:
            return
        # A layer may return more than its vectors, which come first.
        vectors = {of_input: inputs[0], of_output: output[0] if isinstance(output, tuple) else output}
        found = {name: torch.linalg.vector_norm(each, dim=-1) for name, each in vectors.items() if name}
        calls[-1] = replace(calls[-1], lengths={**calls[-1].lengths, **found})

    return note


AttentionInterface.register(ATTENTION_NAME, _recorded_sdpa)
# eager_mask makes every mask explicit (also the causal one, which SDPA would otherwise imply).
AttentionMaskInterface.register(ATTENTION_NAME, eager_mask)
