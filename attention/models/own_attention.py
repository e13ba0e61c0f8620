"""Forward functions for models that bypass transformers' attention interface, so that the recorder is called.

Queries, keys, values and everything after attention come from the model's own modules; the recorder's function does
only softmax and the weighted sum. The tests compare them with transformers' own code.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import torch

from attention.models.recorder import attend


def lead_through_recorder(model: torch.nn.Module, name: str) -> None:
    """Replace the forward of each module of this class, which bypasses the attention interface."""
    for module in model.modules():
        if type(module).__name__ == name:
            module.forward = MethodType(_FORWARDS[name], module)


def _mpnet(
    self: Any,
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **_others: Any,
) -> tuple[torch.Tensor]:
    """Reimplement ``MPNetSelfAttention.forward``."""
    shape = (*hidden_states.shape[:-1], -1, self.attention_head_size)
    query, key, value = (each(hidden_states).view(shape).transpose(1, 2) for each in (self.q, self.k, self.v))
    output, _ = attend(self, query, key, value, attention_mask, position_bias=position_bias)
    return (self.o(output.flatten(-2)),)


def _bloom(
    self: Any,
    hidden_states: torch.Tensor,
    residual: torch.Tensor,
    alibi: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **_others: Any,
) -> tuple[torch.Tensor, None]:
    """Reimplement ``BloomAttention.forward``, without the cache."""
    query, key, value = self._reshape(self.query_key_value(hidden_states))
    # Of shape (batch · heads, 1, keys): the bias depends on the key alone.
    bias = alibi.view(len(query), self.num_heads, 1, -1).expand(-1, -1, query.shape[2], -1)
    output, _ = attend(self, query, key, value, attention_mask, scaling=self.inv_norm_factor, position_bias=bias)
    return self.dense(output.flatten(-2)) + residual, None


_FORWARDS: dict[str, Callable[..., Any]] = {"MPNetSelfAttention": _mpnet, "BloomAttention": _bloom}
