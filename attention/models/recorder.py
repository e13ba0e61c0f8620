"""An attention function for transformers that records a model's tensors and, without interventions, changes nothing.

transformers lets a caller register an attention function by name. This one calls the library's SDPA forward or, where
SDPA lacks a feature, the model's own eager function, and records query, key, value, mask, position bias, scaling, soft
cap and output: the tensors after RoPE and before key/value heads are repeated. Hooks add the projections' input, the
rotations, the output projection's result, and norms of later vectors. Records go to a ``ContextVar``, so threads never
see each other's calls, and nothing is recorded outside ``recording()``. Within ``altering()``, attention outputs are
replaced; within ``masking()``, a mask is added to the model's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakSet

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

# Without "sdpa" in it, which transformers refuses for models without SDPA support; and unlike any other name.
ATTENTION_NAME = "step_by_step_record"


@dataclass(frozen=True, slots=True)
class AttentionCall:
    """One call of the attention function: the tensors as the model passed them, including the batch axis.

    The last fields come from hooks: ``turns``, the cosines and sines given to the module; ``entered``, the projections'
    input; ``added``, the output projection's result; ``lengths``, norms of later vectors in the layer, by name.
    """

    module: torch.nn.Module
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    position_bias: torch.Tensor | None
    scaling: float
    output: torch.Tensor
    softcap: float | None = None
    turns: tuple[torch.Tensor, torch.Tensor] | None = None
    entered: torch.Tensor | None = None
    added: torch.Tensor | None = None
    lengths: Mapping[str, torch.Tensor] = field(default_factory=dict)


_calls: ContextVar[list[AttentionCall] | None] = ContextVar("attention_calls", default=None)
# The same calls, if hooks are to add to them.
_noted: ContextVar[list[AttentionCall] | None] = ContextVar("noted_calls", default=None)
# What hooks noted before the next call.
_before: ContextVar[dict[str, Any] | None] = ContextVar("noted_before", default=None)


@contextmanager
def recording(*, is_whole: bool = True) -> Iterator[list[AttentionCall]]:
    """Collect this thread's attention calls inside the block, in order; unless ``is_whole``, hooks note nothing."""
    calls: list[AttentionCall] = []
    tokens = _calls.set(calls), _noted.set(calls if is_whole else None)
    before = _before.set({} if is_whole else None)
    try:
        yield calls
    finally:
        _before.reset(before)
        for variable, token in zip((_calls, _noted), tokens, strict=True):
            variable.reset(token)


# Returns the replacement of an attention's output.
Alter = Callable[[AttentionCall], torch.Tensor]
_alter: ContextVar[Alter | None] = ContextVar("alter", default=None)
# A call's query, mask and position bias; its key is passed separately.
Deciding = tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]
Edit = Callable[[Deciding, torch.Tensor], Deciding]
_edit: ContextVar[Edit | None] = ContextVar("edit", default=None)


@contextmanager
def altering(alter: Alter, edit: Edit | None = None) -> Iterator[None]:
    """Replace the output of each attention call that this thread makes inside the block.

    ``edit`` replaces the query, mask and position bias before the layer is computed.
    """
    alter_token, edit_token = _alter.set(alter), _edit.set(edit)
    try:
        yield
    finally:
        _edit.reset(edit_token)
        _alter.reset(alter_token)


class _Masking:
    """A mask that is added to the model's own, or replaces it; layers that share a mask share the sum."""

    def __init__(self, mask: torch.Tensor, *, is_alone: bool) -> None:
        self._mask = mask
        self._is_alone = is_alone
        # Each sum is kept with the model's own mask, so that the mask's id stays unique.
        self._sums: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def applied_to(self, own: torch.Tensor | None) -> torch.Tensor:
        if own is None or self._is_alone:
            return self._mask
        if id(own) not in self._sums:
            both = own + self._mask
            # The lowest float, which libraries use to hide, would show through in a fully masked row.
            self._sums[id(own)] = own, both.masked_fill(both <= torch.finfo(both.dtype).min, -torch.inf)
        return self._sums[id(own)][1]


_masking: ContextVar[_Masking | None] = ContextVar("masking", default=None)


@contextmanager
def masking(mask: torch.Tensor | None, *, is_alone: bool = False) -> Iterator[None]:
    """Add a mask to the model's own (or replace it, if it ``is_alone``) in this thread's calls inside the block."""
    token = _masking.set(None if mask is None else _Masking(mask, is_alone=is_alone))
    try:
        yield
    finally:
        _masking.reset(token)


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    position_bias: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Run and record a module's attention, with the signature that transformers expects."""
    changed = _masking.get()
    if changed is not None:
        attention_mask = changed.applied_to(attention_mask)
    edit = _edit.get()
    if edit is not None:
        query, attention_mask, position_bias = edit((query, attention_mask, position_bias), key)
    # PyTorch's SDPA adds a single array to the scores: the library's forward adds bias and mask together. It must not
    # add an implicit causal mask.
    asked = kwargs | {"scaling": scaling, "position_bias": position_bias, "is_causal": False}
    function = _function(module, kwargs)
    output, _ = function(module, query, key, value, attention_mask, **asked)
    if attention_mask is not None and function is not ALL_ATTENTION_FUNCTIONS["sdpa"]:
        # As in SDPA, and unlike plain softmax (NaN): fully masked rows give 0.
        hidden = torch.isneginf(attention_mask).all(dim=-1).transpose(1, 2)
        output = output.masked_fill(hidden[..., None], 0)
    calls, alter = _calls.get(), _alter.get()
    if calls is not None or alter is not None:
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        if kwargs.get("s_aux") is not None:
            key, value, attention_mask, position_bias = _with_sinks(
                kwargs["s_aux"], key, value, attention_mask, position_bias
            )
        call = AttentionCall(
            module, query, key, value, attention_mask, position_bias, scale, output, kwargs.get("softcap")
        )
        if alter is not None:
            output = alter(call)
            call = replace(call, output=output)
        if calls is not None:
            before = _before.get()
            calls.append(replace(call, **before) if before else call)
            if before:
                before.clear()
    return output, None


def _with_sinks(
    sinks: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, bias: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, torch.Tensor]:
    """Add a last key that stands for the sink of each head: its vectors are zeros, and its score is all bias.

    Softmax then counts it in each row, and its value adds nothing, as in "gpt-oss" (OpenAI 2025, section 2.2).
    """
    pad = torch.nn.functional.pad
    column = pad(sinks.to(key.dtype).view(1, -1, 1, 1), (key.shape[-2], 0))
    return (
        pad(key, (0, 0, 0, 1)),
        pad(value, (0, 0, 0, 1)),
        None if mask is None else pad(mask, (0, 1)),
        column if bias is None else pad(bias, (0, 1)) + column,
    )


def _function(module: torch.nn.Module, kwargs: Mapping[str, Any]) -> Callable[..., Any]:
    """Return PyTorch's SDPA or, for features it lacks, the eager function of the model's own file."""
    own = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    is_beyond = module in _PLAIN or any(kwargs.get(name) is not None for name in _BEYOND_SDPA)
    if own is not None and is_beyond:
        function: Callable[..., Any] = own
        return function
    return ALL_ATTENTION_FUNCTIONS["sdpa"]


# Features that SDPA lacks: a soft cap, and attention sinks.
_BEYOND_SDPA = ("softcap", "s_aux")


# Modules that always use their own eager function.
_PLAIN: WeakSet[torch.nn.Module] = WeakSet()


def attend_plainly(module: torch.nn.Module) -> None:
    """Use the eager function of a module's own file."""
    _PLAIN.add(module)


def note_turns(_module: torch.nn.Module, inputs: Any, kwargs: dict[str, Any]) -> None:
    """Note the cosines and sines of each position that a module is given (a pre-forward hook)."""
    before = _before.get()
    turns = next(filter(_are_turns, (kwargs.get("position_embeddings"), *inputs)), None)
    if before is not None and turns is not None:
        before["turns"] = turns


def _are_turns(given: object) -> bool:
    """Return whether an argument is cosines and sines: Llama 4 passes one array of complex numbers."""
    return isinstance(given, tuple) and len(given) == 2 and all(isinstance(each, torch.Tensor) for each in given)


def note_entered(_module: torch.nn.Module, inputs: Any) -> None:
    """Note the input of a projection (a pre-forward hook)."""
    before = _before.get()
    if before is not None:
        before["entered"] = inputs[0]


def note_added(module: torch.nn.Module, inputs: Any, output: torch.Tensor) -> None:  # noqa: ARG001 - a forward hook
    """Record the result of an output projection, which runs after attention (a forward hook)."""
    calls = _noted.get()
    if calls:
        calls[-1] = replace(calls[-1], added=output)


def note_lengths(*, of_input: str = "", of_output: str = "") -> Callable[[torch.nn.Module, Any, Any], None]:
    """Return a forward hook that notes the norms of a module's input and output vectors under these names.

    Only norms: the vectors of all layers would take more memory than everything else recorded.
    """

    def note(_module: torch.nn.Module, inputs: Any, output: Any) -> None:
        calls = _noted.get()
        if not calls:
            return
        # A layer may return a tuple; its vectors come first.
        vectors = {of_input: inputs[0], of_output: output[0] if isinstance(output, tuple) else output}
        found = {name: torch.linalg.vector_norm(each, dim=-1) for name, each in vectors.items() if name}
        calls[-1] = replace(calls[-1], lengths={**calls[-1].lengths, **found})

    return note


AttentionInterface.register(ATTENTION_NAME, attend)
# eager_mask makes every mask explicit, also the causal one that SDPA would imply.
AttentionMaskInterface.register(ATTENTION_NAME, eager_mask)
